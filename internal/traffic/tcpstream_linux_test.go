//go:build !portable

package traffic

import (
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func TestTCPMaerts(t *testing.T) {
	for _, size := range []int{1, 128 << 10, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				local, remote := trial{test: "tcp_maerts", params: spec.Params{Size: size}, addr: addr,
					warmup: testWarmup, window: testWindow}.runFull(t)
				wantCounts(t, local, CountReceiveCalls)
				wantCounts(t, remote, CountRetransmits, CountSendCalls)
				if local.Bytes == 0 || remote.Bytes == 0 || local.Counts[CountReceiveCalls] == 0 || remote.Counts[CountSendCalls] == 0 {
					t.Errorf("%+v and %+v", local, remote)
				}
				if off := remote.Bytes - remote.Messages*int64(size); off < -int64(size) || off > int64(size) {
					t.Errorf("%d bytes in %d messages of %d", remote.Bytes, remote.Messages, size)
				}
			})
		})
	}
}

func TestTCPBidir(t *testing.T) {
	eachFamily(t, func(t *testing.T, addr netip.Addr) {
		tr := trial{test: "tcp_bidir", params: spec.Params{Size: 100_000}, addr: addr, warmup: testWarmup, window: 2 * testWindow}
		l, r := tr.ends(t)
		remoteDone := start(r)
		local := finish(t, start(l))
		r.Stop()
		remote := finish(t, remoteDone)
		for _, e := range []result.End{local, remote} {
			wantCounts(t, e, CountRetransmits, CountSendCalls, CountReceiveCalls, result.CountReceivedBytes, result.CountReceivedElapsed)
			if e.Bytes == 0 || e.Counts[result.CountReceivedBytes] == 0 || e.Counts[result.CountReceivedElapsed] == 0 {
				t.Errorf("%+v", e)
			}
			if err := e.Validate(); err != nil {
				t.Error(err)
			}
		}
		if local.Elapsed < tr.window {
			t.Errorf("window of %v, want %v", local.Elapsed, tr.window)
		}
		// Over the whole trial: all that the local end sent has come, and no more
		// came back than was sent.
		there, back := l.(*tcpLocal).halves, r.(*tcpRemote).halves
		if sent, came := there[0].(*outgoing).meter.bytes, back[1].(*incoming).meter.bytes; sent != came {
			t.Errorf("%d bytes sent, %d came", sent, came)
		}
		if sent, came := back[0].(*outgoing).meter.bytes, there[1].(*incoming).meter.bytes; came == 0 || came > sent {
			t.Errorf("%d bytes sent back, %d came", sent, came)
		}
	})
}

// TestTCPFlows shares flows out to threads of their own, and to fewer.
func TestTCPFlows(t *testing.T) {
	for _, test := range []string{"tcp_stream", "tcp_maerts"} {
		for _, p := range []spec.Params{{Flows: 2, Threads: 2}, {Flows: 5}, {Flows: 5, Threads: 2}, {Flows: 300, Threads: 3}} {
			t.Run(fmt.Sprintf("%s/%d flows in %d threads", test, p.Flows, p.Threads), func(t *testing.T) {
				eachFamily(t, func(t *testing.T, addr netip.Addr) {
					p := p
					p.Size = 3000
					tr := trial{test: test, params: p, addr: addr, warmup: testWarmup, window: 2 * testWindow}
					l, r := tr.ends(t)
					remoteDone := start(r)
					local := finish(t, start(l))
					r.Stop()
					remote := finish(t, remoteDone)
					if local.Bytes == 0 || remote.Bytes == 0 {
						t.Errorf("%+v and %+v", local, remote)
					}
					// Every flow has carried something, all trial long.
					if warned(local, WarnIdleFlows) || warned(remote, WarnIdleFlows) {
						t.Errorf("idle flows: %+v and %+v", local.Warnings, remote.Warnings)
					}
					sent, came := total(l.(*tcpLocal).halves), total(r.(*tcpRemote).halves)
					if test == "tcp_maerts" {
						sent, came = came, sent
					} else if sent != came {
						t.Errorf("%d bytes sent, %d came", sent, came)
					}
					if came == 0 || came > sent {
						t.Errorf("%d bytes sent, %d came", sent, came)
					}
				})
			})
		}
	}
}

// total is the bytes of a whole trial.
func total(all []half) (n int64) {
	for _, h := range all {
		switch h := h.(type) {
		case *outgoing:
			n += h.meter.bytes
		case *incoming:
			n += h.meter.bytes
		case *manyOut:
			n += h.sending.meter.bytes
		case *manyIn:
			n += h.receiving.meter.bytes
		}
	}
	return n
}

