package traffic

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// errExplained is what a method that has an explain returns when the fault is
// not the socket's: no call on a socket gives it.
const errExplained = unix.ENOTRECOVERABLE

// payload is the file that is sent, from its beginning again at its end.
type payload struct {
	fd     int
	name   string // for errors
	size   int64
	offset int64      // of the next byte
	errno  unix.Errno // of the latest read that failed
	shared bool       // others send from it, too: it is not this one's to close
	odd    []result.Warning
}

// WarnFile: the file that is made for a trial is not an ordinary one on a disk.
const WarnFile = "file"

func (p *payload) warnings() []result.Warning { return p.odd }

// openPayload opens the file that the test names, on this host, or makes one.
func openPayload(cfg Config) (p *payload, err error) {
	p = &payload{}
	if path := cfg.Test.Params.File; path != "" {
		err = p.open(path)
	} else {
		err = p.make(int64(cfg.Test.Params.FileSize))
	}
	if err != nil {
		return nil, refused(err)
	}
	if p.size <= cachedSize {
		if err := p.cache(); err != nil {
			return nil, refused(errors.Join(err, p.close()))
		}
	}
	return p, nil
}

// open opens a file that is there. It doesn't wait for the writer of a FIFO.
func (p *payload) open(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return fmt.Errorf("open the file to send, %s: %w", path, err)
	}
	var s unix.Stat_t
	err = unix.Fstat(fd, &s)
	switch {
	case err != nil:
		err = fmt.Errorf("look at the file to send, %s: %w", path, err)
	case s.Mode&unix.S_IFMT != unix.S_IFREG:
		err = fmt.Errorf("the file to send, %s, is no regular file: %w", path, unix.EINVAL)
	case s.Size == 0:
		err = fmt.Errorf("the file to send, %s, is empty: %w", path, io.ErrUnexpectedEOF)
	}
	if err != nil {
		unix.Close(fd)
		return err
	}
	p.fd, p.name, p.size = fd, path, s.Size
	return nil
}

// room is how many of n bytes there are before the file's end.
//
//go:nosplit
func (p *payload) room(n int) int { return int(min(int64(n), p.size-p.offset)) }

// advance says that n bytes have been taken.
//
//go:nosplit
func (p *payload) advance(n int) {
	if p.offset += int64(n); p.offset >= p.size {
		p.offset = 0
	}
}

// failed notes that a read of the file ended with errno, or, if that is 0, came
// upon the file's end before its size.
//
//go:nosplit
func (p *payload) failed(errno unix.Errno) unix.Errno {
	if errno == unix.EINTR || errno == unix.EAGAIN {
		return unix.EINTR
	}
	p.errno = errno
	return errExplained
}

// explain is what was wrong with the file, or what sending it led to.
func (p *payload) explain(errno unix.Errno) error {
	switch {
	case errno != errExplained:
		return fmt.Errorf("send from %s: %w", p.name, errno)
	case p.errno != 0:
		return fmt.Errorf("read %s at %d: %w", p.name, p.offset, p.errno)
	}
	// Another try would measure another file.
	return refused(fmt.Errorf("%s shrank while it was sent: it had %s, and now it ends before byte %d: %w",
		p.name, unit.FormatSize(p.size), p.offset, io.ErrUnexpectedEOF))
}

func (p *payload) close() error {
	if p == nil || p.fd < 0 || p.shared {
		return nil
	}
	fd := p.fd
	p.fd = -1
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("close %s: %w", p.name, err)
	}
	return nil
}

// sourceOf is the file that a test's method sends.
func sourceOf(cfg Config) (*payload, error) {
	p, err := openPayload(cfg)
	if err != nil {
		return nil, fmt.Errorf("send method %s: %w", cfg.Test.SendMethod().Name, err)
	}
	return p, nil
}

// fileMethod is what methods have that send a file.
type fileMethod struct {
	plainMethod
	*payload
}

func (m *fileMethod) close() error { return m.payload.close() }

// newFileMethod sends from the file that the end has, from its beginning, or
// else from one of its own.
func newFileMethod(s *socket, cfg Config) (fileMethod, error) {
	p, ok := cfg.source.(*payload)
	if ok {
		p = &payload{fd: p.fd, name: p.name, size: p.size, shared: true}
	} else {
		var err error
		if p, err = sourceOf(cfg); err != nil {
			return fileMethod{}, err
		}
	}
	s.explain = p.explain
	return fileMethod{payload: p}, nil
}
