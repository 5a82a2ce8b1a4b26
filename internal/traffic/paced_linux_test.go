package traffic

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// pacedTrial is one of round trips at a fixed rate.
func pacedTrial(test string, addr netip.Addr, p spec.Params) trial {
	return trial{test: test, params: p, addr: addr, warmup: 10 * time.Millisecond, window: 60 * time.Millisecond}
}

var pacedCounts = []string{CountSent, result.CountSlots, result.CountMissed, CountSendLateP99, CountSendLateMax}

// checkPaced checks what holds on any path.
func checkPaced(t *testing.T, tr trial, local result.End) {
	t.Helper()
	want := pacedCounts
	if tr.test != "tcp_rr" {
		want = append([]string{CountLost, CountLate, CountStale}, want...)
	}
	if tr.test == "udp_rr" {
		want = append(want, wholeCounts...)
	}
	wantCounts(t, local, want...)
	c := local.Counts
	test := spec.Test{Name: tr.test, Params: tr.params}
	if c[result.CountSlots] != c[CountSent]+c[result.CountMissed] {
		t.Errorf("slots are not sent + missed: %v", c)
	}
	if slots := test.Slots() * local.Elapsed.Seconds(); float64(c[result.CountSlots]) < slots-2 || float64(c[result.CountSlots]) > slots+2 {
		t.Errorf("%d slots in %v, want %v", c[result.CountSlots], local.Elapsed, slots)
	}
	if c[CountSent] < local.Messages+c[CountLate]+c[CountLost] || tr.test != "tcp_rr" && c[CountSent] != local.Messages+c[CountLate]+c[CountLost] {
		t.Errorf("sent is not messages + late + lost: %d messages, %v", local.Messages, c)
	}
	if got := local.RTT.Count(); got != local.Messages+c[CountLate] {
		t.Errorf("%d samples of %d round trips and %d late ones", got, local.Messages, c[CountLate])
	}
	if both := int64(test.RequestSize() + test.ResponseSize()); local.Bytes != both*local.Messages {
		t.Errorf("%d bytes in %d round trips of %d", local.Bytes, local.Messages, both)
	}
	if err := local.Validate(); err != nil {
		t.Error(err)
	}
}

// The window is as long as it should be, and has the slots of the rate, at all
// sizes.
func TestPacedRoundTrips(t *testing.T) {
	for name, c := range map[string]struct {
		test string
		p    spec.Params
	}{
		"udp":                       {"udp_rr", spec.Params{Rate: 2000, Size: 1}},
		"udp, bits and catching up": {"udp_rr", spec.Params{BitRate: 8_000_000, Size: 1000, CatchUp: spec.On}},
		"udp, large":                {"udp_rr", spec.Params{Rate: 100, Request: 20000, Response: 9}},
		"tcp":                       {"tcp_rr", spec.Params{Rate: 2000, Size: 1}},
		"tcp, catching up":          {"tcp_rr", spec.Params{Rate: 1000, Request: 3, Response: 1000, CatchUp: spec.On}},
		"tcp, large":                {"tcp_rr", spec.Params{Rate: 50, Size: 1 << 20}},
		"tcp, a few slots":          {"tcp_rr", spec.Params{Rate: 50, Size: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				tr := pacedTrial(c.test, addr, c.p)
				local, remote := tr.run(t)
				checkPaced(t, tr, local)
				if local.Messages == 0 || remote.Messages == 0 {
					t.Errorf("%d and %d round trips", local.Messages, remote.Messages)
				}
				if local.Elapsed != tr.window {
					t.Errorf("a window of %v, want %v", local.Elapsed, tr.window)
				}
				if got := local.Messages + local.Counts[CountLate]; got != local.Counts[CountSent] && !warned(local, WarnUnfinished) {
					t.Errorf("of %d requests %d were answered", local.Counts[CountSent], got)
				}
			})
		})
	}
}

// A rate that nothing can keep is missed, with and without catching up, and the
// trial is over in time.
func TestPacedTooFast(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		for _, catchUp := range []spec.Switch{spec.On, spec.Off} {
			t.Run(fmt.Sprintf("%s/%s", test, catchUp), func(t *testing.T) {
				tr := pacedTrial(test, loopbacks["ipv4"], spec.Params{Rate: spec.MaxRate, Size: 8, CatchUp: catchUp})
				began := time.Now()
				local, _ := tr.runFull(t)
				checkPaced(t, tr, local)
				if local.Counts[result.CountMissed] == 0 || local.Elapsed != tr.window {
					t.Errorf("%v in %v", local.Counts, local.Elapsed)
				}
				// A round trip runs from when it was due, not from when it was sent.
				late := local.Counts[CountSendLateMax]
				if local.RTT.Max() < late/2 || catchUp == spec.On && (late < int64(tr.window/2) || !warned(local, WarnSenderLate)) {
					t.Errorf("sent up to %v late, the longest round trip is %v; %v", time.Duration(late), time.Duration(local.RTT.Max()), local.Warnings)
				}
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("took %v", took)
				}
			})
		}
	}
}

func TestPacedAllocatesNothing(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		t.Run(test, func(t *testing.T) {
			tr := pacedTrial(test, loopbacks["ipv4"], spec.Params{Size: 8, Rate: 40000})
			allocatesNothing(t, tr, 300, 1200, func(l, _ result.End) int64 { return l.Messages })
		})
	}
}

func TestPacedIntervals(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		tr := pacedTrial(test, loopbacks["ipv4"], spec.Params{Size: 8, Rate: 1000})
		tr.window, tr.interval = 100*time.Millisecond, 30*time.Millisecond
		local, _ := tr.runFull(t)
		checkPaced(t, tr, local)
		var messages int64
		for _, i := range local.Intervals {
			messages += i.Messages
		}
		if n := len(local.Intervals); n != 4 || messages != local.Messages || local.Intervals[n-1].At != local.Elapsed {
			t.Errorf("%s: %d messages, intervals %+v", test, local.Messages, local.Intervals)
		}
	}
}

func TestPacedEcho(t *testing.T) {
	for _, datagram := range []bool{true, false} {
		t.Run(fmt.Sprintf("datagram=%v", datagram), func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				inNetNS(t, datagram, func() error {
					tr := pacedTrial("icmp_echo", addr, spec.Params{Size: 56, Rate: 1000})
					e, err := New(Config{Role: result.Local, Test: spec.Test{Name: tr.test, Params: tr.params},
						Warmup: tr.warmup, Window: tr.window, CPU: -1, Addr: addr})
					if err != nil {
						return err
					}
					defer e.Close()
					if _, err := e.Prepare(); err != nil {
						return err
					}
					if err := e.Arm(netip.AddrPortFrom(addr, 7)); err != nil {
						return err
					}
					end, err := e.Run()
					if err != nil {
						return err
					}
					checkPaced(t, tr, end)
					if end.Messages == 0 || end.Counts[CountLost]+end.Counts[CountStale] != 0 {
						t.Errorf("%d messages, %v", end.Messages, end.Counts)
					}
					return nil
				})
			})
		})
	}
}
