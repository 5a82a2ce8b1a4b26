package counters

import (
	"math"
	"strings"
	"testing"
)

// slicesOf are moments 10 ms apart; each pair, repeated twice, is what a loop did
// in the slice and how much of it it had the CPU for, in ns.
func slicesOf(each ...[2]int64) []moment {
	all := []moment{{}}
	for i, s := range append(each, each...) {
		all = append(all, moment{int64(i+1) * 10e6, all[i].pieces + s[0], all[i].cpu + s[1]})
	}
	return all
}

func TestEstimate(t *testing.T) {
	const whole, half, little = 10e6, 5e6, 0.9e6
	quiet := [2]int64{25000, whole}
	for name, c := range map[string]struct {
		moments           []moment
		rate, spread, got float64
		err               string
	}{
		"quiet": {moments: slicesOf(quiet, quiet, quiet, quiet), rate: 2.5e6, got: 1},
		// Another thread had the CPU half of the time: the rate is what it was.
		"shared": {moments: slicesOf([2]int64{12500, half}, quiet, [2]int64{12500, half}, quiet), rate: 2.5e6, got: 0.75},
		// A slice that the loop hardly had is not taken, whatever it seems to say.
		"gap": {moments: slicesOf(quiet, [2]int64{25000, little}, quiet, quiet, quiet), rate: 2.5e6, got: 0.818},
		// Interrupts in less than a quarter of the slices are not seen.
		"interrupts": {moments: slicesOf(quiet, [2]int64{15000, whole}, quiet, quiet, quiet), rate: 2.5e6, got: 1},
		// The clock moved half way: there is no one rate.
		"slower": {moments: slicesOf(quiet, quiet, [2]int64{20000, whole}, [2]int64{20000, whole}), rate: 2.25e6, spread: 0.5 / 2.25, got: 1},
		"busy":   {moments: slicesOf(quiet, quiet, quiet, [2]int64{2500, little}, [2]int64{2500, little}), err: "6 of 10 slices"},
		"stuck":  {moments: slicesOf([2]int64{0, whole}, [2]int64{0, whole}), err: "0 of 4 slices"},
		"none":   {moments: nil, err: "0 of 0 slices"},
	} {
		got, err := estimate(c.moments)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want one with %q", name, err, c.err)
			}
			continue
		}
		if err != nil || math.Abs(got.rate/c.rate-1) > 1e-3 || math.Abs(got.spread-c.spread) > 1e-3 || math.Abs(got.got-c.got) > 1e-3 {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c)
		}
	}
}

// TestSoakNeverHadMoreThanTime: a loop that became faster than it was
// calibrated still had no more than the time that went by.
func TestSoakNeverHadMoreThanTime(t *testing.T) {
	s := &soak{loops: []*loop{{cpu: 3}}, rates: []float64{1000}, done: make([]int64, 1), last: &sample{at: 100, counts: map[string]int64{"cpu3.idle": 7}}}
	for pieces, want := range map[int64]int64{0: 7, 2: 7 + 2e6, 5: 7 + 5e6, 6: 7 + 5e6, 1e9: 7 + 5e6} {
		if idle := s.idle(0, 100+5e6, pieces); idle != want {
			t.Errorf("%d pieces: %d, want %d", pieces, idle, want)
		}
	}
}