// TestTCPFlowsAreTurnedAwayOnlyIfStrange has a stranger of the same host take
// no place of a flow from the port that is known.
func TestTCPFlowsAreTurnedAwayOnlyIfStrange(t *testing.T) {
	addr := loopbacks["ipv4"]
	tr := trial{test: "tcp_bidir", addr: addr, warmup: testWarmup, window: testWindow}
	remote, at := tr.engine(t, result.Remote)
	local, from := tr.engine(t, result.Local)
	stranger, _ := trial{test: "tcp_stream", params: spec.Params{Flows: 3, Threads: 3}, addr: addr, window: testWindow}.engine(t, result.Local)
	if err := remote.Arm(from); err != nil {
		t.Fatal(err)
	}
	if err := stranger.Arm(at); err != nil {
		t.Fatal(err)
	}
	if err := local.Arm(at); err != nil {
		t.Fatal(err)
	}
	if all, err := remote.(*tcpRemote).accepted.wait(); !all || err != nil {
		t.Fatalf("all have come: %v, %v", all, err)
	}
	conns := remote.(*tcpRemote).accepted.conns
	if peer := peerOf(t, conns[0]); peer != from {
		t.Errorf("the first connection is from %v, want %v", peer, from)
	}
	if peer := peerOf(t, conns[1]); peer == from || peer.Addr() != from.Addr() {
		t.Errorf("the second connection is from %v", peer)
	}
}

// TestTCPPaced sends at a fixed rate: each slot of the window has a message or
// was missed.
func TestTCPPaced(t *testing.T) {
	for _, test := range []string{"tcp_stream", "tcp_maerts"} {
		for name, p := range map[string]spec.Params{
			"messages": {Size: 1000, Rate: 2000}, "bits": {Size: 1000, BitRate: 16_000_000}, "catch up": {Size: 1000, Rate: 2000, CatchUp: spec.On},
		} {
			t.Run(test+"/"+name, func(t *testing.T) {
				local, remote := trial{test: test, params: p, addr: loopbacks["ipv6"], warmup: testWarmup, window: 4 * testWindow}.runFull(t)
				end := local
				if test == "tcp_maerts" {
					end = remote
				}
				wantCounts(t, end, CountRetransmits, CountSendCalls, result.CountSlots, result.CountMissed)
				slots, missed := end.Counts[result.CountSlots], end.Counts[result.CountMissed]
				// A slot may be late by a millisecond or so before it counts.
				const late = 4
				if want := int64(2000 * end.Elapsed.Seconds()); p.CatchUp == "" && (slots < want-late || slots > want+late) {
					t.Errorf("%d slots in %v, want %d", slots, end.Elapsed, want)
				}
				if sent := slots - missed; end.Messages < sent-1 || end.Messages > sent+1 || end.Messages == 0 {
					t.Errorf("%d messages in %d slots, %d of them missed", end.Messages, slots, missed)
				}
				if p.CatchUp != "" && missed != 0 {
					t.Errorf("%d slots were missed that were to be caught up with", missed)
				}
			})
		}
	}
}

// TestTCPPacedToAPeerThatReadsNothing misses what does not fit into buffers.
func TestTCPPacedToAPeerThatReadsNothing(t *testing.T) {
	t.Parallel()
	tr := trial{test: "tcp_stream", params: spec.Params{Size: 1 << 20, Rate: 1000, SndBuf: 4096, RcvBuf: 4096}, addr: loopbacks["ipv4"],
		window: 4 * testWindow}
	l, _ := tr.ends(t)
	end := finish(t, start(l))
	slots, missed := end.Counts[result.CountSlots], end.Counts[result.CountMissed]
	if want := int64(1000 * end.Elapsed.Seconds()); slots < want-3 || slots > want+3 || missed < slots-2 {
		t.Errorf("%d of %d slots missed in %v", missed, slots, end.Elapsed)
	}
}

