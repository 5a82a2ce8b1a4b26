package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ReadAt is pread(2). p must not be empty. It returns 0 at the file's end.
//
//go:nosplit
func ReadAt(fd int, p []byte, offset int64) (int, unix.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(offset), 0, 0)
	return int(n), e
}

// SendFile is sendfile(2) of at most n bytes of a file from an offset. It
// returns 0 at the file's end, and what was sent if the wait for more room in
// the socket's buffer took too long.
//
//go:nosplit
func (s Sock) SendFile(file int, offset int64, n int) (int, unix.Errno) {
	sent, _, e := syscall.RawSyscall6(unix.SYS_SENDFILE, uintptr(s), uintptr(file), uintptr(unsafe.Pointer(&offset)), uintptr(n), 0, 0)
	return int(sent), e
}

// Splice is splice(2) of at most n bytes between two descriptors of which at
// least one is a pipe's. flags are SPLICE_F_ values. It returns 0 at the end of
// what it reads.
//
//go:nosplit
func Splice(in, out, n, flags int) (int, unix.Errno) {
	moved, _, e := syscall.RawSyscall6(unix.SYS_SPLICE, uintptr(in), 0, uintptr(out), 0, uintptr(n), uintptr(flags))
	return int(moved), e
}

// SpliceFrom is Splice from an offset of a file into a pipe.
//
//go:nosplit
func SpliceFrom(file int, offset int64, pipe, n, flags int) (int, unix.Errno) {
	moved, _, e := syscall.RawSyscall6(unix.SYS_SPLICE, uintptr(file), uintptr(unsafe.Pointer(&offset)), uintptr(pipe), 0, uintptr(n), uintptr(flags))
	return int(moved), e
}

// Pipe makes a pipe that holds size bytes, or less where fs.pipe-max-size or
// the user's share of all pipes (pipe(7)) allows no more, and tells what it
// does hold.
func Pipe(size int) (read, write, holds int, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, 0, err
	}
	for ; size > unix.Getpagesize(); size /= 2 {
		if _, err := unix.FcntlInt(uintptr(p[1]), unix.F_SETPIPE_SZ, size); err == nil {
			break
		}
	}
	holds, err = unix.FcntlInt(uintptr(p[1]), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		unix.Close(p[0])
		unix.Close(p[1])
		return -1, -1, 0, err
	}
	return p[0], p[1], holds, nil
}
