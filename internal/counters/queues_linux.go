package counters

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// queues is what waits in the queues on the path, looked at again and again while
// the window is open, by a thread of its own: so it takes some of the time that it
// tells of, and is not read by default. Levels are the mean and the largest of what
// was there (result.QueueMean, result.QueueMax behind the names, in bytes), over all
// sockets of the test that are looked at:
//
//   - unsent: data of connections that waits in the socket;
//   - sent: what was sent and is not acknowledged; of datagrams the memory of those that
//     no driver or receiver has taken over yet, those in the qdisc among them;
//   - received: memory of the receive buffers;
//   - backlog: memory of what came while a program held the socket;
//   - cwnd: the congestion windows;
//   - qdisc: the root qdisc of the path's interface.
//
// Of softnet, all CPUs' queues of received packets, the mean is in thousandths of a
// packet (result.QueueMilli). samples is how often it looked, sockets at how many sockets,
// left_out how many more the test has.
//
// What takes no lock is read first: TCP_INFO waits until the program has left the
// socket, and a level read after that would be the one at which programs leave.
type queues struct {
	sockets *sockets
	every   time.Duration
	qdisc   *qdiscSource // nil where the interface or its qdisc can't be read
	softnet *file        // nil where there is none
	bell    *bell
	ended   chan struct{} // closed when the thread has ended

	mu      sync.Mutex // of what follows
	open    bool       // between take and take
	closing bool
	levels  map[string]*tally
	samples int64
	looked  int // sockets of the last sample
	left    int

	info [tcpInfoBytes]byte // the thread's
}

// tally is a level so far.
type tally struct{ sum, most, n int64 }

// A window is looked at so often, but not more than each leastEvery, and one of
// unknown length each unknownEvery.
const (
	windowSamples = 200
	leastEvery    = 2 * time.Millisecond
	unknownEvery  = 50 * time.Millisecond
)

func openQueues(o *Options) (source, error) {
	q := &queues{sockets: o.sockets, every: unknownEvery, ended: make(chan struct{})}
	if o.Window > 0 {
		q.every = max(leastEvery, o.Window/windowSamples)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, reason(fmt.Errorf("make a UDP socket: %w", err))
	}
	defer unix.Close(fd)
	if _, err := memOf(fd); err != nil {
		return nil, reason(err)
	}
	if q.bell, err = newBell(); err != nil {
		return nil, reason(err)
	}
	if s, err := openQdisc(o); err == nil {
		q.qdisc = s.(*qdiscSource)
	}
	if s, err := openFile(o, "proc/net/softnet_stat", parseSoftnetBacklog); err == nil {
		q.softnet = s.(*file)
	}
	onOwnThread(func() {
		defer close(q.ended)
		if o.threads != nil {
			o.threads.exclude(sys.ThreadID())
		}
		// Without a priority it would run when the traffic's thread sleeps, which is when
		// queues are full or empty.
		_ = sys.SetFIFO(1)
		q.run()
	})
	return q, nil
}

// run looks at the queues whenever it is time.
func (q *queues) run() {
	due := int64(0)
	for {
		q.mu.Lock()
		if q.closing {
			q.mu.Unlock()
			return
		}
		left := time.Duration(0) // until the bell rings
		if q.open {
			if left = time.Duration(due - now()); left <= 0 {
				q.look()
				// What was missed is not made up for.
				due = max(due+int64(q.every), now()+int64(q.every)/2)
				left = time.Duration(due - now())
			}
		}
		q.mu.Unlock()
		q.bell.wait(left)
	}
}

// look takes one sample.
func (q *queues) look() {
	fds := q.sockets.all()
	q.left = max(0, len(fds)-maxFlows)
	fds = fds[:len(fds)-q.left]
	sums := map[string]int64{}
	streams := fds[:0:0]
	q.looked = 0
	for _, fd := range fds {
		listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		if err != nil || listens != 0 {
			continue
		}
		m, err := memOf(fd)
		if err != nil {
			continue
		}
		q.looked++
		sums[result.QueueReceived] += int64(m[memRead])
		sums[result.QueueBacklog] += int64(m[memBacklog])
		unsent, err := unix.IoctlGetInt(fd, unix.SIOCOUTQNSD)
		if err != nil { // no connection
			sums[result.QueueSent] += int64(m[memWrite])
			continue
		}
		sums[result.QueueUnsent] += int64(unsent)
		if all, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ); err == nil {
			sums[result.QueueSent] += int64(max(0, all-unsent))
			streams = append(streams, fd)
		}
	}
	if q.qdisc != nil {
		if x, err := q.qdisc.take(); err == nil {
			sums[result.QueueQdisc] = x.levels["backlog_bytes"]
		}
	}
	if q.softnet != nil {
		if x, err := q.softnet.take(); err == nil && x.parsed() == nil {
			sums[result.QueueSoftnet] = x.levels[result.QueueSoftnet]
		}
	}
	for _, fd := range streams {
		if n, err := sys.GetOption(fd, unix.IPPROTO_TCP, unix.TCP_INFO, q.info[:]); err == nil && n >= cwndAt+4 {
			segments, size := binary.NativeEndian.Uint32(q.info[cwndAt:]), binary.NativeEndian.Uint32(q.info[mssAt:])
			sums[result.QueueCwnd] += int64(segments) * int64(size)
		}
	}
	for name, v := range sums {
		t := q.levels[name]
		if t == nil {
			t = &tally{}
			q.levels[name] = t
		}
		t.sum, t.most, t.n = t.sum+v, max(t.most, v), t.n+1
	}
	q.samples++
}

// parseSoftnetBacklog reads no more of the table than is needed so often.
func parseSoftnetBacklog(text []byte, s *sample) error {
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) <= softnetCPU {
			continue // before Linux 5.10, which does not tell
		}
		n, err := strconv.ParseUint(string(f[softnetBacklog]), 16, 32)
		if err != nil {
			return fmt.Errorf("column %d is %q", softnetBacklog+1, f[softnetBacklog])
		}
		s.levels[result.QueueSoftnet] += int64(n)
	}
	return nil
}

// Places in struct tcp_info, as tcpLevels has them.
const (
	mssAt  = 16
	cwndAt = 80
)

// take begins to look at the queues, or ends it.
func (q *queues) take() (*sample, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x := newSample()
	if q.open = !q.open; q.open {
		q.levels, q.samples = map[string]*tally{}, 0
		q.bell.ring()
		return x, nil
	}
	if q.samples == 0 {
		return nil, errors.New("its thread did not come to look at the queues within the window: the machine was too busy")
	}
	x.levels[result.QueueSamples], x.levels["sockets"] = q.samples, int64(q.looked)
	if q.left > 0 {
		x.levels["left_out"] = int64(q.left)
	}
	for name, t := range q.levels {
		x.levels[name+result.QueueMax] = t.most
		if name == result.QueueSoftnet {
			x.levels[name+result.QueueMilli] = 1000 * t.sum / t.n
		} else {
			x.levels[name+result.QueueMean] = t.sum / t.n
		}
	}
	return x, nil
}

func (q *queues) close() error {
	q.mu.Lock()
	q.closing = true
	q.mu.Unlock()
	q.bell.ring()
	<-q.ended
	all := q.bell.close()
	if q.qdisc != nil {
		all = errors.Join(all, q.qdisc.close())
	}
	if q.softnet != nil {
		all = errors.Join(all, q.softnet.close())
	}
	return all
}
