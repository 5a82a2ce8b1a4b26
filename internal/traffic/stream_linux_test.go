package traffic

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func TestTCPStream(t *testing.T) {
	for _, size := range []int{1, 9, 65507, 128 << 10, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				local, remote := trial{test: "tcp_stream", params: spec.Params{Size: size}, addr: addr,
					warmup: testWarmup, window: testWindow}.runFull(t)
				wantCounts(t, local, CountRetransmits, CountSendCalls)
				wantCounts(t, remote, CountReceiveCalls)
				if local.Bytes == 0 || remote.Bytes == 0 {
					t.Errorf("%d bytes sent, %d received", local.Bytes, remote.Bytes)
				}
				// Within a message that is under way at each end of the window.
				if off := local.Bytes - local.Messages*int64(size); off < -int64(size) || off > int64(size) {
					t.Errorf("%d bytes in %d messages of %d", local.Bytes, local.Messages, size)
				}
			})
		})
	}
}

func TestUDPStream(t *testing.T) {
	for _, size := range []int{1, 2, 7, 8, 9, 1472, 65507} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				local, remote := trial{test: "udp_stream", params: spec.Params{Size: size}, addr: addr,
					warmup: testWarmup, window: testWindow}.runUDP(t)
				checkUDPStream(t, size, local, remote)
				if sent := local.Counts[CountSent]; remote.Counts[CountTotal] > sent {
					t.Errorf("%d of %d sent", remote.Counts[CountTotal], sent)
				}
			})
		})
	}
}

// TestUDPStreamDropsAtTheSocket makes the receiver's buffer so small that it
// drops: what did not come, it dropped.
func TestUDPStreamDropsAtTheSocket(t *testing.T) {
	if slices.Contains(untold, CountSocketDrops) {
		t.Skip("what a socket drops is not told")
	}
	eachFamily(t, func(t *testing.T, addr netip.Addr) {
		tr := trial{test: "udp_stream", params: spec.Params{Size: 64, RcvBuf: 2304}, addr: addr,
			warmup: testWarmup, window: testWindow}
		l, r := tr.ends(t)
		remoteDone := start(r)
		local := finish(t, start(l))
		r.Stop()
		remote := finish(t, remoteDone)
		checkUDPStream(t, 64, local, remote)
		all, drops := remote.Counts[CountSocketDropsAll], remote.Counts[CountSocketDrops]
		if sent, unique := local.Counts[CountSent], remote.Counts[CountUnique]; all == 0 || drops > all || sent > unique+all {
			t.Errorf("sent %d, came %d, the socket dropped %d, in all %d", sent, unique, drops, all)
		}
		// To the datagram, over the whole trial.
		if sent, received := local.Counts[CountSentAll], remote.Counts[CountReceivedAll]; sent != received+all {
			t.Errorf("of %d sent in all, %d were received and %d dropped", sent, received, all)
		}
	})
}

func checkUDPStream(t *testing.T, size int, local, remote result.End) {
	t.Helper()
	wantCounts(t, local, CountSent, CountSentAll, CountSendErrors, CountSendCalls)
	always := []string{CountTotal, CountReceivedAll, CountSocketDrops, CountSocketDropsAll, CountReceiveCalls}
	if numbered := size >= 3; numbered {
		always = append(always, CountUnique, CountDuplicates, CountReordered, CountDuplicatesAll, CountReorderedAll)
	}
	wantCounts(t, remote, always...)
	for _, e := range []result.End{local, remote} {
		if e.Bytes != int64(size)*e.Messages {
			t.Errorf("%s: %d messages, %d bytes", e.Role, e.Messages, e.Bytes)
		}
	}
	if local.Counts[CountSent] != local.Messages {
		t.Errorf("%d messages, %v", local.Messages, local.Counts)
	}
	c := remote.Counts
	if size >= 3 && c[CountTotal] != c[CountUnique]+c[CountDuplicates] {
		t.Errorf("total is not unique + duplicates: %v", c)
	}
	if c[CountDuplicates]+c[CountReordered]+c[CountDuplicatesAll]+c[CountReorderedAll] != 0 {
		t.Errorf("loopback neither doubles nor reorders: %v", c)
	}
	if c[CountReceivedAll] < remote.Messages || c[CountReceivedAll] < c[CountTotal] || local.Counts[CountSentAll] < local.Messages {
		t.Errorf("the whole trial has less than its window: %v, %v", local.Counts, c)
	}
	if remote.Messages > 0 && c[CountTotal] == 0 {
		t.Error("no datagram of the sender's window came")
	}
}

