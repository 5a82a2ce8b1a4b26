package term

import "math"

// scale turns values into 0 to 1.
type scale struct {
	lo, hi float64
	log    bool
}

func (s scale) at(v float64) float64 {
	if s.log {
		return math.Log(v/s.lo) / math.Log(s.hi/s.lo)
	}
	return (v - s.lo) / (s.hi - s.lo)
}

// value is what lies at a place from 0 to 1.
func (s scale) value(at float64) float64 {
	if s.log {
		return s.lo * math.Exp(at*math.Log(s.hi/s.lo))
	}
	return s.lo + at*(s.hi-s.lo)
}

// scaleOf is that of some values; false where there are none. A logarithm has only those
// above 0.
func scaleOf(log bool, lists ...[]float64) (scale, bool) {
	s := scale{math.Inf(1), math.Inf(-1), log}
	for _, list := range lists {
		for _, v := range list {
			if !math.IsNaN(v) && !math.IsInf(v, 0) && (!log || v > 0) {
				s.lo, s.hi = min(s.lo, v), max(s.hi, v)
			}
		}
	}
	if s.lo > s.hi {
		return s, false
	}
	if s.hi-s.lo < 1e-9*math.Abs(s.hi) || s.lo == s.hi {
		if around := math.Abs(s.hi) / 10; around > 0 {
			s.lo, s.hi = s.lo-around, s.hi+around
		} else {
			s.lo, s.hi = -1, 1
		}
	}
	return s, true
}
