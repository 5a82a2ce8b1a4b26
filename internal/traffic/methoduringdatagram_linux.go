package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

const (
	// uringGroups is how many batches a sender without copying fills in turn.
	uringGroups = 4
	// uringBatch is the most bytes in a batch of large datagrams.
	uringBatch = 256 << 10
)

// uringDatagram sends datagrams over io_uring, a batch in a chain. Nothing of
// a batch is under way any more when send returns, but for memory that the
// kernel still reads where it does not copy.
type uringDatagram struct {
	uringSender
	groups [][][]byte
	turn   int // the group of the latest batch
	// spare is what batch gives out, and send does not send, while the kernel
	// reads all groups.
	spare [][]byte
	held  bool
	// went and failed are what became of the batch.
	went   int
	failed unix.Errno
}

func newURingDatagram(s *socket, cfg Config) (datagramSender, error) {
	return openURingDatagram(s, cfg, false)
}

func newURingZCDatagram(s *socket, cfg Config) (datagramSender, error) {
	return openURingDatagram(s, cfg, true)
}

func openURingDatagram(s *socket, cfg Config, zc bool) (datagramSender, error) {
	size := cfg.Test.Params.Size
	groups, n := 1, max(1, min(uringDepth, uringBatch/size))
	if zc {
		groups = uringGroups
	}
	sender, buffers, err := newURingSender(s, zc, groups, n, size)
	if err != nil {
		return nil, err
	}
	return &uringDatagram{uringSender: sender, groups: buffers, spare: makeBuffers(1, size)}, nil
}

//go:nosplit
func (m *uringDatagram) batch() [][]byte {
	next := m.turn + 1
	if next == len(m.groups) {
		next = 0
	}
	if m.busy[next] > 0 {
		m.await(next)
	}
	if m.held = m.busy[next] > 0; m.held {
		return m.spare
	}
	m.turn = next
	return m.groups[next]
}

// await waits until the kernel has let go of a group, at most pollTime.
//
//go:nosplit
func (m *uringDatagram) await(group int) {
	m.read()
	for left, until := int64(pollTime), sys.Nanotime()+int64(pollTime); m.busy[group] > 0 && left > 0; left = until - sys.Nanotime() {
		m.enter(1, left)
		m.read()
	}
}

//go:nosplit
func (m *uringDatagram) send(n int) (int, unix.Errno) {
	if m.held {
		return 0, unix.EAGAIN
	}
	m.went, m.failed = 0, 0
	for i, d := range m.groups[m.turn][:n] {
		m.push(d, 0, m.turn, i == n-1)
	}
	errno := m.enter(n, int64(pollTime))
	m.read()
	if m.sending > 0 {
		errno = m.rest(errno)
	}
	switch {
	case m.went == n:
		return n, 0
	case m.failed != 0 && m.failed != unix.ECANCELED:
		return m.went, m.failed
	case errno != 0 && errno != unix.ETIME && errno != unix.EBUSY:
		return m.went, errno
	}
	return m.went, unix.EAGAIN
}

// read reads what became of sends, and of their memory.
//
//go:nosplit
func (m *uringDatagram) read() {
	for res, ok := m.next(); ok; res, ok = m.next() {
		switch {
		case res >= 0:
			m.went++
		case m.failed == 0: // behind it only those come that it has cancelled
			m.failed = unix.Errno(-res)
		}
	}
}

// rest waits on for a batch of which the latest call, which ended with errno,
// did not bring all completions: notices came first, or there is no room. After
// pollTime the rest is cancelled, so that each datagram was sent or was not.
//
//go:nosplit
//go:noinline
func (m *uringDatagram) rest(errno unix.Errno) unix.Errno {
	until := sys.Nanotime() + int64(pollTime)
	for left := int64(pollTime); errno == 0 && m.sending > 0 && left > 0; left = until - sys.Nanotime() {
		errno = m.enter(m.sending, left)
		m.read()
	}
	if m.sending > 0 {
		until = sys.Nanotime() + int64(finishTime)
		for left := int64(finishTime); m.sending > 0 && left > 0; left = until - sys.Nanotime() {
			m.recall()
			errno = m.enter(1, left)
			m.read()
		}
		if m.sending > 0 {
			return unix.ETIMEDOUT // no kernel does that: the engine gives up
		}
	}
	return errno
}
