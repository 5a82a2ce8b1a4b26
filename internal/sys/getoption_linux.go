package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// GetOption is getsockopt(2) into a buffer, which must not be empty. It returns
// how many bytes the kernel filled: an older one knows less of a structure, and
// tells no more of it than it knows.
func GetOption(fd, level, option int, into []byte) (int, error) {
	size := uint32(len(into))
	_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(option),
		uintptr(unsafe.Pointer(unsafe.SliceData(into))), uintptr(unsafe.Pointer(&size)), 0)
	if e != 0 {
		return 0, e
	}
	return min(int(size), len(into)), nil
}
