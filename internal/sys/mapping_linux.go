package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Map is mmap(2) of length bytes, 1 and up, of a file or socket, shared and
// only to be read. flags are further MAP_ values; offset is a multiple of the
// page size. The program itself must not touch what is beyond the file's end
// (SIGBUS); a system call that does fails with EFAULT.
//
//go:nosplit
func Map(fd int, offset int64, length, flags int) ([]byte, unix.Errno) {
	p, _, e := syscall.RawSyscall6(unix.SYS_MMAP, 0, uintptr(length), unix.PROT_READ, uintptr(unix.MAP_SHARED|flags), uintptr(fd), uintptr(offset))
	if e != 0 {
		return nil, e
	}
	// The kernel's memory, which the collector neither knows nor moves.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), length), 0
}

// Unmap gives a mapping up: munmap(2). An empty one is none.
//
//go:nosplit
func Unmap(m []byte) unix.Errno {
	if len(m) == 0 {
		return 0
	}
	_, _, e := syscall.RawSyscall6(unix.SYS_MUNMAP, uintptr(unsafe.Pointer(unsafe.SliceData(m))), uintptr(len(m)), 0, 0, 0, 0)
	return e
}
