package counters

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// tcpInfo is TCP_INFO of the test's connections (tcp(7)). Counts are sums over
// all flows (tcpCounts; times in ns). Levels are flows, how many there are,
// medians over them (tcpLevels; times in ns, cwnd and ssthresh in segments, mss,
// pmtu and snd_wnd in bytes) and rtt_max_ns, the longest rtt of all. ssthresh is there
// once something was lost. Of the first maxFlows flows, in the order in which
// the engine had them, some of these are told apart, as flow0.segs_out. What
// this kernel does not know is absent.
//
// gone, where it is, are flows that were closed before the test was over: they
// are in no figure.
type tcpInfo struct {
	sockets *sockets
	filled  int // bytes that this kernel fills
	seen    int // of the sockets, how many have been looked at
	flows   []*tcpFlow
	buffer  [tcpInfoBytes]byte
}

// maxFlows is how many flows are told of one by one.
const maxFlows = 64

// tcpFlow is a connection.
type tcpFlow struct {
	fd     int
	cookie uint64
	gone   bool
	wide   []widened // by place in tcpCounts, of those in 32 bits
}

func openTCPInfo(o *Options) (source, error) {
	s := &tcpInfo{sockets: o.sockets}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return nil, reason(fmt.Errorf("make a TCP socket: %w", err))
	}
	defer unix.Close(fd)
	if s.filled, err = sys.GetOption(fd, unix.IPPROTO_TCP, unix.TCP_INFO, s.buffer[:]); err != nil {
		return nil, reason(fmt.Errorf("read the state of a connection (getsockopt TCP_INFO): %w", err))
	}
	return s, nil
}

// take reads each flow. A connection that has ended keeps its counters until it
// is closed.
func (s *tcpInfo) take() (*sample, error) {
	fds := s.sockets.all()
	for _, fd := range fds[s.seen:] {
		s.meet(fd)
	}
	s.seen = len(fds)
	all := tcpFlows{of: s, flows: s.flows, read: make([]tcpReading, len(s.flows))}
	numbers := make([]int64, len(s.flows)*(len(tcpCounts)+len(tcpLevels)))
	for i, f := range s.flows {
		var r tcpReading
		r.counts, numbers = numbers[:len(tcpCounts)], numbers[len(tcpCounts):]
		r.levels, numbers = numbers[:len(tcpLevels)], numbers[len(tcpLevels):]
		f.gone = f.gone || !s.read(f, r)
		all.read[i] = r
	}
	return &sample{parse: all.parse}, nil
}

// meet takes a socket in that is a connection's.
func (s *tcpInfo) meet(fd int) {
	n, err := sys.GetOption(fd, unix.IPPROTO_TCP, unix.TCP_INFO, s.buffer[:])
	if err != nil || n == 0 {
		return
	}
	segments := 0
	for _, f := range tcpCounts {
		if (f.name == "segs_out" || f.name == "segs_in") && f.in(n) {
			segments += int(f.raw(s.buffer[:]))
		}
	}
	if state := s.buffer[0]; state == tcpListen || state == tcpClose && segments == 0 {
		return
	}
	f := &tcpFlow{fd: fd, wide: make([]widened, len(tcpCounts))}
	f.cookie, _ = cookieOf(fd)
	s.flows = append(s.flows, f)
}

// read reads a flow, and says whether it is still there.
func (s *tcpInfo) read(f *tcpFlow, into tcpReading) bool {
	if n, err := sys.GetOption(f.fd, unix.IPPROTO_TCP, unix.TCP_INFO, s.buffer[:]); err != nil || n < s.filled {
		return false
	}
	for i := range tcpCounts {
		switch c := &tcpCounts[i]; {
		case !c.in(s.filled):
		case c.size == 4:
			into.counts[i] = f.wide[i].at(uint32(c.raw(s.buffer[:]))) * c.unit
		default:
			into.counts[i] = int64(c.raw(s.buffer[:])) * c.unit
		}
	}
	for i := range tcpLevels {
		l := &tcpLevels[i]
		into.levels[i] = -1
		if l.in(s.filled) {
			if raw := l.raw(s.buffer[:]); l.has(raw) {
				into.levels[i] = int64(raw) * l.unit
			}
		}
	}
	return true
}

// cost is of the sockets that there are by now.
func (s *tcpInfo) cost() time.Duration { return s.sockets.cost() }

func (s *tcpInfo) close() error { return nil }
