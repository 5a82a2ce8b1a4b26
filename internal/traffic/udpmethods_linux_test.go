package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// udpMethods are pairs of methods of which each occurs.
var udpMethods = []struct{ send, recv string }{
	{"write", "trunc"}, {"write", "gro"}, {"sendmmsg", "recv"}, {"sendmmsg", "recvmmsg"}, {"gso", "recv"}, {"gso", "gro"},
}

// needMethods skips a test of methods that this kernel does not have.
func needMethods(t *testing.T, p spec.Params) {
	t.Helper()
	for name, probe := range map[string]feature.Probe{"gso": feature.UDPSegment, "gro": feature.UDPGRO} {
		if p.Send == name || p.Recv == name {
			labtest.Need(t, probe)
		}
	}
}

// udpTrial is a short udp_stream trial.
func udpTrial(p spec.Params, addr netip.Addr) trial {
	return trial{test: "udp_stream", params: p, addr: addr, warmup: testWarmup, window: testWindow}
}

// udpName is how a user writes the test.
func udpName(p spec.Params) string { return spec.Test{Name: "udp_stream", Params: p}.String() }

// runUDP carries a trial out until the receiver had datagrams of the sender's
// window: of a machine that is busy otherwise it may not get one in time.
func (tr trial) runUDP(t *testing.T) (local, remote result.End) {
	t.Helper()
	for range 10 {
		if local, remote = tr.runFull(t); remote.Counts[CountTotal] > 0 {
			break
		}
	}
	return local, remote
}

// checkWholeTrial checks that every datagram of a trial over loopback was
// received or dropped at the socket. UDP_GRO drops many, and counts one.
func checkWholeTrial(t *testing.T, p spec.Params, local, remote result.End) {
	t.Helper()
	if slices.Contains(untold, CountSocketDropsAll) {
		return
	}
	sent, received, drops := local.Counts[CountSentAll], remote.Counts[CountReceivedAll], remote.Counts[CountSocketDropsAll]
	if p.Recv != "gro" && sent != received+drops {
		t.Errorf("of %d sent in all, %d were received and %d dropped", sent, received, drops)
	}
	if sent < received+drops || drops == 0 && sent != received {
		t.Errorf("of %d sent in all, %d were received, and %d times some were dropped", sent, received, drops)
	}
}

func TestUDPMethods(t *testing.T) {
	for _, m := range udpMethods {
		t.Run(m.send+"/"+m.recv, func(t *testing.T) {
			for size, family := range map[int]string{1: "ipv4", 1024: "ipv4", 65507: "ipv4", 8: "ipv6", 1472: "ipv6"} {
				t.Run(fmt.Sprint(size), func(t *testing.T) {
					p := spec.Params{Size: size, Send: m.send, Recv: m.recv}
					needMethods(t, p)
					local, remote := udpTrial(p, loopbacks[family]).runUDP(t)
					checkUDPStream(t, size, local, remote)
					checkWholeTrial(t, p, local, remote)
				})
			}
		})
	}
}

// TestMethodsSaveCalls has methods that handle many datagrams a call do so.
func TestMethodsSaveCalls(t *testing.T) {
	for _, m := range []struct{ send, recv string }{{"sendmmsg", "recvmmsg"}, {"gso", "gro"}} {
		p := spec.Params{Size: 64, Send: m.send, Recv: m.recv}
		needMethods(t, p)
		local, remote := udpTrial(p, loopbacks["ipv4"]).runFull(t)
		if calls := local.Counts[CountSendCalls]; calls < 1 || local.Messages < 10*calls {
			t.Errorf("%s: %d datagrams in %d calls", m.send, local.Messages, calls)
		}
		if calls := remote.Counts[CountReceiveCalls]; calls < 1 || calls > remote.Messages {
			t.Errorf("%s: %d datagrams in %d calls", m.recv, remote.Messages, calls)
		}
	}
}

// TestMethodsDropAtTheSocket makes the receiver's buffer so small that it drops.
func TestMethodsDropAtTheSocket(t *testing.T) {
	for _, m := range udpMethods {
		t.Run(m.send+"/"+m.recv, func(t *testing.T) {
			p := spec.Params{Size: 64, RcvBuf: 2304, Send: m.send, Recv: m.recv}
			needMethods(t, p)
			local, remote := udpTrial(p, loopbacks["ipv6"]).run(t)
			checkWholeTrial(t, p, local, remote)
			if m.send != "write" && remote.Counts[CountSocketDropsAll] == 0 {
				t.Errorf("nothing was dropped: %v", remote.Counts)
			}
		})
	}
}

