//go:build !portable

package sys

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Send is send(2) on a connected socket. p must not be empty. flags are MSG_
// values; a stream's caller adds MSG_NOSIGNAL.
//
//go:nosplit
func (s Sock) Send(p []byte, flags int) (int, unix.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(s), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(flags), 0, 0)
	return int(n), e
}

// Write is write(2). p must not be empty. On a stream whose peer has gone it
// raises SIGPIPE, which Go's runtime takes and ignores (package os/signal).
//
//go:nosplit
func (s Sock) Write(p []byte) (int, unix.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_WRITE, uintptr(s), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
	return int(n), e
}

// Recv is recv(2). p must not be empty. flags are MSG_ values.
//
//go:nosplit
func (s Sock) Recv(p []byte, flags int) (int, unix.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(s), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(flags), 0, 0)
	return int(n), e
}

// skMemInfoDrops is SK_MEMINFO_DROPS of linux/sock_diag.h: the place of the
// drop counter among the values of SO_MEMINFO, of which there are nine.
const (
	skMemInfoDrops = 8
	skMemInfoVars  = 9
)

// Drops is the number of datagrams that the kernel dropped at this socket so
// far, since its receive buffer was full or a checksum was wrong. It wraps at
// 2^32. Kernels before 4.12 answer ENOPROTOOPT.
func (s Sock) Drops() (uint32, error) {
	var values [skMemInfoVars]uint32
	size := uint32(unsafe.Sizeof(values))
	_, _, e := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(s), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&values)), uintptr(unsafe.Pointer(&size)), 0)
	if e != 0 {
		return 0, fmt.Errorf("read a socket's drop counter (getsockopt SO_MEMINFO): %w", e)
	}
	return values[skMemInfoDrops], nil
}
