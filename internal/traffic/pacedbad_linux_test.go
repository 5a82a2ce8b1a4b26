package traffic

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// A stallTrial has its answerer stall once, for long, after so many answers.
const (
	stallAfter = 60
	stallTime  = 80 * time.Millisecond
)

func stallTrial(test string, addr netip.Addr) trial {
	tr := pacedTrial(test, addr, spec.Params{Rate: 1000, Size: 8})
	tr.window = 200 * time.Millisecond
	return tr
}

// checkStall checks that all who waited for the stalled answerer say so, and
// not only one.
func checkStall(t *testing.T, tr trial, local result.End) {
	t.Helper()
	checkPaced(t, tr, local)
	if got := time.Duration(local.RTT.Max()); got < stallTime-10*time.Millisecond {
		t.Errorf("the longest round trip is %v, and there was a stall of %v", got, stallTime)
	}
	// A fifth of the requests and more were due in its first half.
	if local.Counts[result.CountMissed] < 20 {
		if got := time.Duration(local.RTT.Quantile(0.9)); got < stallTime/4 {
			t.Errorf("one in ten round trips took %v, and there was a stall of %v in %v", got, stallTime, tr.window)
		}
	}
}

func TestPacedUDPStall(t *testing.T) {
	tr := stallTrial("udp_rr", loopbacks["ipv4"])
	tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
		if i == stallAfter {
			time.Sleep(stallTime)
		}
		deliver(answer)
	})
	local, _ := tr.run(t)
	checkStall(t, tr, local)
	if local.Counts[CountLost] != 0 {
		t.Errorf("nothing was lost: %v", local.Counts)
	}
}

func TestPacedTCPStall(t *testing.T) {
	tr := stallTrial("tcp_rr", loopbacks["ipv4"])
	local := againstPeer(t, tr, func(c net.Conn) {
		b := make([]byte, 8)
		for i := 0; ; i++ {
			if _, err := io.ReadFull(c, b); err != nil {
				return
			}
			if i == stallAfter {
				time.Sleep(stallTime)
			}
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	})
	if local.err != nil {
		t.Fatal(local.err)
	}
	checkStall(t, tr, local.end)
}

// againstPeer runs the local end of a TCP test against a peer that a test has
// made up.
func againstPeer(t *testing.T, tr trial, peer func(net.Conn)) outcome {
	t.Helper()
	l, err := net.Listen("tcp", netip.AddrPortFrom(tr.addr, 0).String())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		peer(c)
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	e, _ := tr.engine(t, result.Local)
	if err := e.Arm(l.Addr().(*net.TCPAddr).AddrPort()); err != nil {
		t.Fatal(err)
	}
	return wait(t, start(e))
}

// A peer of TCP that goes, or answers what nobody asked.
func TestPacedTCPBadPeer(t *testing.T) {
	for name, c := range map[string]struct {
		peer func(net.Conn)
		want string
	}{
		"goes":               {func(c net.Conn) { c.Read(make([]byte, 8)) }, "closed the connection"},
		"answers too much":   {func(c net.Conn) { io.CopyBuffer(io.MultiWriter(c, c), c, make([]byte, 8)) }, "more than it was asked"},
		"answers beforehand": {func(c net.Conn) { c.Write(make([]byte, 64)); c.Read(make([]byte, 8)) }, "more than it was asked"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := pacedTrial("tcp_rr", loopbacks["ipv4"], spec.Params{Rate: 500, Size: 8})
			if o := againstPeer(t, tr, c.peer); o.err == nil || !strings.Contains(o.err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", o.err, c.want)
			}
		})
	}
}

// A peer that reads nothing holds up what follows, and slots are missed.
// At the lower rate the latest slot is still to be used when the window is over.
func TestPacedTCPStuck(t *testing.T) {
	for _, rate := range []int{500, 333} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			t.Parallel()
			stuck(t, rate)
		})
	}
}

func stuck(t *testing.T, rate int) {
	tr := pacedTrial("tcp_rr", loopbacks["ipv4"], spec.Params{Rate: rate, Size: 1 << 20, SndBuf: 1 << 16, RcvBuf: 1 << 16})
	local, _ := tr.ends(t)
	began := time.Now()
	end := finish(t, start(local))
	checkPaced(t, tr, end)
	if end.Messages != 0 || end.Counts[result.CountMissed] == 0 || !warned(end, WarnUnfinished) {
		t.Errorf("%d messages, %v, %v", end.Messages, end.Counts, end.Warnings)
	}
	if took := time.Since(began); took > tr.window+unfinishedTime+hangUpTime+time.Second {
		t.Errorf("took %v", took)
	}
}

// Half of the answers are lost: no slot waits for them, with numbers of one
// byte and of eight.
func TestPacedLoss(t *testing.T) {
	for _, size := range []int{1, 9} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			tr := pacedTrial("udp_rr", loopbacks["ipv6"], spec.Params{Rate: 2000, Size: size})
			tr.warmup = 50 * time.Millisecond // and so more than all numbers of one byte
			tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
				if i%2 == 0 {
					deliver(answer)
				}
			})
			local, _ := tr.run(t)
			checkPaced(t, tr, local)
			c := local.Counts
			if half := c[CountSent] / 2; c[CountLost] < half-2 || c[CountLost] > half+2 {
				t.Errorf("every second answer was dropped: %d messages, %v", local.Messages, c)
			}
		})
	}
}

func TestPacedDuplicates(t *testing.T) {
	tr := pacedTrial("udp_rr", loopbacks["ipv4"], spec.Params{Rate: 1000, Size: 8})
	tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
		deliver(answer)
		deliver(answer)
	})
	local, _ := tr.run(t)
	checkPaced(t, tr, local)
	// Those of the last ones may come when nothing is waited for any more.
	if c := local.Counts; c[CountStale] < local.Messages/2 || c[CountLost] != 0 {
		t.Errorf("every answer came twice: %d messages, %v", local.Messages, c)
	}
}

// Nobody answers, and messages of one byte can tell 256 requests apart.
func TestPacedCrowd(t *testing.T) {
	tr := pacedTrial("udp_rr", loopbacks["ipv4"], spec.Params{Rate: 20000, Size: 1})
	local, _ := tr.ends(t)
	end := finish(t, start(local))
	checkPaced(t, tr, end)
	if c := end.Counts; end.Messages != 0 || c[CountSent] > 256 || c[CountLost] != c[CountSent] || c[result.CountMissed] == 0 {
		t.Errorf("%d messages, %v", end.Messages, c)
	}
	for _, code := range []string{WarnOutstanding, WarnNoTraffic} {
		if !warned(end, code) {
			t.Errorf("no warning %s: %v", code, end.Warnings)
		}
	}
}
