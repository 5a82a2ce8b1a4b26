package traffic

import (
	"errors"
	"math"
	"net/netip"
	"testing"
	"time"

	"netdelta/internal/counters/trace"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stages"
)

// needWatching skips a test where messages can't be watched in that way.
func needWatching(t *testing.T, how string) {
	t.Helper()
	if how == spec.ExplainBPF {
		if err := trace.Available(); err != nil {
			labtest.Skip(t, err)
		}
	}
}

// markOf says that a round trip has a mark, and when.
func markOf(t *result.SeenTrip, leg int, p result.Point) (at int64, ok bool) {
	for _, m := range t.Marks {
		if m.Leg == leg && m.Point == p {
			return m.At, true
		}
	}
	return 0, false
}

// wantSeen checks what an end saw: enough round trips (a busy machine may let far fewer
// through than its warm-up promised), numbered as they should be, that nearly all have
// the points, each after the one before.
func wantSeen(t *testing.T, e *result.End, by string, least int, points ...[2]int) {
	t.Helper()
	s := e.Seen
	if s == nil {
		t.Errorf("%s saw nothing", e.Role)
		return
	}
	if s.By != by || len(s.Trips) < least || s.Lost != 0 || len(s.Missing) > 0 {
		t.Errorf("%s: seen by %s %d round trips, %d events lost; want by %s %d or more: %v", e.Role, s.By, len(s.Trips), s.Lost, by, least, s.Missing)
	}
	lacking := 0
	for i := range s.Trips {
		trip := &s.Trips[i]
		if trip.N%s.Every != 0 || i > 0 && trip.N <= s.Trips[i-1].N {
			t.Errorf("round trip %d where one in %d is watched", trip.N, s.Every)
			return
		}
		last := int64(-1 << 62)
		for _, p := range points {
			at, ok := markOf(trip, p[0], result.Point(p[1]))
			if !ok || at < last {
				lacking++
				break
			}
			last = at
		}
	}
	// Where one CPU has both ends, a request may be there before it is known that it is
	// to be watched.
	if most := map[string]int{result.Local: 1 + len(s.Trips)/5, result.Remote: 1 + len(s.Trips)*4/5}[e.Role]; lacking > most {
		t.Errorf("%s: %d of %d round trips lack points or have them in another order: %+v", e.Role, lacking, len(s.Trips), s.Trips[0])
	}
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
}

func point(leg int, p result.Point) [2]int { return [2]int{leg, int(p)} }

// TestWatched has round trips over loopback watched in each way.
func TestWatched(t *testing.T) {
	const request, answer = result.LegRequest, result.LegAnswer
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		eachFamily(t, func(t *testing.T, addr netip.Addr) {
			t.Run(test, func(t *testing.T) {
				run := func(t *testing.T, how string) (local, remote result.End) {
					needWatching(t, how)
					return trial{test: test, params: spec.Params{Size: 100, Explain: how}, addr: addr, warmup: testWarmup, window: 2 * testWindow}.runFull(t)
				}
				t.Run(spec.ExplainClock, func(t *testing.T) {
					local, remote := run(t, spec.ExplainClock)
					wantSeen(t, &local, result.SeenByClock, 3)
					wantSeen(t, &remote, result.SeenByClock, 3, point(request, result.PointReturn), point(answer, result.PointCall))
				})
				t.Run(spec.ExplainStamps, func(t *testing.T) {
					local, remote := run(t, spec.ExplainStamps)
					wantSeen(t, &local, result.SeenByStamps, 3, point(request, result.PointQueue), point(request, result.PointXmit), point(answer, result.PointStack))
					wantSeen(t, &remote, result.SeenByStamps, 3, point(request, result.PointStack), point(request, result.PointReturn), point(answer, result.PointCall),
						point(answer, result.PointQueue), point(answer, result.PointXmit))
				})
				t.Run(spec.ExplainBPF, func(t *testing.T) {
					local, remote := run(t, spec.ExplainBPF)
					wantSeen(t, &local, result.SeenByBPF, 3, point(request, result.PointEnter), point(request, result.PointQueue), point(request, result.PointXmit),
						point(answer, result.PointStack), point(answer, result.PointReady), point(answer, result.PointLeave))
					wantSeen(t, &remote, result.SeenByBPF, 3, point(request, result.PointStack), point(request, result.PointReady), point(request, result.PointReturn),
						point(answer, result.PointCall), point(answer, result.PointQueue), point(answer, result.PointXmit))
				})
			})
		})
	}
}

