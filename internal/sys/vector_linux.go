package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Vector is what writev(2) sends in one call: several pieces of memory. It is
// made once and used by one thread.
type Vector struct {
	pieces []unix.Iovec
	sizes  []int
}

// NewVector returns a vector of the pieces, in order. None is empty.
func NewVector(pieces [][]byte) *Vector {
	v := &Vector{make([]unix.Iovec, len(pieces)), make([]int, len(pieces))}
	for i, p := range pieces {
		v.pieces[i].Base = unsafe.SliceData(p)
		v.sizes[i] = len(p)
	}
	return v
}

// Writev is writev(2) of the first n bytes, 1 and up, of the vector, or of all
// that it has.
//
//go:nosplit
func (s Sock) Writev(v *Vector, n int) (int, unix.Errno) {
	used := 0
	for i := range v.sizes {
		if n <= 0 || i >= len(v.pieces) {
			break
		}
		size := min(v.sizes[i], n)
		v.pieces[i].SetLen(size)
		n -= size
		used++
	}
	sent, _, e := syscall.RawSyscall6(unix.SYS_WRITEV, uintptr(s), uintptr(unsafe.Pointer(unsafe.SliceData(v.pieces))), uintptr(used), 0, 0, 0)
	return int(sent), e
}