// TestGSORefusesASize has datagrams that would have to go in fragments.
func TestGSORefusesASize(t *testing.T) {
	labtest.Need(t, feature.UDPSegment)
	tr := udpTrial(spec.Params{Size: 65507, Send: "gso"}, loopbacks["ipv6"])
	remote, at := tr.engine(t, result.Remote)
	local, from := tr.engine(t, result.Local)
	if err := remote.Arm(from); err != nil {
		t.Fatal(err)
	}
	err := local.Arm(at)
	const want = "send method gso: datagrams of 65507 bytes don't fit into the path's MTU of 65536, and UDP_SEGMENT makes no fragments: the largest size is 65488"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	// The largest one goes.
	tr.params.Size = 65488
	if l, r := tr.runFull(t); l.Messages == 0 || r.Messages == 0 {
		t.Errorf("%d sent, %d received", l.Messages, r.Messages)
	}
	// A path that has become like this since says the same.
	if _, err := local.Run(); err == nil || !strings.Contains(err.Error(), "65488") {
		t.Errorf("sent all the same: %v", err)
	}
}

func TestMethodsOfOtherProtocols(t *testing.T) {
	for _, test := range []string{"tcp_stream send=gso", "tcp_stream send=sendmmsg", "tcp_stream recv=gro", "tcp_stream recv=recvmmsg"} {
		if _, err := spec.ParseTests(test, nil); err == nil {
			t.Errorf("%s is a test", test)
		}
	}
}

// TestFlowsAllocateNothing is TestLoopsAllocateNothing for pairs of methods, with
// several flows, and at a rate.
func TestFlowsAllocateNothing(t *testing.T) {
	for _, p := range []spec.Params{
		{Send: "sendmmsg", Recv: "recvmmsg"}, {Send: "gso", Recv: "gro"},
		{Rate: 100_000, Send: "sendmmsg"},
		{Flows: 4, Threads: 2}, {Flows: 2, Send: "sendmmsg", Recv: "recvmmsg"},
	} {
		p.Size = 100
		t.Run(udpName(p), func(t *testing.T) {
			needMethods(t, p)
			tr := udpTrial(p, loopbacks["ipv4"])
			tr.window = 30 * time.Millisecond
			allocatesNothing(t, tr, 300, 1200, fewerMessages)
		})
	}
}

// TestHalfIsLost has a path that loses every second datagram.
func TestHalfIsLost(t *testing.T) {
	eachFamily(t, func(t *testing.T, addr netip.Addr) {
		tr := udpTrial(spec.Params{Size: 64, Rate: 2000}, addr)
		tr.window = 100 * time.Millisecond
		tr.between = func(local, remote netip.AddrPort) (netip.AddrPort, netip.AddrPort) {
			asks, answers := newRelay(t, remote, local, func(i int, datagram []byte, deliver func([]byte)) {
				if i%2 == 0 {
					deliver(datagram)
				}
			}).peers()
			return answers, asks
		}
		local, remote := tr.run(t)
		half, unique := local.Counts[CountSent]/2, remote.Counts[CountUnique]
		if unique < half-1 || unique > half+1 || unique == 0 {
			t.Errorf("of %d sent %d came, want half", local.Counts[CountSent], unique)
		}
		if remote.Counts[CountDuplicates]+remote.Counts[CountReordered] != 0 {
			t.Errorf("what was lost is no copy and in order: %v", remote.Counts)
		}
	})
}

// TestCountOfABatch ends a window in the midst of what would be a batch.
func TestCountOfABatch(t *testing.T) {
	for _, p := range []spec.Params{{Count: 1001}, {Bytes: 100100}, {Count: 7}} {
		for _, send := range []string{"write", "sendmmsg", "gso"} {
			p.Size, p.Send = 100, send
			needMethods(t, p)
			want := int64(p.Count)
			if p.Bytes != 0 {
				want = int64(p.Bytes / p.Size)
			}
			tr := udpTrial(p, loopbacks["ipv4"])
			tr.window = 5 * time.Second
			if local, _ := tr.run(t); local.Messages != want {
				t.Errorf("%+v: %d datagrams, want %d", p, local.Messages, want)
			}
		}
	}
}

// TestUDPMethodIsUnavailable has a kernel without UDP_SEGMENT.
func TestUDPMethodIsUnavailable(t *testing.T) {
	s := &socket{Sock: -1, what: "UDP socket"}
	cfg := Config{Test: spec.Test{Name: "udp_stream", Params: spec.Params{Size: 100}}, Addr: loopbacks["ipv4"]}
	for name, err := range map[string]error{
		"gso": func() error { _, err := newGSODatagram(s, cfg); return err }(),
		"gro": func() error { _, err := newGRODatagram(s, cfg); return err }(),
	} {
		if !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), "method "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
