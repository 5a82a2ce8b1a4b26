package traffic

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// fdWaker wakes a thread that waits in read(2) by a write(2).
type fdWaker struct {
	sides [2]fdSide
	word  []byte // what is written
}

// fdSide is a side's descriptors, the same for an eventfd, and the buffer that
// it reads into.
type fdSide struct {
	read, write int
	buffer      []byte
	_           [64]byte // each side's on cache lines of its own
}

//go:nosplit
func (w *fdWaker) wake(side int) unix.Errno {
	_, errno := sys.Write(w.sides[side].write, w.word)
	return errno
}

//go:nosplit
func (w *fdWaker) wait(side int) unix.Errno {
	s := &w.sides[side]
	_, errno := sys.Read(s.read, s.buffer)
	return errno
}

func (w *fdWaker) close() error {
	var errs []error
	for i := range w.sides {
		s := &w.sides[i]
		if s.write >= 0 && s.write != s.read {
			errs = append(errs, unix.Close(s.write))
		}
		if s.read >= 0 {
			errs = append(errs, unix.Close(s.read))
		}
		s.read, s.write = -1, -1
	}
	return errors.Join(errs...)
}

// newEventfdWaker has a counter for each side (eventfd(2)): a wait takes all of
// it.
func newEventfdWaker() (waker, error) {
	word := binary.NativeEndian.AppendUint64(nil, 1)
	return newFDWaker(word, func() (int, int, error) {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			return -1, -1, fmt.Errorf("make an eventfd: %w", err)
		}
		return fd, fd, nil
	})
}

// newPipeWaker has a pipe for each side (pipe(2)), and a byte for a wake-up.
func newPipeWaker() (waker, error) {
	return newFDWaker([]byte{1}, func() (int, int, error) {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
			return -1, -1, fmt.Errorf("make a pipe: %w", err)
		}
		return fds[0], fds[1], nil
	})
}

func newFDWaker(word []byte, open func() (read, write int, err error)) (waker, error) {
	w := &fdWaker{word: word}
	for i := range w.sides {
		w.sides[i] = fdSide{read: -1, write: -1, buffer: make([]byte, len(word))}
	}
	for i := range w.sides {
		s := &w.sides[i]
		var err error
		if s.read, s.write, err = open(); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	return w, nil
}
