package traffic

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
	"netdelta/internal/sys/uring"
)

const (
	// uringDepth is the most sends that are handed over in one call.
	uringDepth = 16
	// uringNotices is the most sends without copying of whose memory the
	// kernel may not yet have let go.
	uringNotices = 512
	// recalled marks the operation that cancels the others.
	recalled = ^uint64(0)
)

// uringSender is what both senders over io_uring are made of.
//
// Sends that are handed over together are a chain: the kernel begins each when
// the one before it is done. Without that one would overtake another that finds
// no room and waits, and a stream's bytes and a path's datagrams would come out
// of order by the method's doing.
type uringSender struct {
	methodStats
	ring *uring.Ring
	fd   int
	zc   bool
	// sending is how many sends the kernel has not told the end of, and busy,
	// by what they were pushed with, those whose memory it may still read.
	sending int
	busy    []int
	bytes   int64 // that the kernel took so far
	// recalling says that the latest operation pushed is that of recall.
	recalling bool
}

// openURing opens a ring for a method if the kernel has what that needs of it.
func openURing(method string, s *socket, needs feature.Probe, o uring.Options) (*uring.Ring, error) {
	err := feature.URing.Err()
	if err == nil {
		err = needs.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", method, err)
	}
	ring, err := uring.New(o)
	if err != nil {
		return nil, uringRefused(method, s, err)
	}
	return ring, nil
}

func uringRefused(method string, s *socket, err error) error {
	return unavailable(method, "set up a ring and its buffers for a "+s.what, "memory that may be locked (ulimit -l) and a descriptor", err)
}

// newURingSender makes a ring and buffers: groups times n of a size.
func newURingSender(s *socket, zc bool, groups, n, size int) (uringSender, [][][]byte, error) {
	method, needs := "uring", feature.URing
	if zc {
		method, needs = "uring-zc", feature.URingSendZC
	}
	m := uringSender{fd: int(s.Sock), zc: zc, busy: make([]int, groups)}
	var err error
	// An operation that cancels fits in besides, and so do all completions.
	m.ring, err = openURing(method, s, needs, uring.Options{Entries: 2 * uringDepth, Completions: 2 * (uringDepth + uringNotices)})
	if err != nil {
		return m, nil, err
	}
	all, err := m.ring.Buffers(groups*n, size, zc)
	if err != nil {
		return m, nil, errors.Join(uringRefused(method, s, err), m.ring.Close())
	}
	buffers := make([][][]byte, groups)
	for g := range buffers {
		buffers[g] = all[g*n:][:n:n]
	}
	return m, buffers, nil
}

// push hands p over with the next call, in a chain that ends with the last.
//
//go:nosplit
func (m *uringSender) push(p []byte, flags uint32, group int, last bool) {
	s := m.ring.Next() // there is room: see enter
	if m.zc {
		s.SendZC(m.fd, p, flags, uint64(group))
	} else {
		s.Send(m.fd, p, flags, uint64(group))
	}
	if !last {
		s.Link()
	}
	m.sending++
}

// enter makes one call, which waits for so many completions, at most so many
// nanoseconds. What the kernel had no memory for is taken back.
//
//go:nosplit
func (m *uringSender) enter(wait int, timeout int64) unix.Errno {
	m.calls++
	errno := m.ring.Enter(wait, timeout)
	back := m.ring.Withdraw()
	if m.recalling && back > 0 {
		back--
	}
	m.recalling = false
	m.sending -= back
	return errno
}

// next reads completions up to the first that tells the end of a send: how
// many bytes were taken, or a negative errno.
//
//go:nosplit
func (m *uringSender) next() (res int, ok bool) {
	for c := m.ring.Peek(); c != nil && !ok; c = m.ring.Peek() {
		notice, copied := c.Notice()
		switch {
		case notice:
			m.busy[c.Data]--
			m.completed++
			if copied {
				m.copied++
			}
		case c.Data != recalled:
			m.sending--
			if c.More() {
				m.busy[c.Data]++
			}
			res, ok = int(c.Res), true
			m.bytes += int64(max(res, 0))
		}
		m.ring.Seen()
	}
	return res, ok
}

// recall cancels the sends that have not ended. It is to be followed by enter,
// and then by another where that has left some: a send that was just about to
// go on is not found.
//
//go:noinline
func (m *uringSender) recall() {
	m.ring.Next().CancelAll(recalled)
	m.recalling = true
}

// finish takes back what the kernel has not sent, which nothing has counted,
// and waits for the notices of the rest. Those that do not come in time, since
// the peer does not read, keep nothing: the kernel holds the memory itself.
func (m *uringSender) finish(limit time.Duration) error {
	began := sys.Nanotime()
	for m.sending > 0 {
		if m.recall(); sys.Nanotime() > began+int64(finishTime) {
			return fmt.Errorf("take %d sends back from io_uring: no answer within %v", m.sending, finishTime)
		}
		if err := m.drop(int64(pollTime)); err != nil {
			return err
		}
	}
	for left := int64(limit); m.ring.InFlight() > 0 && left > 0; left = began + int64(limit) - sys.Nanotime() {
		if err := m.drop(min(left, int64(pollTime))); err != nil {
			return err
		}
	}
	return nil
}

// drop makes one call that waits for a completion, and forgets what comes.
func (m *uringSender) drop(timeout int64) error {
	switch errno := m.enter(1, timeout); errno {
	case 0, unix.ETIME, unix.EINTR, unix.EAGAIN, unix.EBUSY:
	default:
		return fmt.Errorf("wait for sends over io_uring (io_uring_enter): %w", errno)
	}
	for ok := true; ok; {
		_, ok = m.next()
	}
	return nil
}

func (m *uringSender) close() error { return m.ring.Close() }
