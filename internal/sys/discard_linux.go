package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Discard is recv(2) with MSG_TRUNC on a TCP socket: at most n bytes, 1 and up,
// are taken and thrown away without being copied (tcp(7)).
//
//go:nosplit
func (s Sock) Discard(n int) (int, unix.Errno) {
	got, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(s), 0, uintptr(n), unix.MSG_TRUNC, 0, 0)
	return int(got), e
}
