package traffic

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// loads are all tests that a stream can flow beside, with each stream.
var loads = []struct{ test, load string }{
	{"udp_rr", "tcp_stream"}, {"udp_rr", "tcp_maerts"}, {"udp_rr", "tcp_bidir"}, {"tcp_rr", "udp_stream"},
}

// A stream flows beside the round trips, and the end that receives it counts
// what came of it.
func TestLoadBeside(t *testing.T) {
	for _, c := range loads {
		t.Run(c.test+"/"+c.load, func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				tr := trial{test: c.test, params: spec.Params{Load: c.load}, addr: addr, warmup: testWarmup, window: 2 * testWindow}
				runLoaded(t, tr)
			})
		})
	}
}

// Latency under load: an open loop beside a stream.
func TestLoadBesideAnOpenLoop(t *testing.T) {
	for _, c := range loads {
		t.Run(c.test+"/"+c.load, func(t *testing.T) {
			tr := pacedTrial(c.test, loopbacks["ipv4"], spec.Params{Size: 8, Rate: 500, Load: c.load})
			local, _ := runLoaded(t, tr)
			for _, n := range []string{result.CountLoadBytes, result.CountLoadElapsed} {
				delete(local.Counts, n)
			}
			checkPaced(t, tr, local)
		})
	}
}

// runLoaded carries a trial out until both ends have had messages and a load. A
// machine that is busy otherwise may let too little of it through.
func runLoaded(t *testing.T, tr trial) (local, remote result.End) {
	t.Helper()
	const attempts = 10
	why := ""
	for range attempts {
		local, remote = tr.runFull(t)
		if why = lacksLoad(tr, local) + lacksLoad(tr, remote); why == "" {
			break
		}
	}
	if why != "" {
		t.Errorf("%d attempts, none with a load: %s", attempts, why)
	}
	if got := local.RTT.Count(); got != local.Messages+local.Counts[CountLate] {
		t.Errorf("%d samples of %d round trips, %v", got, local.Messages, local.Counts)
	}
	return local, remote
}

// lacksLoad says what is wrong with the load of an end; nothing if all is well.
func lacksLoad(tr trial, e result.End) string {
	kind, _ := spec.KindOf(tr.params.Load)
	receives := kind.Sends()
	if e.Role == result.Local {
		receives = kind.Receives()
	}
	n, counted := e.Counts[result.CountLoadBytes]
	elapsed := time.Duration(e.Counts[result.CountLoadElapsed])
	switch {
	case counted != receives, counted && (n == 0 || elapsed < tr.window/2 || elapsed > tr.window+loadSlack),
		warned(e, WarnLoad), warned(e, WarnShortWindow), warned(e, WarnNoTraffic):
		return fmt.Sprintf("%s end: %v, %v; ", e.Role, e.Counts, e.Warnings)
	}
	return ""
}

// Both sockets of an end have one port, which another socket may have for one
// of the two protocols.
func TestLoadPort(t *testing.T) {
	tr := trial{test: "udp_rr", params: spec.Params{Load: "tcp_stream"}, addr: loopbacks["ipv4"], window: testWindow}
	e, at := tr.engine(t, result.Remote)
	c, err := net.DialTimeout("tcp", at.String(), time.Second)
	if err != nil {
		t.Errorf("the stream's port: %v", err)
	} else {
		c.Close()
	}
	taken, err := New(Config{Role: result.Remote, Test: e.(*loadedTest).cfg.Test, Window: testWindow, CPU: -1, Addr: tr.addr, Port: at.Port()})
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := taken.Prepare(); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("a port that is in use: %v", err)
	}
	// A range of which every TCP port but one is in use.
	const ports = 4
	base := takenRange(t, tr.addr, ports)
	ranged, err := New(Config{Role: result.Remote, Test: e.(*loadedTest).cfg.Test, Window: testWindow, CPU: -1, Addr: tr.addr,
		PortMin: base, PortMax: base + ports - 1})
	if err != nil {
		t.Fatal(err)
	}
	defer ranged.Close()
	if port, err := ranged.Prepare(); err != nil || port != base+ports-1 {
		t.Errorf("port %d, %v; only %d is free", port, err, base+ports-1)
	}
}

// takenRange is the first of n ports of which, until the test ends, it has all
// but the last, which is free for TCP.
func takenRange(t *testing.T, addr netip.Addr, n uint16) uint16 {
	t.Helper()
	for base := uint16(20000); base < 30000; base += n {
		var taken []net.Listener
		for i := range n {
			l, err := net.Listen("tcp", netip.AddrPortFrom(addr, base+i).String())
			if err != nil {
				break
			}
			taken = append(taken, l)
		}
		free := len(taken) == int(n)
		for i, l := range taken {
			if free && i < int(n)-1 {
				t.Cleanup(func() { l.Close() })
			} else {
				l.Close()
			}
		}
		if free {
			return base
		}
	}
	t.Fatal("no free ports")
	return 0
}

// Remote ends that nobody talks to, and local ones whose peer is not there or
// does nothing, end.
func TestLoadWithoutAPeer(t *testing.T) {
	for _, c := range loads {
		t.Run(c.test+"/"+c.load, func(t *testing.T) {
			tr := trial{test: c.test, params: spec.Params{Load: c.load}, addr: loopbacks["ipv4"], warmup: testWarmup, window: testWindow}
			e, _ := tr.engine(t, result.Remote)
			if err := e.Arm(netip.AddrPortFrom(tr.addr, 9)); err != nil {
				t.Fatal(err)
			}
			done := start(e)
			e.Stop()
			if end := finish(t, done); end.Messages != 0 || end.Counts[result.CountLoadBytes] != 0 || !warned(end, WarnNoTraffic) {
				t.Errorf("figures without traffic: %+v", end)
			}
		})
	}
}

// Stop comes while all flows.
func TestLoadStopped(t *testing.T) {
	t.Parallel()
	for _, c := range loads {
		t.Run(c.test+"/"+c.load, func(t *testing.T) {
			t.Parallel()
			tr := trial{test: c.test, params: spec.Params{Load: c.load}, addr: loopbacks["ipv4"], window: time.Second / 2}
			local, remote := tr.ends(t)
			localDone, remoteDone := start(local), start(remote)
			stopped := make(chan struct{})
			time.AfterFunc(loadLead+50*time.Millisecond, func() {
				remote.Stop()
				close(stopped)
			})
			wait(t, remoteDone) // an error where a connection has gone
			<-stopped           // before Close
			wait(t, localDone)
		})
	}
}

// Close comes at any step before Run.
func TestLoadClosed(t *testing.T) {
	for _, c := range loads {
		for _, role := range []string{result.Local, result.Remote} {
			for steps := range 3 {
				e, err := New(Config{Role: role, Test: spec.Test{Name: c.test, Params: spec.Params{Load: c.load}},
					Window: testWindow, CPU: -1, Addr: loopbacks["ipv4"]})
				if err != nil {
					t.Fatal(err)
				}
				if steps > 0 {
					if _, err := e.Prepare(); err != nil {
						t.Error(err)
					}
				}
				if steps > 1 {
					// Nothing listens there: a local end of TCP says so.
					if err := e.Arm(netip.AddrPortFrom(loopbacks["ipv4"], 9)); err != nil && role == result.Remote {
						t.Error(err)
					}
					e.Stop()
				}
				if err := e.Close(); err != nil {
					t.Errorf("%s beside %s, %s, %d steps: %v", c.load, c.test, role, steps, err)
				}
			}
		}
	}
}
