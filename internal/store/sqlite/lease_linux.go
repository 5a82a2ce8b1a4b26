package sqlite

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// leasesWork says that this system has locks that belong to an open file and
// not to a process (fcntl(2), open file description locks). The others are
// dropped when the process closes any descriptor of the file.
const leasesWork = true

func byteLock(kind int16, key int64) *unix.Flock_t {
	return &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: key, Len: 1}
}

// lockByte does its best: a file system without locks only means that a run
// which is cut off there is not told from one that goes on.
func lockByte(f *os.File, key int64) {
	unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, byteLock(unix.F_WRLCK, key))
}

func unlockByte(f *os.File, key int64) {
	unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, byteLock(unix.F_UNLCK, key))
}

func testByte(f *os.File, key int64) leaseState {
	l := byteLock(unix.F_WRLCK, key)
	switch err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, l); {
	case err != nil:
		return leaseUnknown
	case l.Type == unix.F_UNLCK:
		return leaseFree
	}
	return leaseHeld
}
