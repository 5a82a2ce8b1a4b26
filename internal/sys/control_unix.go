//go:build linux || darwin || freebsd

package sys

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ControlPair makes the two connected ends of a control socket (socketpair(2))
// of the kind SOCK_STREAM or, where there is that, SOCK_SEQPACKET. Ours takes
// deadlines; theirs, for the child (ControlFD), blocks.
func ControlPair(kind int) (ours, theirs *os.File, err error) {
	// No child may be started between the two calls: it would inherit both.
	syscall.ForkLock.RLock()
	pair, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
	if err == nil {
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("make a control socket (socketpair): %w", err)
	}
	// os.NewFile gives a descriptor to the netpoller if it does not block.
	if err := unix.SetNonblock(pair[0], true); err != nil {
		unix.Close(pair[0])
		unix.Close(pair[1])
		return nil, nil, fmt.Errorf("make a control socket non-blocking: %w", err)
	}
	return os.NewFile(uintptr(pair[0]), "control socket"), os.NewFile(uintptr(pair[1]), "control socket"), nil
}
