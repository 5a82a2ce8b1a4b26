package traffic

import (
	"errors"
	"math/bits"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/sys/uring"
)

const (
	// uringChunks is how many buffers of maxChunk a stream is received into.
	uringChunks = 4
	// uringPool and uringPoolBytes are the most buffers for datagrams, and
	// what these may take.
	uringPool, uringPoolBytes = 128, 512 << 10
)

// uringReceiver receives over io_uring with one operation that goes on, into
// the buffers of a pool, so that one call brings all that has come.
type uringReceiver struct {
	methodStats
	ring  *uring.Ring
	pool  *uring.Pool
	fd    int
	armed bool // the operation goes on
	// What the latest call of next brought: buffers and how full they are.
	ids   []uint16
	sizes []int
	n     int
	// ended says that the operation found the end of what the socket will
	// bring, failed with what error; told once, after the data before it.
	ended  bool
	failed unix.Errno
}

func newURingReceiver(s *socket, n, size int) (uringReceiver, error) {
	m := uringReceiver{fd: int(s.Sock), ids: make([]uint16, n), sizes: make([]int, n)}
	var err error
	// Each buffer has one completion, and the operation one more at its end.
	if m.ring, err = openURing("uring", s, feature.URing, uring.Options{Entries: 2, Completions: 2 * n}); err != nil {
		return m, err
	}
	if m.pool, err = m.ring.Provide(n, size); err != nil {
		return m, errors.Join(uringRefused("uring", s, err), m.ring.Close())
	}
	return m, nil
}

// next waits until something comes, at most pollTime (EAGAIN). What came
// before is given back to the kernel. Without an error it has brought n
// buffers, or ended is set.
//
//go:nosplit
func (m *uringReceiver) next() unix.Errno {
	for _, id := range m.ids[:m.n] {
		m.pool.Give(id)
	}
	m.n = 0
	for errno := unix.Errno(0); ; {
		m.read()
		switch {
		case m.n > 0 || m.ended:
			return 0
		case m.failed != 0:
			errno, m.failed = m.failed, 0
			return errno
		case errno == unix.ETIME:
			return unix.EAGAIN
		case errno != 0:
			return errno
		}
		if !m.armed {
			m.ring.Next().RecvAll(m.fd, m.pool, 0)
			m.armed = true
		}
		m.calls++
		if errno = m.ring.Enter(1, int64(pollTime)); m.ring.Withdraw() > 0 {
			m.armed = false
		}
	}
}

// read reads completions until the buffers are all read, or an end.
//
//go:nosplit
func (m *uringReceiver) read() {
	for c := m.ring.Peek(); c != nil && m.n < len(m.ids) && !m.ended && m.failed == 0; c = m.ring.Peek() {
		m.armed = c.More()
		id, filled := c.Buffer()
		switch {
		case c.Res > 0 && filled:
			m.ids[m.n], m.sizes[m.n] = id, int(c.Res)
			m.n++
			filled = false
		case c.Res == 0:
			m.ended = true
		case c.Res != -int32(unix.ENOBUFS): // which is that all buffers are full
			m.failed = unix.Errno(-c.Res)
		}
		if filled { // with nothing
			m.pool.Give(id)
		}
		m.ring.Seen()
	}
}

func (m *uringReceiver) finish(time.Duration) error { return nil }

func (m *uringReceiver) close() error { return m.ring.Close() }

// uringRecvStream receives a TCP stream.
type uringRecvStream struct{ uringReceiver }

func newURingRecvStream(s *socket, _ Config) (streamReceiver, error) {
	m, err := newURingReceiver(s, uringChunks, maxChunk)
	if err != nil {
		return nil, err
	}
	return &uringRecvStream{m}, nil
}

//go:nosplit
func (m *uringRecvStream) receive() (int, unix.Errno) {
	if errno := m.next(); errno != 0 {
		return 0, errno
	}
	bytes := 0
	for _, size := range m.sizes[:m.n] {
		bytes += size
	}
	return bytes, 0
}

// uringRecvDatagram receives datagrams.
type uringRecvDatagram struct{ uringReceiver }

func newURingRecvDatagram(s *socket, cfg Config) (datagramReceiver, error) {
	size := max(cfg.Test.Params.Size, maxSequence)
	n := min(uringPool, 1<<(bits.Len(uint(uringPoolBytes/size))-1)) // a power of two, 8 at least
	m, err := newURingReceiver(s, n, size)
	if err != nil {
		return nil, err
	}
	return &uringRecvDatagram{m}, nil
}

//go:nosplit
func (m *uringRecvDatagram) receive() (int, unix.Errno) {
	if errno := m.next(); errno != 0 {
		return 0, errno
	}
	if m.n == 0 { // the socket was shut down: recv(2) has an empty datagram then
		m.ended = false
		return 0, unix.EAGAIN
	}
	return m.n, 0
}

//go:nosplit
func (m *uringRecvDatagram) datagram(i int) ([]byte, int) {
	return m.pool.Buffer(m.ids[i]), m.sizes[i]
}
