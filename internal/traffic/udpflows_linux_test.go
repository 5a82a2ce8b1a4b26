package traffic

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func TestUDPFlows(t *testing.T) {
	for _, p := range []spec.Params{
		{Flows: 2}, {Flows: 5, Threads: 3, Size: 1}, {Flows: 3, Threads: 3, Send: "gso", Recv: "gro"},
		{Flows: 4, Threads: 2, Send: "sendmmsg", Recv: "recvmmsg"}, {Flows: 2, Threads: 2, Recv: "trunc"},
		{Flows: 4, Send: "gso", Recv: "gro"}, {Flows: 300, Threads: 2, Size: 8},
	} {
		if p.Size == 0 {
			p.Size = 1000
		}
		t.Run(udpName(p), func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				needMethods(t, p)
				local, remote := udpTrial(p, addr).runUDP(t)
				if stray, counted := remote.Counts[CountStray]; stray != 0 || !counted {
					t.Errorf("%d datagrams from elsewhere", stray)
				}
				delete(remote.Counts, CountStray)
				checkUDPStream(t, p.Size, local, remote)
				checkWholeTrial(t, p, local, remote)
			})
		})
	}
}

// TestFlowsAreSharedOutEvenly has each receiving thread get the flows that are
// its own.
func TestFlowsAreSharedOutEvenly(t *testing.T) {
	eachFamily(t, func(t *testing.T, addr netip.Addr) {
		const flows, threads = 12, 4
		local, remote := udpTrial(spec.Params{Size: 100, Flows: flows, Threads: threads}, addr).ends(t)
		for i, p := range local.(*udpFlows).parts {
			if len(p.flows) != flows/threads {
				t.Errorf("thread %d sends %d flows of %d", i, len(p.flows), flows)
			}
		}
		done := start(remote)
		finish(t, start(local))
		remote.Stop()
		finish(t, done)
		for i, p := range remote.(*udpFlowReceiver).parts {
			got := 0
			for port, place := range p.ports[:] {
				if place != 0 {
					got++
					if port%threads != i {
						t.Errorf("thread %d got port %d", i, port)
					}
				}
			}
			if got != flows/threads {
				t.Errorf("thread %d received %d flows of %d", i, got, flows)
			}
		}
	})
}

// TestStrayDatagramsAreLeftOut sends from more ports, and from another address,
// than the test has.
func TestStrayDatagramsAreLeftOut(t *testing.T) {
	const flows = 2
	for _, recv := range []string{"recv", "recvmmsg", "trunc", "gro"} {
		p := spec.Params{Size: 8, Flows: flows, Threads: 1, Recv: recv}
		if recv == "trunc" {
			p.Threads = 2
		}
		t.Run(recv, func(t *testing.T) {
			needMethods(t, p)
			receiver, at := udpTrial(p, loopbacks["ipv4"]).engine(t, result.Remote)
			var senders []*net.UDPConn
			for range flows + 1 {
				s := listenUDP(t, at.Addr())
				defer s.Close()
				senders = append(senders, s)
			}
			other := listenUDP(t, netip.MustParseAddr("127.0.0.2"))
			defer other.Close()
			peer := netip.MustParseAddrPort(senders[0].LocalAddr().String())
			if err := receiver.Arm(peer); err != nil {
				t.Fatal(err)
			}
			mark, b := newStreamMark(8), make([]byte, 8)
			send := func(s *net.UDPConn, seq uint64) {
				mark.put(b, seq)
				if _, err := s.WriteToUDPAddrPort(b, at); err != nil {
					t.Fatal(err)
				}
			}
			send(other, 0)
			// With two threads the ports decide which one gets a datagram: all
			// flows are known before the one that is none comes to any.
			for seq := range uint64(3) {
				for _, s := range senders[:flows] {
					send(s, seq)
				}
			}
			done := start(receiver)
			if p.Threads == 1 {
				send(senders[flows], 0)
			}
			receiver.Stop()
			end := finish(t, done)
			wantStray := int64(1)
			if p.Threads == 1 {
				wantStray++
			}
			c := end.Counts
			if c[CountStray] != wantStray || c[CountUnique] != 3*flows || c[CountReceivedAll] != 3*flows || c[CountDuplicates]+c[CountReordered] != 0 {
				t.Errorf("counts %v, want %d stray and %d of the flows", c, wantStray, 3*flows)
			}
		})
	}
}

func TestMethodsThatDoNotServeFlows(t *testing.T) {
	s := &socket{Sock: -1, what: "UDP socket"}
	cfg := Config{Test: spec.Test{Name: "udp_stream", Params: spec.Params{Size: 100, Flows: 2, Threads: 2, Recv: "uring"}}, Addr: loopbacks["ipv4"]}
	if _, err := newSourceMethod(s, cfg); err == nil || !strings.Contains(err.Error(), "uring") || !strings.Contains(err.Error(), "recvmmsg") {
		t.Errorf("receive method uring: %v", err)
	}
	e := &udpSender{method: &stalls{}}
	if err := e.share("uring"); err == nil || !strings.Contains(err.Error(), "as many threads as flows") {
		t.Errorf("send method uring: %v", err)
	}
}

// TestFlowPortsInARange has a range of ports that the flows fit into, and one
// that they don't.
func TestFlowPortsInARange(t *testing.T) {
	cfg := Config{Role: result.Local, Addr: loopbacks["ipv4"], PortMin: 42000, PortMax: 42019, Test: spec.Test{Name: "udp_stream", Params: spec.Params{Size: 8}}}
	for flows, fits := range map[int]bool{20: true, 21: false} {
		sockets, _, err := openFlowPorts(cfg, flows, 4)
		if (err == nil) != fits {
			t.Errorf("%d flows: %v", flows, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "flow 21 of 21") || !strings.Contains(err.Error(), "42000 to 42019")) {
			t.Errorf("%d flows: %v", flows, err)
		}
		for _, s := range sockets {
			s.close()
		}
	}
}

// TestFlowPortsFromAGivenOne takes it for the first flow, or says why not.
func TestFlowPortsFromAGivenOne(t *testing.T) {
	cfg := Config{Role: result.Local, Addr: loopbacks["ipv4"], Test: spec.Test{Name: "udp_stream", Params: spec.Params{Size: 8}}}
	for port, fits := range map[uint16]bool{42100: true, 42101: false, 3: false} {
		cfg.Port = port
		sockets, first, err := openFlowPorts(cfg, 8, 4)
		if (err == nil) != fits || fits && first != port {
			t.Errorf("port %d: %d, %v", port, first, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "multiple") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("port %d: %v", port, err)
		}
		for _, s := range sockets {
			s.close()
		}
	}
}
