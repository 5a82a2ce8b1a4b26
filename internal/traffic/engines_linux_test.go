package traffic

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

const (
	testWarmup = 5 * time.Millisecond
	testWindow = 25 * time.Millisecond
)

func TestRoundTrips(t *testing.T) {
	sizes := []spec.Params{
		{Size: 1}, {Size: 7}, {Size: 8}, {Size: 9}, {Size: 1400}, {Size: 65507},
		{Request: 1, Response: 8}, {Response: 65507},
	}
	large := []spec.Params{
		{Size: 1 << 20}, {Request: 8 << 20, Response: 3}, {Request: 1, Response: 8 << 20},
		{Size: 1 << 20, SndBuf: 4096, RcvBuf: 4096},
	}
	for _, c := range []struct {
		test  string
		sizes []spec.Params
	}{{"udp_rr", sizes}, {"tcp_rr", append(sizes, large...)}} {
		for _, p := range c.sizes {
			t.Run(fmt.Sprintf("%s/%+v", c.test, p), func(t *testing.T) {
				eachFamily(t, func(t *testing.T, addr netip.Addr) {
					window := testWindow
					if max(p.Size, p.Request, p.Response) >= 1<<20 {
						// One round trip must not be a large part of it.
						window *= 10
					}
					local, remote := trial{test: c.test, params: p, addr: addr, warmup: testWarmup, window: window}.runFull(t)
					checkRoundTrips(t, spec.Test{Name: c.test, Params: p}, local, remote)
				})
			})
		}
	}
}

// checkRoundTrips checks what holds on a path that loses nothing.
func checkRoundTrips(t *testing.T, test spec.Test, local, remote result.End) {
	t.Helper()
	both := int64(test.RequestSize() + test.ResponseSize())
	if local.Bytes != both*local.Messages || remote.Bytes != both*remote.Messages {
		t.Errorf("%d and %d bytes in %d and %d round trips of %d", local.Bytes, remote.Bytes, local.Messages, remote.Messages, both)
	}
	if got := local.RTT.Count(); got != local.Messages {
		t.Errorf("%d samples of %d round trips", got, local.Messages)
	}
	// One round trip begins where another ends, so their sum is the window.
	if sum := local.RTT.Mean() * float64(local.Messages); sum < 0.999*float64(local.Elapsed) || sum > 1.001*float64(local.Elapsed) {
		t.Errorf("round trips sum up to %v of %v", time.Duration(sum), local.Elapsed)
	}
	if sent := local.Counts[CountSent]; sent != local.Messages+local.Counts[CountLost]+local.Counts[CountLate] {
		t.Errorf("sent is not messages + lost + late: %d messages, %v", local.Messages, local.Counts)
	}
	if local.Counts[CountLost]+local.Counts[CountStale]+local.Counts[CountLate] != 0 {
		t.Errorf("counts on a path that loses nothing: %v", local.Counts)
	}
}

func TestNoWarmup(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr", "udp_stream", "tcp_stream"} {
		t.Run(test, func(t *testing.T) {
			trial{test: test, addr: loopbacks["ipv4"], window: testWindow}.runFull(t)
		})
	}
}

// TestNobodyComes stops remote ends that no local end has talked to.
func TestNobodyComes(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr", "udp_stream", "tcp_stream"} {
		t.Run(test, func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				tr := trial{test: test, addr: addr, warmup: testWarmup, window: testWindow}
				e, _ := tr.engine(t, result.Remote)
				if err := e.Arm(netip.AddrPortFrom(addr, 9)); err != nil {
					t.Fatal(err)
				}
				done := start(e)
				e.Stop()
				end := finish(t, done)
				if end.Messages != 0 || end.Bytes != 0 || end.Elapsed != 0 {
					t.Errorf("figures without traffic: %+v", end)
				}
				if !warned(end, WarnNoTraffic) {
					t.Errorf("no warning %s: %v", WarnNoTraffic, end.Warnings)
				}
			})
		})
	}
}

// TestNobodyAnswers runs local ends whose peer's socket is bound, but read by
// nobody, and ones whose peer's port is closed.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		for _, test := range []string{"udp_rr", "udp_stream"} {
			t.Run(fmt.Sprintf("%s/closed=%v", test, closed), func(t *testing.T) {
				t.Parallel()
				eachFamily(t, func(t *testing.T, addr netip.Addr) {
					t.Parallel()
					tr := trial{test: test, addr: addr, warmup: testWarmup, window: testWindow}
					local, remote := tr.ends(t)
					if closed {
						if err := remote.Close(); err != nil {
							t.Fatal(err)
						}
					}
					began := time.Now()
					end := finish(t, start(local))
					if took := time.Since(began); took > 2*time.Second {
						t.Errorf("took %v", took)
					}
					if test == "udp_rr" {
						if end.Messages != 0 || end.RTT.Count() != 0 || !warned(end, WarnNoTraffic) {
							t.Errorf("figures without answers: %+v", end)
						}
						if end.Counts[CountSent] != end.Counts[CountLost] {
							t.Errorf("not all lost: %v", end.Counts)
						}
					} else if closed && end.Counts[CountSendErrors] == 0 {
						t.Errorf("no send errors at a closed port: %v", end.Counts)
					}
				})
			})
		}
	}
}

func TestConnectFails(t *testing.T) {
	eachFamily(t, func(t *testing.T, addr netip.Addr) {
		tr := trial{test: "tcp_rr", addr: addr, window: testWindow}
		remote, at := tr.engine(t, result.Remote)
		remote.Close()
		local, _ := tr.engine(t, result.Local)
		if err := local.Arm(at); err == nil {
			t.Error("connected to a closed port")
		}
	})
}