// TestTCPPacingOption: SO_MAX_PACING_RATE holds TCP back by itself. A receiver
// that could not run when its window began finds more in the socket than came
// in the window, so that one trial of several has to be right.
func TestTCPPacingOption(t *testing.T) {
	const bits, attempts = 40_000_000, 5
	for test, flows := range map[string]int{"tcp_stream": 3, "tcp_maerts": 1} {
		most := 1.1 * bits * float64(flows)
		got := most + 1
		for i := 0; i < attempts && got > most; i++ {
			local, remote := trial{test: test, params: spec.Params{Size: 4096, Pacing: bits, Flows: flows, SndBuf: 64 << 10}, addr: loopbacks["ipv4"],
				warmup: 4 * testWindow, window: 8 * testWindow}.runFull(t)
			end := remote
			if test == "tcp_maerts" {
				end = local
			}
			got = 8 * float64(end.Bytes) / end.Elapsed.Seconds()
		}
		if got > most {
			t.Errorf("%s, %d flows: %.0f bit/s, want at most %.0f", test, flows, got, most)
		}
	}
}

// TestTCPLoopsAllocateNothing is TestLoopsAllocateNothing for streams of every
// direction.
func TestTCPLoopsAllocateNothing(t *testing.T) {
	for text, once := range map[string]int64{
		"tcp_maerts size=1000": 300, "tcp_bidir size=1000": 300, "tcp_stream size=1000 rate=50000": 300,
		"tcp_stream size=1000 flows=4": 500, "tcp_maerts size=1000 flows=4": 500,
	} {
		t.Run(text, func(t *testing.T) {
			tests, err := spec.ParseTests(text, nil)
			if err != nil {
				t.Fatal(err)
			}
			var allocated, messages int64
			for range 10 { // a busy machine may let too few messages through
				l, r := trial{test: tests[0].Name, params: tests[0].Params, addr: loopbacks["ipv4"], warmup: testWarmup, window: 4 * testWindow}.ends(t)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				remoteDone := start(r)
				local := finish(t, start(l))
				r.Stop()
				remote := finish(t, remoteDone)
				runtime.ReadMemStats(&after)
				calls := func(e result.End) int64 { return e.Counts[CountSendCalls] + e.Counts[CountReceiveCalls] }
				allocated, messages = int64(after.Mallocs-before.Mallocs), calls(local)+calls(remote)
				if messages >= 4*once {
					break
				}
			}
			if messages < 4*once || allocated > once {
				t.Errorf("%d objects were allocated for %d calls", allocated, messages)
			}
		})
	}
}

// TestTCPLimits ends windows with a count of messages, and of bytes.
func TestTCPLimits(t *testing.T) {
	for _, test := range []string{"tcp_stream", "tcp_maerts", "tcp_bidir"} {
		for _, p := range []spec.Params{{Size: 5000, Count: 40}, {Size: 5000, Bytes: 200_000}} {
			began := time.Now()
			local, remote := trial{test: test, params: p, addr: loopbacks["ipv4"], window: 10 * time.Second}.run(t)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s %+v took %v", test, p, took)
			}
			if local.Bytes < 190_000 || remote.Bytes < 190_000 {
				t.Errorf("%s %+v: %d and %d bytes", test, p, local.Bytes, remote.Bytes)
			}
		}
	}
}

func TestWatchedIntervals(t *testing.T) {
	for text, live := range map[string]bool{
		"tcp_stream": true, "tcp_maerts": true, "tcp_bidir": true,
		"tcp_stream flows=3": true, "tcp_stream flows=2 threads=2": false,
	} {
		tests, err := spec.ParseTests(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range []string{result.Local, result.Remote} {
			tr := trial{test: tests[0].Name, params: tests[0].Params, addr: loopbacks["ipv4"], window: time.Second, interval: time.Second / 4}
			e, _ := tr.engine(t, role)
			if got := e.Intervals() != nil; got != live {
				t.Errorf("%s: the %s end can be watched: %v", text, role, got)
			}
		}
	}
}

func TestCloseWithoutRun(t *testing.T) {
	for _, test := range []string{"tcp_stream", "tcp_maerts", "tcp_bidir"} {
		for _, role := range []string{result.Local, result.Remote} {
			tr := trial{test: test, addr: loopbacks["ipv4"], window: testWindow}
			e, _ := tr.engine(t, role)
			if err := e.Close(); err != nil {
				t.Errorf("%s %s: %v", test, role, err)
			}
		}
		tr := trial{test: test, addr: loopbacks["ipv4"], window: testWindow}
		l, r := tr.ends(t)
		for _, e := range []Engine{l, r} {
			if err := e.Close(); err != nil {
				t.Errorf("%s: %v", test, err)
			}
		}
		if conns := l.(*tcpLocal).conns; slices.ContainsFunc(conns, func(s *socket) bool { return s.Sock >= 0 }) {
			t.Errorf("%s: connections are left", test)
		}
	}
}
