package traffic

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// mapWindow is how much of the file is mapped at a time: a multiple of every
// page size.
const mapWindow = 64 << 20

// mmapWrite is write(2) from a mapped file.
type mmapWrite struct {
	fileMethod
	sock   sys.Sock
	window []byte // the part of the file that is mapped
	start  int64  // where in the file it begins
	fresh  int64  // bytes that were sent since the file's size was looked at
}

func newMmapWrite(s *socket, cfg Config) (streamSender, error) {
	f, err := newFileMethod(s, cfg)
	if err != nil {
		return nil, err
	}
	m := &mmapWrite{fileMethod: f, sock: s.Sock}
	if errno := m.move(unix.MAP_POPULATE); errno != 0 {
		return nil, errors.Join(fmt.Errorf("map %s, to send it: %w", m.name, errno), m.fileMethod.close())
	}
	return m, nil
}

// move maps the window that has the offset.
//
//go:nosplit
func (m *mmapWrite) move(flags int) unix.Errno {
	if m.window != nil {
		m.calls++
		if errno := sys.Unmap(m.window); errno != 0 {
			return errno
		}
		m.window = nil
	}
	start := m.offset - m.offset%mapWindow
	m.calls++
	window, errno := sys.Map(m.fd, start, int(min(mapWindow, m.size-start)), flags)
	if errno != 0 {
		return errno
	}
	m.window, m.start = window, start
	return 0
}

// send doesn't touch the mapping itself: if the file has shrunk, write(2) says
// EFAULT where this process would get a SIGBUS.
//
//go:nosplit
func (m *mmapWrite) send(n int) (int, unix.Errno) {
	if m.window == nil || m.offset < m.start || m.offset >= m.start+int64(len(m.window)) {
		if errno := m.move(0); errno != 0 {
			m.errno = errno
			return 0, errExplained
		}
	}
	at := int(m.offset - m.start)
	m.calls++
	sent, errno := m.sock.Write(m.window[at:min(len(m.window), at+min(n, maxWrite))])
	switch errno {
	case 0:
		m.advance(sent)
		m.fresh += int64(sent)
		if m.offset == 0 && m.fresh >= mapWindow {
			errno = m.look()
		}
	case unix.EFAULT:
		return 0, m.failed(0)
	}
	return sent, errno
}

// look reads the size of the file: of one that has lost no more than a part of
// its last page write(2) sends zeros.
//
//go:noinline
func (m *mmapWrite) look() unix.Errno {
	m.calls++
	m.fresh = 0
	var s unix.Stat_t
	err := again(func() error { return unix.Fstat(m.fd, &s) })
	if err != nil {
		errno, _ := err.(unix.Errno)
		return m.failed(errno)
	}
	if s.Size < m.size {
		m.offset = s.Size
		return m.failed(0)
	}
	return 0
}

func (m *mmapWrite) finish(time.Duration) error {
	if errno := m.look(); errno != 0 {
		return m.explain(errno)
	}
	return nil
}

func (m *mmapWrite) close() error {
	err := m.fileMethod.close()
	window := m.window
	m.window = nil
	if errno := sys.Unmap(window); errno != 0 {
		err = errors.Join(err, fmt.Errorf("unmap %s: %w", m.name, errno))
	}
	return err
}
