package picture

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPlace(t *testing.T) {
	if Place(0) != 0 || math.Abs(Place(100)+Place(-50)) > 1e-12 {
		t.Errorf("half is at %v, double at %v", Place(-50), Place(100))
	}
	if v := Place(-100); math.IsInf(v, 0) {
		t.Error("nothing left is nowhere")
	}
}

// Whatever a forest has, its estimates are within its axis, and no axis has a heap of
// names or none.
func TestSpanAndTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f Figure
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			est := rapid.Float64Range(-99.9, 10000).Draw(t, "est")
			f.Rows = append(f.Rows, Row{Est: est, Lo: est - math.Abs(est)/3, Hi: est + math.Abs(est), Margin: rapid.Float64Range(0.1, 50).Draw(t, "margin")})
		}
		lo, hi := f.Span()
		for _, r := range f.Rows {
			if p := Place(r.Est); p < lo || p > hi {
				t.Fatalf("%v stands at %v, outside of %v to %v", r.Est, p, lo, hi)
			}
		}
		ticks := ChangeTicks(lo, hi)
		if len(ticks) < 2 || len(ticks) > 16 {
			t.Fatalf("%d names from %v to %v: %v", len(ticks), lo, hi, ticks)
		}
		for i, x := range ticks {
			if x.At < lo-1e-9 || x.At > hi+1e-9 || i > 0 && x.At <= ticks[i-1].At || strings.HasPrefix(x.Name, "-0%") {
				t.Fatalf("from %v to %v: %v", lo, hi, ticks)
			}
		}
	})
}

func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		hi := lo + rapid.Float64Range(1e-3, 1e6).Draw(t, "width")
		all := Ticks(lo, hi)
		if len(all) < 2 || len(all) > 9 {
			t.Fatalf("%d ticks from %v to %v", len(all), lo, hi)
		}
	})
	if Ticks(1, 1) != nil || Ticks(2, 1) != nil || Ticks(0, math.NaN()) != nil {
		t.Error("ticks of no range")
	}
}
