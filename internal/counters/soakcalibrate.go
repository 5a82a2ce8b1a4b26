package counters

import (
	"fmt"
	"slices"
	"time"
)

// A calibration is of enough slices, 160 ms on a quiet machine: a slice is long
// against the kernel's tick (1 to 10 ms) and against what it takes to read the
// counts, and a quarter of the slices may be disturbed before anything is seen of
// it. Where something else is busy on a CPU it goes on for longer, but at most
// for that many slices, of which it needs the least.
const (
	sliceLength  = 10 * time.Millisecond
	enoughSlices = 16
	mostSlices   = 64
	leastSlices  = 8
)

// calibration is how fast a loop works on a CPU that it has for itself.
type calibration struct {
	rate   float64 // pieces per second
	spread float64 // of the slices' rates: the middle half's range, as a share
	got    float64 // share of the time that the loop had the CPU
}

// moment is what a loop had done at a time.
type moment struct{ at, pieces, cpu int64 }

// calibrate has the loops work all at once, as they will later: CPUs that share
// a core or a power budget are slower when both work.
func calibrate(loops []*loop) ([]calibration, error) {
	for _, l := range loops {
		l.work()
	}
	defer restAll(loops)
	moments := make([][]moment, len(loops))
	// The first slice is for the CPUs to wake up, and is not taken.
	for n, enough := -1, false; n <= mostSlices && !enough; n++ {
		time.Sleep(sliceLength)
		enough = n >= enoughSlices
		for i, l := range loops {
			m, err := l.moment()
			if err != nil {
				return nil, err
			}
			if n >= 0 {
				moments[i] = append(moments[i], m)
			}
			enough = enough && len(ratesOf(moments[i])) >= enoughSlices
		}
	}
	all := make([]calibration, len(loops))
	for i, l := range loops {
		var err error
		if all[i], err = estimate(moments[i]); err != nil {
			return nil, fmt.Errorf("CPU %d: %w", l.cpu, err)
		}
	}
	return all, nil
}

// moment is what the loop has done by now.
func (l *loop) moment() (moment, error) {
	m := moment{at: now(), pieces: l.pieces.Load()}
	var err error
	m.cpu, err = l.time()
	return m, err
}

// ratesOf are the rates of the slices between moments, by the time that the
// loop's thread had the CPU, in ascending order. Slices that the loop had less
// than a tenth of are not taken: the count and the clock are not read at quite
// the same moment.
func ratesOf(moments []moment) []float64 {
	var rates []float64
	for i := 1; i < len(moments); i++ {
		a, b := moments[i-1], moments[i]
		if n, cpu := b.pieces-a.pieces, b.cpu-a.cpu; n > 0 && 10*cpu >= b.at-a.at {
			rates = append(rates, float64(n)/float64(cpu)*1e9)
		}
	}
	slices.Sort(rates)
	return rates
}

// estimate is the rate of what a loop did between the moments: the median of
// the slices' rates, each by the time that the loop's thread had the CPU rather
// than by the clock.
//
// Why so: whatever else runs on the CPU meanwhile is not the loop's slowness, and
// the thread's clock leaves it out exactly. What that clock can't leave out, an
// interrupt, the hypervisor's taking the CPU, the reader's being held up between
// the count and the clock, spoils some slices by much and in either direction: the
// fastest slice would be one of those, and the mean would have some of each.
func estimate(moments []moment) (calibration, error) {
	rates, planned := ratesOf(moments), max(len(moments)-1, 0)
	n := len(rates)
	if n < leastSlices {
		return calibration{}, fmt.Errorf("something else was busy there while the loop was to be calibrated: it had a tenth of the time or more in %d of %d slices of %v; end what runs on that CPU", n, planned, sliceLength)
	}
	first, last := moments[0], moments[planned]
	c := calibration{rate: (rates[(n-1)/2] + rates[n/2]) / 2}
	c.spread = (rates[(3*n)/4] - rates[n/4]) / c.rate
	c.got = min(float64(last.cpu-first.cpu)/float64(last.at-first.at), 1)
	return c, nil
}
