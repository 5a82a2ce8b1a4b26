package sys

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MaxPieces is the most page fragments of a packet in every kernel
// (MAX_SKB_FRAGS of linux/skbuff.h, which may be built in larger).
const MaxPieces = 17

// Pieces writes memory in pieces. It is made once and used by one thread.
type Pieces struct {
	page  int
	piece [1 + MaxPieces]piece
}

// piece is a struct iovec whose address the collector does not see: whoever
// calls Write holds what it points to.
type piece struct{ base, size uintptr }

// NewPieces returns pieces of this system's page size.
func NewPieces() *Pieces { return &Pieces{page: os.Getpagesize()} }

// Write is writev(2) of p, without telling the scheduler: the first piece has so
// many bytes, at least 1 and at most p's, and all others a page each but the last.
// What is too long for MaxPieces others makes the first one longer.
//
//go:nosplit
func (v *Pieces) Write(fd int, p []byte, first int) (int, unix.Errno) {
	base, size := uintptr(unsafe.Pointer(unsafe.SliceData(p))), len(p)
	first = max(first, size-MaxPieces*v.page)
	used := 0
	for at := 0; at < size && used < len(v.piece); used++ {
		n := first
		if used > 0 {
			n = min(v.page, size-at)
		}
		v.piece[used] = piece{base + uintptr(at), uintptr(n)}
		at += n
	}
	n, _, e := syscall.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&v.piece)), uintptr(used))
	runtime.KeepAlive(p)
	return int(n), e
}
