package traffic

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

func TestCRR(t *testing.T) {
	for _, p := range []spec.Params{
		{Size: 1}, {Size: 1400}, {Request: 1, Response: 65507}, {Request: 300 << 10, Response: 3},
		{Size: 1 << 20}, {Size: 1 << 20, SndBuf: 4096, RcvBuf: 4096}, {Size: 1, NoDelay: spec.Off},
		{Size: 64, Flows: 3, Threads: 3},
	} {
		t.Run(fmt.Sprintf("%+v", p), func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				window := testWindow
				if max(p.Size, p.Request) > 64<<10 {
					window *= 4
				}
				local, remote := trial{test: "tcp_crr", params: p, addr: addr, warmup: testWarmup, window: window}.runFull(t)
				checkCRR(t, spec.Test{Name: "tcp_crr", Params: p}, local, remote)
			})
		})
	}
}

// checkCRR checks what holds where no connection fails.
func checkCRR(t *testing.T, test spec.Test, local, remote result.End) {
	t.Helper()
	both := int64(test.RequestSize() + test.ResponseSize())
	if local.Bytes != both*local.Messages || remote.Bytes != both*remote.Messages {
		t.Errorf("%d and %d bytes in %d and %d connections of %d", local.Bytes, remote.Bytes, local.Messages, remote.Messages, both)
	}
	if got := local.RTT.Count(); got != local.Messages {
		t.Errorf("%d samples of %d connections", got, local.Messages)
	}
	// What is between two round trips is in neither.
	if sum := local.RTT.Mean() * float64(local.Messages); sum > 1.001*float64(local.Elapsed)*float64(test.Threads()) {
		t.Errorf("round trips sum up to %v of %v", time.Duration(sum), local.Elapsed)
	}
	wantCounts(t, local, CountSent, CountFailed, CountConnectRetries)
	wantCounts(t, remote, CountFailed)
	if c := local.Counts; c[CountSent] != local.Messages || c[CountFailed] != 0 || remote.Counts[CountFailed] != 0 {
		t.Errorf("%d messages, %v, %v", local.Messages, c, remote.Counts)
	}
}

// The kernel would choose another address than this one to connect from.
func TestCRRComesFromItsOwnAddress(t *testing.T) {
	other := netip.MustParseAddr("127.0.0.2")
	tr := trial{test: "tcp_crr", addr: loopbacks["ipv4"], warmup: testWarmup, window: testWindow}
	remote, at := tr.engine(t, result.Remote)
	if err := remote.Arm(netip.AddrPortFrom(other, 0)); err != nil {
		t.Fatal(err)
	}
	remoteDone := start(remote)
	for _, c := range []struct {
		addr  netip.Addr
		mine  bool
		bound bool
	}{{tr.addr, false, false}, {other, true, true}} {
		tr.addr = c.addr
		local, _ := tr.engine(t, result.Local)
		if err := local.Arm(at); err != nil {
			t.Fatal(err)
		}
		if got := local.(*crrLocal).bound; got != c.bound {
			t.Errorf("from %v: bound is %v, want %v", c.addr, got, c.bound)
		}
		end := finish(t, start(local))
		// The remote end turns strangers away.
		if ok := end.Messages > 0 && end.Counts[CountFailed] == 0; ok != c.mine {
			t.Errorf("from %v: %d messages, %v", c.addr, end.Messages, end.Counts)
		}
		if !c.mine && (!warned(end, WarnFailed) || !warned(end, WarnNoTraffic)) {
			t.Errorf("a stranger's warnings: %v", end.Warnings)
		}
	}
	remote.Stop()
	finish(t, remoteDone)
}

