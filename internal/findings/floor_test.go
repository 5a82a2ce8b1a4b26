package findings

import (
	"math"
	"testing"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// The four figures of a driver whose writer took 3.5 us of hardware out of each: by
// where its interrupts were handled, on two releases of a system.
func driver(t *testing.T, floor time.Duration, counts map[string]int64) world {
	return world{planOf(t, "udp_rr", "wake by=pipe at=other",
		spec.Factor{Name: "handler", Levels: []string{"loop", "filter"}}, spec.Factor{Name: "release", Levels: []string{"panther", "tiger"}}),
		func(x *result.Trial, v spec.Variant, wiggle float64) {
			if x.Test.Name == "wake" {
				rtt(x, floor, wiggle)
				return
			}
			rtt(x, map[string]time.Duration{
				"loop panther": 17100, "filter panther": 9900, "loop tiger": 10000, "filter tiger": 8000,
			}[v["handler"]+" "+v["release"]]*time.Nanosecond, wiggle)
			x.Path.Counts = counts
		}}
}

var ofAWire = map[string]int64{"wire.a_to_b.frames_in": 1000, "a.rx_packets": 1000}

func TestFloorOfADriver(t *testing.T) {
	r := driver(t, 3500, ofAWire).look(t, Floor)
	s := section(t, r, "floor_changes")
	for _, c := range []struct {
		label                   string
		measured, without, less float64 // the latter in ns
	}{
		{"handler filter against loop, release=panther", -42.1, -52.9, -7200},
		{"handler filter against loop, release=tiger", -20, -30.8, -2000},
		{"release tiger against panther, handler=loop", -41.5, -52.2, -7100},
		{"release tiger against panther, handler=filter", -19.2, -29.7, -1900},
	} {
		m, w, l := cell(t, s, c.label, "measured"), cell(t, s, c.label, "without floor"), cell(t, s, c.label, "worth")
		if !near2(m.Value, c.measured) || !near2(w.Value, c.without) || !near2(l.Value, c.less) {
			t.Errorf("%s: %v %v %v", c.label, deref(m.Value), deref(w.Value), deref(l.Value))
		}
		if w.Lo == nil || *w.Lo > *w.Value || *w.Hi < *w.Value || m.Lo == nil || l.Lo == nil {
			t.Errorf("%s: %+v", c.label, w)
		}
	}
	if got := cell(t, section(t, r, "floor"), "handler=loop release=panther", "without"); !near2(got.Value, 13600) {
		t.Errorf("without %v", deref(got.Value))
	}
	said(t, r,
		"handler filter against loop, udp_rr p50 and the wire's floor (an estimate): with release=panther -42% (-42 to -42) as measured and -53% (-53 to -53) without it, worth -7.20 us (-7.21 to -7.19); "+
			"with release=tiger -20% (-20 to -20) as measured and -31% (-31 to -31) without it, worth -2.00 us (-2.01 to -1.99).",
		"release tiger against panther, udp_rr p50 and the wire's floor (an estimate): with handler=loop -42% (-42 to -41) as measured and -52% (-52 to -52) without it, worth -7.10 us (-7.11 to -7.09); "+
			"with handler=filter -19% (-19 to -19) as measured and -30% (-30 to -30) without it, worth -1.90 us (-1.91 to -1.89).",
		"handler and release do not act independently: filter and tiger together are +38% (38 to 38) on udp_rr p50 beyond what each does by itself.")
}

func TestFloorThatIsNone(t *testing.T) {
	for _, c := range []struct {
		name   string
		floor  time.Duration
		counts map[string]int64
		beside bool
		want   string  // of the smallest figure's cell; empty for a figure
		figure float64 // ns
	}{
		{"on veth", 3500, map[string]int64{"a.rx_packets": 9}, true, "", 8000},
		{"between hosts", 3500, nil, true, "n/a (the link told nothing)", 0},
		{"nearly all of it", 7000, ofAWire, true, "n/a (the floor is 88% of it)", 0},
		{"unmeasured", 3500, ofAWire, false, "n/a (no wake test by pipe on another CPU beside)", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := driver(t, c.floor, c.counts)
			if !c.beside {
				w.plan.Beside = nil
			}
			r := w.look(t, Floor)
			got := cell(t, section(t, r, "floor"), "handler=filter release=tiger", "without")
			change := cell(t, section(t, r, "floor_changes"), "handler filter against loop, release=tiger", "without floor")
			if c.want == "" {
				if !near2(got.Value, c.figure) || !near2(change.Value, -20) {
					t.Errorf("%+v %+v", got, change)
				}
			} else if got.Value != nil || got.Text != c.want || change.Value != nil || change.Text != c.want {
				t.Errorf("%+v %+v, want %s", got, change, c.want)
			}
		})
	}
}

// Where the factors act independently, that is said.
func TestFloorWithoutInteraction(t *testing.T) {
	w := driver(t, 3500, ofAWire)
	w.make = func(x *result.Trial, v spec.Variant, wiggle float64) {
		d := 10 * time.Microsecond
		if v["handler"] == "filter" {
			d = 8 * time.Microsecond
		}
		rtt(x, d, wiggle)
	}
	r := w.look(t, Floor)
	said(t, r, "handler and release act independently on udp_rr p50, within 2%.")
	if len(r.Effects) == 0 || r.Effects[0].Verdict != compare.Same {
		t.Errorf("%+v", r.Effects)
	}
}

// An interval without the floor is as wide as that of the floor makes it.
func TestChangeWithoutAnUnsureFloor(t *testing.T) {
	in := Input{Report: &compare.Report{}}
	a, b := make([]float64, 8), make([]float64, 8)
	for i := range a {
		a[i], b[i] = 20, 16
	}
	sure := stats.Interval{Est: 10, Lo: 10, Hi: 10}
	if got := in.changeWithout(a, b, sure, sure); math.Abs(got.Est+40) > 1e-9 || math.Abs(got.Lo+40) > 1e-9 || math.Abs(got.Hi+40) > 1e-9 {
		t.Errorf("%+v", got)
	}
	unsure := stats.Interval{Est: 10, Lo: 0, Hi: 12}
	if got := in.changeWithout(a, b, unsure, unsure); math.Abs(got.Est+40) > 1e-9 || math.Abs(got.Lo+50) > 1e-9 || math.Abs(got.Hi+20) > 1e-9 {
		t.Errorf("%+v", got)
	}
	if got := in.without(a, unsure); got.Est != 10 || got.Lo != 8 || got.Hi != 20 {
		t.Errorf("%+v", got)
	}
}
