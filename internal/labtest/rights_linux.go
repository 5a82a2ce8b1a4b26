package labtest

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// WithoutCapabilities runs f on a thread of its own that has no capability
// (capabilities(7)), not even as root, and returns f's error, or that which kept
// it from giving them up. The thread ends with f.
func WithoutCapabilities(f func() error) error {
	got := make(chan error)
	go func() {
		runtime.LockOSThread()
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&head, &none[0]); err != nil {
			got <- fmt.Errorf("drop capabilities: %w", err)
			return
		}
		got <- f()
	}()
	return <-got
}