func TestCRRFromOnePort(t *testing.T) {
	ports := func(threads int) Config {
		return Config{Role: result.Local, Test: spec.Test{Name: "tcp_crr", Params: spec.Params{Flows: threads, Threads: threads}},
			Window: testWindow, CPU: sys.NoCPU, Addr: loopbacks["ipv4"], Port: freePort(t)}
	}
	two, err := New(ports(2))
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	if _, err := two.Prepare(); err == nil || !strings.Contains(err.Error(), "one port") {
		t.Errorf("two threads from one port: error %v", err)
	}
	remote, at := trial{test: "tcp_crr", addr: loopbacks["ipv4"], window: testWindow}.engine(t, result.Remote)
	local, err := New(ports(1))
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	if _, err := local.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := remote.Arm(netip.AddrPortFrom(loopbacks["ipv4"], 0)); err != nil {
		t.Fatal(err)
	}
	if err := local.Arm(at); err != nil {
		t.Fatal(err)
	}
	remoteDone := start(remote)
	end := finish(t, start(local))
	remote.Stop()
	finish(t, remoteDone)
	if end.Messages == 0 || end.Counts[CountFailed] != 0 {
		t.Errorf("%d messages, %v, %v", end.Messages, end.Counts, end.Warnings)
	}
}

// freePort is one that nothing has.
func freePort(t *testing.T) uint16 {
	t.Helper()
	s, port, err := openTCP(Config{Addr: loopbacks["ipv4"]})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return port
}

func TestCRRRefused(t *testing.T) {
	eachFamily(t, func(t *testing.T, addr netip.Addr) {
		tr := trial{test: "tcp_crr", addr: addr, window: testWindow}
		remote, at := tr.engine(t, result.Remote)
		if err := remote.Close(); err != nil {
			t.Fatal(err)
		}
		local, _ := tr.engine(t, result.Local)
		if err := local.Arm(at); err == nil {
			t.Error("connected to a closed port")
		}
	})
}

// TestCRRNobodyComes stops remote ends that nobody has talked to.
func TestCRRNobodyComes(t *testing.T) {
	for _, threads := range []int{1, 3} {
		tr := trial{test: "tcp_crr", params: spec.Params{Flows: threads, Threads: threads}, addr: loopbacks["ipv4"], window: testWindow}
		e, _ := tr.engine(t, result.Remote)
		if err := e.Arm(netip.AddrPortFrom(tr.addr, 0)); err != nil {
			t.Fatal(err)
		}
		done := start(e)
		e.Stop()
		if end := finish(t, done); end.Messages != 0 || end.Elapsed != 0 || !warned(end, WarnNoTraffic) {
			t.Errorf("figures without traffic: %+v", end)
		}
	}
}

// The remote end goes away in the middle of the window.
func TestCRRPeerGone(t *testing.T) {
	t.Parallel()
	// On a busy machine a short window is over before the remote end has gone.
	for window := 400 * time.Millisecond; ; window *= 4 {
		tr := trial{test: "tcp_crr", addr: loopbacks["ipv4"], window: window, interval: 20 * time.Millisecond}
		end, gone := tr.loseRemote(t)
		if !gone && window < 10*time.Second {
			continue
		}
		c := end.Counts
		if end.Messages == 0 || c[CountFailed] == 0 || c[CountSent] < end.Messages+c[CountFailed] || end.RTT.Count() != end.Messages {
			t.Errorf("%d messages, %d samples, %v", end.Messages, end.RTT.Count(), c)
		}
		if !warned(end, WarnFailed) || warned(end, WarnNoTraffic) {
			t.Errorf("warnings %v", end.Warnings)
		}
		if end.Elapsed < tr.window {
			t.Errorf("the window lasted %v of %v", end.Elapsed, tr.window)
		}
		return
	}
}

// loseRemote runs a trial whose remote end goes when the first interval is over,
// and says whether that was well before the window's end.
func (tr trial) loseRemote(t *testing.T) (local result.End, inTime bool) {
	t.Helper()
	l, r := tr.ends(t)
	remoteDone, localDone := start(r), start(l)
	began := time.Now()
	for l.Intervals().Done() == 0 {
		if time.Since(began) > 10*time.Second {
			t.Fatal("no interval was over after 10 s")
		}
		time.Sleep(time.Millisecond)
	}
	r.Stop()
	finish(t, remoteDone)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	inTime = time.Since(began) < tr.window/2
	return finish(t, localDone), inTime
}

