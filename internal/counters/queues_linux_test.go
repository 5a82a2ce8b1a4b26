package counters

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/labtest/veth"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stages"
)

// connected are the two ends of a connection between the hosts of a lab, with the
// buffers of the sender and of the receiver as asked for, 0 for the system's.
func connected(t *testing.T, lab *netlab.Lab, link *netlab.Link, sndbuf, rcvbuf int) (from, to int) {
	t.Helper()
	from, listener := socketAt(t, lab.A, unix.SOCK_STREAM, link.AddrA()), socketAt(t, lab.B, unix.SOCK_STREAM, link.AddrB())
	for _, b := range []struct{ fd, option, size int }{{from, unix.SO_SNDBUF, sndbuf}, {listener, unix.SO_RCVBUF, rcvbuf}} {
		if b.size == 0 {
			continue
		}
		if err := unix.SetsockoptInt(b.fd, unix.SOL_SOCKET, b.option, b.size); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Listen(listener, 1); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(listener)
	if err == nil {
		err = unix.Connect(from, at)
	}
	if err == nil {
		to, _, err = unix.Accept(listener)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(to) })
	return from, to
}

// queuesAt looks at the queues of one end for as long as f takes.
func queuesAt(t *testing.T, h *netlab.Host, fd int, f func()) result.Reading {
	t.Helper()
	q := openAt(t, h, &Options{sockets: told(fd), Window: 400 * time.Millisecond, Device: h.Device}, openQueues)
	before := sampleOf(t, q)
	f()
	return between(t, before, sampleOf(t, q))
}

// What a receiver does not read waits in its receive buffer; what does not fit there any
// more waits in the sender's socket.
func TestQueuesReceiver(t *testing.T) {
	labtest.NoLeaks(t)
	lab, link := veth.Pair(t)
	from, to := connected(t, lab, link, 0, 64<<10)
	if err := unix.SetNonblock(from, true); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 32<<10)
	fill := func() {
		for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); time.Sleep(time.Millisecond) {
			_, _ = unix.Write(from, data)
		}
	}
	fill()
	var there result.Reading
	here := queuesAt(t, lab.A, from, func() { there = queuesAt(t, lab.B, to, fill) })
	if n := there.Levels[result.QueueSamples]; n < 10 {
		t.Errorf("looked %d times within 300 ms", n)
	}
	received, unsent := there.Levels[result.QueueReceived+result.QueueMean], here.Levels[result.QueueUnsent+result.QueueMean]
	if received < 30_000 || unsent < 30_000 {
		t.Errorf("%d bytes in the receive buffer, %d in the send buffer: both are full", received, unsent)
	}
	if sent := here.Levels[result.QueueSent+result.QueueMean]; sent > 4096 {
		t.Errorf("%d bytes on the way to a receiver that takes none", sent)
	}
	for _, r := range []result.Reading{here, there} {
		if _, told := r.Levels[result.QueueQdisc+result.QueueMean]; !told {
			t.Errorf("nothing of the qdisc: %v", r.Levels)
		}
		if r.Levels["sockets"] != 1 || r.Levels[result.QueueCwnd+result.QueueMax] == 0 {
			t.Errorf("levels %v", r.Levels)
		}
	}
}

// sendAll sends as much as it can.
func sendAll(t *testing.T, from, _ int, over time.Time) {
	wait := unix.NsecToTimeval(int64(20 * time.Millisecond))
	if err := unix.SetsockoptTimeval(from, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &wait); err != nil {
		t.Error(err)
	}
	for data := make([]byte, 128<<10); time.Now().Before(over); {
		_, _ = unix.Write(from, data)
	}
}