// TestUDPStreamSeesWhatThePathDoes sends datagrams by hand.
func TestUDPStreamSeesWhatThePathDoes(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
		// sequence numbers in the order of arrival; -1 is one outside of the
		// sender's window without a number, as earlier releases sent it
		seqs                                 []int
		unique, duplicates, reordered, total int64
	}{
		{"in order", 8, []int{-1, 0, 1, 2, 3, -1}, 4, 0, 0, 4},
		{"a gap and a lost tail", 8, []int{-1, 0, 1, 5, 6, -1}, 4, 0, 0, 4},
		{"duplicates", 8, []int{0, 0, 1, 1, 1, 2}, 3, 3, 0, 6},
		{"reordered", 8, []int{0, 2, 1, 4, 3, 5}, 6, 0, 2, 6},
		{"reordered over the tail", 8, []int{0, 2, -1, 1, -1}, 3, 0, 1, 3},
		{"three bytes, and a long gap", 3, []int{-1, 0, 2, 1, 3, 3, 1 << 22, -1}, 5, 1, 1, 6},
		// Such short numbers only seem to tell: a gap of 112 would be a
		// datagram of long ago. They count as arrivals and no more.
		{"one byte", 1, []int{-1, 0, 2, 1, 3, 3, 100, -1}, 0, 0, 0, 6},
		{"one byte, a gap of 112 and more", 1, []int{-1, 0, 1, 2, 200, 201, 500, -1}, 0, 0, 0, 6},
		{"two bytes, a gap of 28672 and more", 2, []int{-1, 0, 1, 2, 29000, 29001, -1}, 0, 0, 0, 5},
		{"nothing of the window", 8, []int{-1, -1}, 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				tr := trial{test: "udp_stream", params: spec.Params{Size: c.size}, addr: addr, window: testWindow}
				receiver, at := tr.engine(t, result.Remote)
				sender := listenUDP(t, addr)
				defer sender.Close()
				from := sender.LocalAddr().String()
				if err := receiver.Arm(netip.MustParseAddrPort(from)); err != nil {
					t.Fatal(err)
				}
				mark := newStreamMark(c.size)
				for _, seq := range c.seqs {
					b := make([]byte, c.size)
					if mark.putOutside(b, 0); seq >= 0 {
						mark.put(b, uint64(seq))
					}
					if _, err := sender.WriteToUDPAddrPort(b, at); err != nil {
						t.Fatal(err)
					}
				}
				done := start(receiver)
				receiver.Stop()
				end := finish(t, done)
				got := [4]int64{end.Counts[CountUnique], end.Counts[CountDuplicates], end.Counts[CountReordered], end.Counts[CountTotal]}
				if _, numbered := end.Counts[CountUnique]; numbered != (c.size >= 3) {
					t.Errorf("datagrams of %d bytes are counted as %v", c.size, end.Counts)
				}
				if all := end.Counts[CountReceivedAll]; all != int64(len(c.seqs)) {
					t.Errorf("%d received in all, want %d", all, len(c.seqs))
				}
				if want := [4]int64{c.unique, c.duplicates, c.reordered, c.total}; got != want {
					t.Errorf("unique, duplicates, reordered, total are %v, want %v", got, want)
				}
			})
		})
	}
}

// TestUDPStreamCountsTheWholeTrial has copies and datagrams out of order before
// the window, after it, and where it begins and ends.
func TestUDPStreamCountsTheWholeTrial(t *testing.T) {
	const warm, last = 4, 8 // the window has the numbers from 4 to 7
	tr := trial{test: "udp_stream", params: spec.Params{Size: 8}, addr: loopbacks["ipv4"], window: testWindow}
	receiver, at := tr.engine(t, result.Remote)
	sender := listenUDP(t, tr.addr)
	defer sender.Close()
	if err := receiver.Arm(netip.MustParseAddrPort(sender.LocalAddr().String())); err != nil {
		t.Fatal(err)
	}
	mark, b := newStreamMark(8), make([]byte, 8)
	for _, seq := range []uint64{1, 1, 2, 4, 3, 5, 6, 6, 8, 7, 9, 11, 10, 11} {
		if mark.putOutside(b, seq); seq >= warm && seq < last {
			mark.put(b, seq)
		}
		if _, err := sender.WriteToUDPAddrPort(b, at); err != nil {
			t.Fatal(err)
		}
	}
	done := start(receiver)
	receiver.Stop()
	c := finish(t, done).Counts
	for name, want := range map[string]int64{
		CountReceivedAll: 14, CountDuplicatesAll: 3, CountReorderedAll: 3,
		CountTotal: 5, CountUnique: 4, CountDuplicates: 1, CountReordered: 1,
	} {
		if c[name] != want {
			t.Errorf("%s is %d, want %d: %v", name, c[name], want, c)
		}
	}
}

