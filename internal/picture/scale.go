package picture

import (
	"math"
	"strconv"
)

// Place is where a change in percent stands on a forest's axis: a scale of ratios, on
// which half and double are equally far from no change.
func Place(percent float64) float64 { return math.Log(max(1+percent/100, 1e-4)) }

// Span is what a forest's axis reaches, as Place has it: all estimates and margins, and
// their intervals as far as one that is wide does not squeeze the others.
func (f *Figure) Span() (lo, hi float64) {
	lo, hi = Place(-5), Place(5)
	for _, r := range f.Rows {
		lo, hi = min(lo, Place(r.Est), Place(-r.Margin)), max(hi, Place(r.Est), Place(r.Margin))
	}
	limit := 1.6 * max(-lo, hi)
	for _, r := range f.Rows {
		if finite(r.Lo) && finite(r.Hi) {
			lo, hi = min(lo, max(Place(r.Lo), -limit)), max(hi, min(Place(r.Hi), limit))
		}
	}
	pad := 0.05 * (hi - lo)
	return lo - pad, hi + pad
}

// Tick is a place on an axis that has a name.
type Tick struct {
	At   float64
	Name string
}

// factors are ratios that are named where percents would be too large.
var factors = []float64{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10000}

// ChangeTicks are the named places of a forest's axis: in percent, and as ratios where
// it reaches fivefold.
func ChangeTicks(lo, hi float64) []Tick {
	var all []Tick
	if max(-lo, hi) < math.Log(5) {
		for _, v := range Ticks(100*(math.Exp(lo)-1), 100*(math.Exp(hi)-1)) {
			if v <= -99.9 {
				continue
			}
			name := strconv.FormatFloat(v, 'g', 4, 64) + "%"
			if v > 0 {
				name = "+" + name
			}
			all = append(all, Tick{Place(v), name})
		}
		return all
	}
	every := 1
	if hi-lo > math.Log(500) {
		every = 3 // 1, 5, 50, 500
	}
	for i := len(factors) - 1; i > 0; i -= every {
		if at := -math.Log(factors[i]); at >= lo {
			all = append(all, Tick{at, "/" + strconv.FormatFloat(factors[i], 'g', 5, 64)})
		}
	}
	all = append(all, Tick{0, "0%"})
	for i := 1; i < len(factors); i++ {
		if at := math.Log(factors[i]); at <= hi && (every == 1 || (len(factors)-1-i)%every == 0) {
			all = append(all, Tick{at, "x" + strconv.FormatFloat(factors[i], 'g', 5, 64)})
		}
	}
	return all
}

// Ticks are places at 1, 2 or 5 times a power of ten within a range, no more than seven
// or eight.
func Ticks(lo, hi float64) []float64 {
	if !(hi > lo) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/5)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*m) <= 7 {
			step *= m
			break
		}
	}
	var all []float64
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9; i++ {
		all = append(all, i*step+0) // 0, and not -0
	}
	return all
}