// sendLittle fills a small buffer and sends it to a receiver that answers nothing, so that
// nothing but the buffer keeps the sender from sending more. The kernel takes it for that
// where it sends while the program waits already, and the congestion window has room: what
// is sent are a few small segments, held back until the buffer is full.
func sendLittle(t *testing.T, from, to int, over time.Time) {
	drop := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	if err := unix.SetsockoptSockFprog(to, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop}); err != nil {
		t.Error(err)
	}
	set := func(option, value int) {
		if err := unix.SetsockoptInt(from, unix.IPPROTO_TCP, option, value); err != nil {
			t.Error(err)
		}
	}
	set(unix.TCP_NODELAY, 1)
	set(unix.TCP_CORK, 1)
	for unix.Sendto(from, make([]byte, 1000), unix.MSG_DONTWAIT|unix.MSG_EOR, nil) == nil {
	}
	set(unix.TCP_CORK, 0)
	time.Sleep(time.Until(over))
}

// TestStreamNamed: where what was sent waits, and what limits its sender, is named as it
// was made.
func TestStreamNamed(t *testing.T) {
	test, err := spec.NewTest("tcp_stream", spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, place, limit string
		sndbuf, rcvbuf     int
		send               func(t *testing.T, from, to int, over time.Time)
	}{
		{"receiver that does not read", stages.PlaceReceived, stages.LimitWindow, 256 << 10, 64 << 10, sendAll},
		{"small send buffer", stages.PlaceWay, stages.LimitSend, 1, 0, sendLittle},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab, link := veth.Pair(t)
			from, to := connected(t, lab, link, c.sndbuf, c.rcvbuf)
			over := time.Now().Add(400 * time.Millisecond)
			info := openAt(t, lab.A, &Options{sockets: told(from)}, openTCPInfo)
			var there, limits result.Reading
			here := queuesAt(t, lab.A, from, func() {
				there = queuesAt(t, lab.B, to, func() {
					before := sampleOf(t, info)
					c.send(t, from, to, over)
					limits = between(t, before, sampleOf(t, info))
				})
			})
			here.Source, there.Source, limits.Source = result.SourceQueues, result.SourceQueues, result.SourceTCPInfo
			s := stages.Streams([]stages.Of{{Trial: &result.Trial{
				Test:   test,
				Local:  result.End{Role: result.Local, Counters: &result.Counters{Readings: []result.Reading{here, limits}}},
				Remote: &result.End{Role: result.Remote, Counters: &result.Counters{Readings: []result.Reading{there}}},
			}}}, false)
			if len(s) != 1 {
				t.Fatalf("%d streams", len(s))
			}
			v := &s[0].Variants[0]
			if v.Largest != c.place {
				t.Errorf("most waits in %q, want %q: %v %v", v.Largest, c.place, here.Levels, there.Levels)
			}
			for _, l := range v.Limits {
				if l.By == c.limit && *l.Share < 0.5 {
					t.Errorf("limited by the %s %.0f%% of the time: %v", l.By, 100**l.Share, limits.Counts)
				}
			}
			if len(v.Limits) == 0 {
				t.Errorf("no limits: %v", limits.Counts)
			}
		})
	}
}

// Datagrams that nobody reads are in the receive buffer, too.
func TestQueuesDatagrams(t *testing.T) {
	lab, link := veth.Pair(t)
	from, to := socketAt(t, lab.A, unix.SOCK_DGRAM, link.AddrA()), socketAt(t, lab.B, unix.SOCK_DGRAM, link.AddrB())
	r := queuesAt(t, lab.B, to, func() {
		sendMany(t, from, to, 20, 1000)
		time.Sleep(50 * time.Millisecond)
	})
	if r.Levels[result.QueueReceived+result.QueueMax] < 20_000 {
		t.Errorf("levels %v", r.Levels)
	}
	if _, told := r.Levels[result.QueueUnsent+result.QueueMean]; told {
		t.Errorf("a datagram socket has no unsent data: %v", r.Levels)
	}
}

// A window in which nothing was looked at has no figures, and the source can be given up
// in any state.
func TestQueuesUnused(t *testing.T) {
	labtest.NoLeaks(t)
	for takes := range 3 {
		s, err := openQueues(&Options{root: "/", sockets: told(), Device: "lo"})
		if err != nil {
			labtest.Skip(t, err)
		}
		for range takes {
			_, _ = s.take()
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}