// TestStreamToAPeerThatReadsNothing has a connection that nobody reads from.
func TestStreamToAPeerThatReadsNothing(t *testing.T) {
	t.Parallel()
	const slack = time.Second // of a machine that is busy otherwise
	for _, test := range []string{"tcp_stream", "tcp_rr"} {
		t.Run(test, func(t *testing.T) {
			t.Parallel()
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				t.Parallel()
				tr := trial{test: test, addr: addr, warmup: testWarmup, window: testWindow}
				sender, _ := tr.ends(t)
				began := time.Now()
				end := finish(t, start(sender))
				if took := time.Since(began); took > testWarmup+testWindow+unfinishedTime+hangUpTime+slack {
					t.Errorf("took %v", took)
				}
				if end.Elapsed < testWindow || end.Elapsed > testWindow+slack {
					t.Errorf("window of %v, want %v and at most one wait", end.Elapsed, testWindow)
				}
				if test == "tcp_rr" && (end.Messages != 0 || !warned(end, WarnUnfinished)) {
					t.Errorf("%d round trips, warnings %v", end.Messages, end.Warnings)
				}
			})
		})
	}
}

// TestStreamPeerGone has a peer that resets the connection.
func TestStreamPeerGone(t *testing.T) {
	for _, test := range []string{"tcp_stream", "tcp_rr"} {
		t.Run(test, func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				tr := trial{test: test, addr: addr, window: 10 * time.Second}
				sender, remote := tr.ends(t)
				if err := remote.Close(); err != nil { // with the connection in its backlog
					t.Fatal(err)
				}
				began := time.Now()
				if o := wait(t, start(sender)); o.err == nil {
					t.Errorf("no error: %+v", o.end)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// TestStrangersAreTurnedAway connects somebody else first.
func TestStrangersAreTurnedAway(t *testing.T) {
	eachFamily(t, func(t *testing.T, addr netip.Addr) {
		tr := trial{test: "tcp_stream", addr: addr, warmup: testWarmup, window: testWindow}
		remote, at := tr.engine(t, result.Remote)
		local, from := tr.engine(t, result.Local)
		stranger, _ := tr.engine(t, result.Local)
		if err := remote.Arm(from); err != nil {
			t.Fatal(err)
		}
		for _, e := range []Engine{stranger, local} {
			if err := e.Arm(at); err != nil {
				t.Fatal(err)
			}
		}
		remoteDone := start(remote)
		l := finish(t, start(local))
		remote.Stop()
		if r := finish(t, remoteDone); r.Bytes == 0 || l.Bytes == 0 {
			t.Errorf("%d bytes sent, %d received", l.Bytes, r.Bytes)
		}
	})
}

// TestStopDuringTraffic ends a remote end whose local end goes on.
func TestStopDuringTraffic(t *testing.T) {
	t.Parallel()
	const stopAfter = 50 * time.Millisecond
	for test, window := range map[string]time.Duration{
		"udp_stream": drainTime + time.Second/2, "tcp_stream": time.Second / 2,
		"udp_rr": time.Second / 4, "tcp_rr": time.Second / 4,
	} {
		t.Run(test, func(t *testing.T) {
			t.Parallel()
			tr := trial{test: test, addr: loopbacks["ipv4"], window: window}
			local, remote := tr.ends(t)
			localDone, remoteDone := start(local), start(remote)
			stopped := make(chan struct{})
			time.AfterFunc(stopAfter, func() {
				remote.Stop()
				close(stopped)
			})
			began := time.Now()
			finish(t, remoteDone)
			<-stopped // before Close
			if took := time.Since(began); took > stopAfter+drainTime+time.Second {
				t.Errorf("took %v to stop", took)
			}
			wait(t, localDone) // an error where the connection has gone
		})
	}
}

func TestBuffersAreReadBack(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr", "icmp_echo"} {
		t.Run(test, func(t *testing.T) {
			e, err := New(Config{Role: result.Local, Test: spec.Test{Name: test, Params: spec.Params{SndBuf: 1 << 30, RcvBuf: 65536}},
				Window: time.Second, Addr: loopbacks["ipv4"]})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if _, err := e.Prepare(); err != nil {
				t.Fatal(err)
			}
			s := map[string]func() *socket{
				"udp_rr":    func() *socket { return e.(*udpRRLocal).exchange.sock },
				"tcp_rr":    func() *socket { return e.(*tcpRRLocal).sock },
				"icmp_echo": func() *socket { return e.(*echo).exchange.sock },
			}[test]()
			if len(s.warnings) != 1 || s.warnings[0].Code != WarnSndBuf {
				t.Errorf("warnings %v, want one about %s", s.warnings, WarnSndBuf)
			}
			if got, err := unix.GetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_RCVBUF); err != nil || got != 2*65536 {
				t.Errorf("receive buffer %d (%v), want %d", got, err, 2*65536)
			}
		})
	}
}
