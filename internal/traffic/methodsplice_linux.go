package traffic

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// pipeSize is what a pipe is to hold: the kernel's usual limit for users
// (fs.pipe-max-size).
const pipeSize = 1 << 20

// pipe is one that splice(2) moves data through.
type pipe struct {
	read, write int
	holds       int // bytes, if they are in whole pages
	in          int // bytes that are in it
}

func newPipe() (pipe, error) {
	r, w, holds, err := sys.Pipe(pipeSize)
	if err != nil {
		return pipe{}, fmt.Errorf("make a pipe to splice through: %w", err)
	}
	return pipe{read: r, write: w, holds: holds}, nil
}

func (p *pipe) close() error {
	if p.holds == 0 {
		return nil
	}
	p.holds = 0
	return errors.Join(unix.Close(p.read), unix.Close(p.write))
}

// spliceSend is splice(2) from a file into a pipe and from there to the socket.
type spliceSend struct {
	fileMethod
	pipe pipe
	sock sys.Sock
}

func newSpliceSend(s *socket, cfg Config) (streamSender, error) {
	f, err := newFileMethod(s, cfg)
	if err != nil {
		return nil, err
	}
	m := &spliceSend{fileMethod: f, sock: s.Sock}
	if m.pipe, err = newPipe(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return m, nil
}

// send fills the pipe only when it is empty: then it can't wait for room there.
//
//go:nosplit
func (m *spliceSend) send(n int) (int, unix.Errno) {
	if m.pipe.in == 0 {
		m.calls++
		got, errno := sys.SpliceFrom(m.fd, m.offset, m.pipe.write, m.room(min(n, m.pipe.holds)), 0)
		if errno != 0 || got == 0 {
			return 0, m.failed(errno)
		}
		m.advance(got)
		m.pipe.in = got
	}
	flags := 0
	if n > m.pipe.in { // of this message, more is to come
		flags = unix.SPLICE_F_MORE
	}
	m.calls++
	sent, errno := sys.Splice(m.pipe.read, int(m.sock), min(n, m.pipe.in), flags)
	if errno == 0 {
		m.pipe.in -= sent
	}
	return sent, errno
}

func (m *spliceSend) close() error { return errors.Join(m.pipe.close(), m.fileMethod.close()) }
