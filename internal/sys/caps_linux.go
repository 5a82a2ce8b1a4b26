package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// HasCapability reports whether the calling thread has a capability (a CAP_
// value of capabilities(7)) in effect in its user namespace.
func HasCapability(capability uint) (bool, error) {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return false, fmt.Errorf("read this thread's capabilities (capget): %w", err)
	}
	if capability/32 >= uint(len(data)) {
		return false, fmt.Errorf("capability %d: there are none from 64 on", capability)
	}
	return data[capability/32].Effective&(1<<(capability%32)) != 0, nil
}