// TestWatchedEcho has the kernel's answers watched, which have no far end.
func TestWatchedEcho(t *testing.T) {
	for _, how := range []string{spec.ExplainStamps, spec.ExplainBPF} {
		t.Run(how, func(t *testing.T) {
			needWatching(t, how)
			for name, addr := range loopbacks {
				inNetNS(t, true, func() error {
					end, err := watchedEcho(addr, how)
					if err != nil {
						return err
					}
					points := [][2]int{point(result.LegRequest, result.PointXmit), point(result.LegAnswer, result.PointStack)}
					if how == spec.ExplainBPF { // of both hosts, since they are one
						points = [][2]int{point(result.LegRequest, result.PointXmit), point(result.LegRequest, result.PointStack),
							point(result.LegAnswer, result.PointXmit), point(result.LegAnswer, result.PointStack)}
					}
					t.Log(name, len(end.Seen.Trips))
					wantSeen(t, &end, how, 3, points...)
					return nil
				})
			}
		})
	}
}

func watchedEcho(addr netip.Addr, how string) (end result.End, err error) {
	e, err := New(Config{Role: result.Local, Test: spec.Test{Name: "icmp_echo", Params: spec.Params{Size: 56, Explain: how}},
		Warmup: testWarmup, Window: testWindow, CPU: -1, Addr: addr, OneMachine: true})
	if err != nil {
		return end, err
	}
	if _, err = e.Prepare(); err == nil {
		err = e.Arm(netip.AddrPortFrom(addr, 0))
	}
	if err == nil {
		end, err = e.Run()
	}
	return end, errors.Join(err, e.Close())
}

// TestUnwatched has nothing seen where it was not asked for.
func TestUnwatched(t *testing.T) {
	local, remote := trial{test: "udp_rr", addr: loopbacks["ipv4"], warmup: testWarmup, window: testWindow}.runFull(t)
	if local.Seen != nil || remote.Seen != nil {
		t.Errorf("seen: %v, %v", local.Seen, remote.Seen)
	}
}

// TestWatcherPlans has as many watched as there is room for, whatever the warm-up said.
func TestWatcherPlans(t *testing.T) {
	w := watcher{on: true, window: int64(time.Second), room: make([]sighting, 0, result.MaxSeen)}
	w.start(1)
	for range 1000 {
		w.step()
	}
	w.begin(1 + int64(time.Second)) // 1000 in a second, and then 100 times as many
	n := 0
	for range 100_000 {
		if w.step() {
			n++
			w.now = sighting{n: w.count}
			w.keep(true)
			w.plan()
		}
	}
	if len(w.room) > result.MaxSeen || len(w.room) < result.MaxSeen/2-1 || n > 12*result.MaxSeen {
		t.Errorf("%d of %d watched are kept, one in %d", len(w.room), n, w.every)
	}
	for _, s := range w.room {
		if s.n%w.every != 0 {
			t.Errorf("round trip %d is kept, one in %d", s.n, w.every)
		}
	}
}

// TestWatcherNumbers follows the numbers that requests bear in a byte or two, past lost
// and repeated ones.
func TestWatcherNumbers(t *testing.T) {
	w := watcher{on: true, next: never}
	for _, c := range []struct {
		number uint64 // of the request that came
		width  int
	}{{1, 1}, {2, 1}, {5, 1}, {4, 1}, {100, 1}, {200, 1}, {255, 1}, {256, 1}, {300, 1}, {65535, 2}, {65536, 2}, {65540, 2}, {70000, 8}} {
		w.answeredOne(c.number&(1<<(8*min(c.width, 7))-1), c.width)
		if c.width == 1 && c.number > 300 {
			continue
		}
		if c.number <= 300 && w.count != int64(c.number) {
			t.Errorf("%d is taken for %d", c.number, w.count)
		}
	}
	if w.count != 70000 {
		t.Errorf("a whole number is taken for %d", w.count)
	}
}

// TestClocksOfOneMachine takes what two ends saw as if they were two hosts: their clocks
// are one, so the offset that the round trips tell is 0, as well as they can know it.
func TestClocksOfOneMachine(t *testing.T) {
	for _, how := range []string{spec.ExplainClock, spec.ExplainStamps, spec.ExplainBPF} {
		t.Run(how, func(t *testing.T) {
			needWatching(t, how)
			test, err := spec.NewTest("udp_rr", spec.Params{Size: 100, Explain: how})
			if err != nil {
				t.Fatal(err)
			}
			local, remote := trial{test: test.Name, params: test.Params, addr: loopbacks["ipv4"], warmup: testWarmup, window: 2 * testWindow}.runFull(t)
			tables := stages.Build([]stages.Of{{Trial: &result.Trial{Test: test, Local: local, Remote: &remote}}}, true)
			if len(tables) != 1 {
				t.Fatalf("%d tables", len(tables))
			}
			v := &tables[0].Variants[0]
			if v.Clock == nil || max(v.Clock.Offset, -v.Clock.Offset) > v.Clock.Error || v.Clock.Error > int64(v.TotalNS) {
				t.Errorf("the clocks: %+v, of a round trip of %v ns", v.Clock, v.TotalNS)
			}
			sum := 0.0
			for _, ns := range v.PartsNS {
				sum += ns
			}
			if math.Abs(sum-v.TotalNS) > 0.01 {
				t.Errorf("stages of %v ns in a round trip of %v", sum, v.TotalNS)
			}
		})
	}
}