// What each connection is to have it has: those that the loop makes, and those
// that come from the listener.
func TestCRROptions(t *testing.T) {
	eachFamily(t, func(t *testing.T, addr netip.Addr) {
		p := spec.Params{Size: 1, SndBuf: 20000, RcvBuf: 30000, DSCP: 10, Congestion: "reno", MSS: 600, Mark: 7}
		level, tos := unix.IPPROTO_IP, unix.IP_TOS
		if addr.Is6() {
			level, tos = unix.IPPROTO_IPV6, unix.IPV6_TCLASS
		}
		tr := trial{test: "tcp_crr", params: p, addr: addr, window: testWindow}
		remote, at := tr.engine(t, result.Remote)
		local, _ := tr.engine(t, result.Local)
		if err := local.Arm(at); err != nil {
			t.Fatal(err)
		}
		check := func(whose string, s sys.Sock) {
			for _, o := range []struct {
				name               string
				level, which, want int
			}{
				{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
				{"SO_SNDBUF", unix.SOL_SOCKET, unix.SO_SNDBUF, 2 * p.SndBuf},
				{"SO_RCVBUF", unix.SOL_SOCKET, unix.SO_RCVBUF, 2 * p.RcvBuf},
				{"SO_MARK", unix.SOL_SOCKET, unix.SO_MARK, p.Mark},
				{"traffic class", level, tos, p.DSCP << 2},
			} {
				if got, err := unix.GetsockoptInt(int(s), o.level, o.which); err != nil || got != o.want {
					t.Errorf("%s connection: %s is %d (%v), want %d", whose, o.name, got, err, o.want)
				}
			}
			if got, err := unix.GetsockoptString(int(s), unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil || strings.TrimRight(got, "\x00") != "reno" {
				t.Errorf("%s connection: congestion control %q (%v)", whose, got, err)
			}
		}
		e := local.(*crrLocal)
		s, errno := sys.NewSock(family(addr), unix.SOCK_STREAM, unix.IPPROTO_TCP)
		if errno != 0 {
			t.Fatal(errno)
		}
		defer s.Close()
		if errno, o := e.options.apply(s); errno != 0 {
			t.Fatal(o.name, errno)
		}
		if errno := s.Connect(&e.peer); errno != 0 {
			t.Fatal(errno)
		}
		check("a loop's", s)
		var from sys.Sockaddr
		for range 2 { // the one that Arm made comes first
			c, errno := remote.(*crrRemote).listener.Accept(&from)
			if errno != 0 {
				t.Fatal(errno)
			}
			defer c.Close()
			check("an accepted", c)
			if tv, err := unix.GetsockoptTimeval(int(c), unix.SOL_SOCKET, unix.SO_RCVTIMEO); err != nil || tv.Nano() == 0 {
				t.Errorf("an accepted connection waits for ever: %v, %v", tv, err)
			}
		}
		if max, err := unix.GetsockoptInt(int(s), unix.IPPROTO_TCP, unix.TCP_MAXSEG); err != nil || max > p.MSS {
			t.Errorf("segments of %d bytes (%v), want %d at most", max, err, p.MSS)
		}
	})
}

func TestCRRAllocatesNothing(t *testing.T) {
	if !rawCalls {
		t.Skip("portable calls allocate")
	}
	for _, p := range []spec.Params{{Size: 1000}, {Size: 200 << 10}, {Size: 1, Mark: 1, DSCP: 1}} {
		tr := trial{test: "tcp_crr", params: p, addr: loopbacks["ipv4"], warmup: testWarmup, window: 4 * testWindow}
		allocatesNothing(t, tr, 100, 200, fewerMessages)
	}
}
