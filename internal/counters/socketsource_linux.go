package counters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// Places in the array of SO_MEMINFO, of linux/sock_diag.h.
const (
	memRead = iota
	memReadLimit
	memWrite
	memWriteLimit
	memForward
	memWriteQueued
	memOptions
	memBacklog
	memDrops
	memVars
)

// socketSource is SO_MEMINFO of the test's own sockets (socket(7), Linux 4.12).
// Count drops is the packets that they threw away, of all of them: the receive
// buffer was full or a checksum wrong, or, of TCP, they were of no use, as those
// that come after a connection's end. It is the count that SO_RXQ_OVFL sends
// along with a datagram, which is why that is not asked for. Levels are sockets,
// how many there are; rcvbuf and sndbuf, the medians of their buffers' limits;
// and rmem, wmem and backlog, the sums of what is in their receive buffers,
// send buffers (the larger of what is queued and what is under way) and in the
// queue before the former; all in bytes of the kernel's memory, which are more
// than those of the data.
//
// gone, where it is, are sockets that were closed before the test was over: they
// are in no figure.
type socketSource struct {
	sockets *sockets
	seen    int
	known   []*socketDrops
}

// socketDrops is a socket with its drops so far.
type socketDrops struct {
	fd     int
	cookie uint64
	gone   bool
	drops  widened
}

func openSockets(o *Options) (source, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, reason(fmt.Errorf("make a UDP socket: %w", err))
	}
	defer unix.Close(fd)
	if _, err := memOf(fd); err != nil {
		return nil, reason(err)
	}
	return &socketSource{sockets: o.sockets}, nil
}

// memOf is what the kernel has of a socket.
func memOf(fd int) (m [memVars]uint32, err error) {
	var b [4 * memVars]byte
	n, err := sys.GetOption(fd, unix.SOL_SOCKET, unix.SO_MEMINFO, b[:])
	if err == nil && n < len(b) {
		err = fmt.Errorf("the kernel tells %d bytes, not %d", n, len(b))
	}
	if err != nil {
		return m, fmt.Errorf("read the memory of a socket (getsockopt SO_MEMINFO): %w", err)
	}
	for i := range m {
		m[i] = binary.NativeEndian.Uint32(b[4*i:])
	}
	return m, nil
}

func (s *socketSource) take() (*sample, error) {
	fds := s.sockets.all()
	for _, fd := range fds[s.seen:] {
		cookie, _ := cookieOf(fd)
		s.known = append(s.known, &socketDrops{fd: fd, cookie: cookie})
	}
	s.seen = len(fds)
	all := socketReadings{of: s, known: s.known, read: make([]socketReading, len(s.known))}
	for i, k := range s.known {
		m, err := memOf(k.fd)
		if k.gone = k.gone || err != nil; !k.gone {
			all.read[i] = socketReading{m, k.drops.at(m[memDrops])}
		}
	}
	return &sample{parse: all.parse}, nil
}

// socketReadings are the sockets as they were when one sample was taken.
type socketReadings struct {
	of    *socketSource
	known []*socketDrops
	read  []socketReading // by place in known
}

type socketReading struct {
	mem   [memVars]uint32
	drops int64
}

// parse is for when the test is over and its sockets are still there. Before it
// there may have been none yet.
func (a *socketReadings) parse(x *sample) error {
	if len(a.of.known) == 0 {
		return errors.New("the test has no socket that lasts as long as itself")
	}
	x.counts["drops"] = 0
	x.levels["sockets"] = 0
	var read, write []int64
	for i, k := range a.known {
		if k.gone = k.gone || !still(k.fd, k.cookie); k.gone {
			x.levels["gone"]++
			continue
		}
		m := &a.read[i].mem
		x.counts["drops"] += a.read[i].drops
		x.levels["sockets"]++
		x.levels["rmem"] += int64(m[memRead])
		x.levels["wmem"] += int64(max(m[memWrite], m[memWriteQueued]))
		x.levels["backlog"] += int64(m[memBacklog])
		read, write = append(read, int64(m[memReadLimit])), append(write, int64(m[memWriteLimit]))
	}
	if len(read) > 0 {
		slices.Sort(read)
		slices.Sort(write)
		x.levels["rcvbuf"], x.levels["sndbuf"] = median(read), median(write)
	}
	return nil
}

// cost is of the sockets that there are by now.
func (s *socketSource) cost() time.Duration { return s.sockets.cost() }

func (s *socketSource) close() error { return nil }
