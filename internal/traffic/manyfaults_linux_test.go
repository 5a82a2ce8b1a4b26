package traffic

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/hist"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// TestManyLostAmongManyEvents has a peer whose sockets nobody reads, and more
// events than a wait brings, always: what is lost is noticed all the same.
func TestManyLostAmongManyEvents(t *testing.T) {
	tr := trial{test: "udp_rr", params: spec.Params{Flows: manyEvents + 50, Size: 8}, addr: loopbacks["ipv4"], window: 2 * firstTimeout}
	local, _ := tr.ends(t)
	part := local.(*manyUDPLocal).parts[0]
	for i, s := range part.flows {
		// Without EPOLLET each is ready to send at every look.
		if err := part.set.Change(int(s), i, unix.EPOLLIN|unix.EPOLLOUT); err != nil {
			t.Fatal(err)
		}
	}
	end := finish(t, start(local))
	if lost := end.Counts[CountLost]; lost == 0 || lost != end.Counts[CountSent] {
		t.Errorf("nothing was answered: %v", end.Counts)
	}
}

// TestManyOverdueAtTheEnd looks for overdue requests when the window is over:
// none of them belongs to it.
func TestManyOverdueAtTheEnd(t *testing.T) {
	cfg := Config{Role: result.Local, Test: spec.Test{Name: "udp_rr", Params: spec.Params{Burst: 8, Size: 8}}, Window: time.Second}
	w := newUDPAsker(cfg, 1, 3, -1, new(atomic.Bool))
	w.flows[0] = -1
	w.meter.tick(1000) // opens the window
	for i := range w.slots {
		w.slots[i].sent = 1000
	}
	if w.giveUp(1000 + int64(2*time.Second)); w.meter.phase != closed || w.overdue != 0 || w.waiting != 0 || w.err != nil {
		t.Errorf("phase %d, %d given up in the window, of which %d may come late, %v", w.meter.phase, w.overdue, w.waiting, w.err)
	}
}

// TestManyTrickle has a peer whose answers come in by and by, and never whole.
func TestManyTrickle(t *testing.T) {
	t.Parallel()
	tr := trial{test: "tcp_rr", params: spec.Params{Burst: 2, Size: 1 << 20}, addr: loopbacks["ipv4"], window: testWindow}
	began := time.Now()
	o := againstPeer(t, tr, func(c net.Conn) {
		read := make(chan struct{})
		go func() {
			defer close(read)
			io.Copy(io.Discard, c)
		}()
		for b := make([]byte, 100); ; {
			select {
			case <-read:
				return
			case <-time.After(5 * time.Millisecond):
			}
			if _, err := c.Write(b); err != nil {
				c.Close()
			}
		}
	})
	if o.err != nil {
		t.Fatal(o.err)
	}
	if o.end.Messages != 0 || !warned(o.end, WarnUnfinished) || o.end.Elapsed < tr.window {
		t.Errorf("%d messages in %v, %v", o.end.Messages, o.end.Elapsed, o.end.Warnings)
	}
	if took := time.Since(began); took > tr.window+unfinishedTime+hangUpTime+5*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestManyConnectOutsideARange has fewer data ports than connections.
func TestManyConnectOutsideARange(t *testing.T) {
	tr := trial{test: "tcp_rr", params: spec.Params{Flows: 3}, addr: loopbacks["ipv4"], window: testWindow}
	remote, at := tr.engine(t, result.Remote)
	local, err := New(Config{Role: result.Local, Test: spec.Test{Name: tr.test, Params: tr.params}, Window: testWindow, CPU: sys.NoCPU, Addr: tr.addr,
		PortMin: 20000, PortMax: 20001})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	if _, err := local.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := remote.Arm(netip.AddrPortFrom(tr.addr, 0)); err != nil {
		t.Fatal(err)
	}
	if err := local.Arm(at); err != nil {
		t.Error(err)
	}
}

// TestManyFromPortZero has a request that can't be answered.
func TestManyFromPortZero(t *testing.T) {
	tr := trial{test: "udp_rr", params: spec.Params{Flows: 2, Size: 8}, addr: loopbacks["ipv4"], warmup: testWarmup, window: testWindow}
	tr.between = func(local, remote netip.AddrPort) (netip.AddrPort, netip.AddrPort) {
		raw, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
		if err != nil {
			labtest.Skip(t, err)
		}
		defer unix.Close(raw)
		datagram := make([]byte, 8+8) // from port 0, without a checksum
		binary.BigEndian.PutUint16(datagram[2:], remote.Port())
		binary.BigEndian.PutUint16(datagram[4:], uint16(len(datagram)))
		if err := unix.Sendto(raw, datagram, 0, &unix.SockaddrInet4{Addr: remote.Addr().As4()}); err != nil {
			t.Fatal(err)
		}
		return remote, local
	}
	local, remote := tr.run(t)
	checkManyEnds(t, tr, local, remote)
}

// TestManyEndHasLateAnswers: a thread may have had nothing but such.
func TestManyEndHasLateAnswers(t *testing.T) {
	late, other := hist.New(), hist.New()
	late.Record(1_000_000)
	other.Record(1000)
	end := manyEnd(&Config{}, []result.End{
		{Elapsed: time.Second, Messages: 1, RTT: other, Counts: map[string]int64{CountLate: 0}},
		{Elapsed: time.Second, RTT: late, Counts: map[string]int64{CountLate: 1}},
		{Elapsed: time.Second, RTT: hist.New(), Counts: map[string]int64{CountLate: 0}},
	})
	if end.RTT.Count() != end.Messages+end.Counts[CountLate] || end.Counts[CountLate] != 1 {
		t.Errorf("%d samples of %d messages, %v", end.RTT.Count(), end.Messages, end.Counts)
	}
}
