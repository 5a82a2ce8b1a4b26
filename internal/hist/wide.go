package hist

import "math/bits"

// wide is an unsigned 128-bit sum. The largest one that is reached, 2^64
// samples of 2^63 ns, takes 127 bits.
type wide struct {
	hi, lo uint64
}

func (w *wide) add(v uint64) { w.addWide(wide{0, v}) }

func (w *wide) addWide(v wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, v.lo, 0)
	w.hi, _ = bits.Add64(w.hi, v.hi, carry)
}

// addTimes adds n times the latency v.
func (w *wide) addTimes(n uint64, v int64) {
	var p wide
	p.hi, p.lo = bits.Mul64(n, uint64(v))
	w.addWide(p)
}

func (w wide) less(v wide) bool {
	return w.hi < v.hi || w.hi == v.hi && w.lo < v.lo
}

func (w wide) float() float64 { return float64(w.hi)*0x1p64 + float64(w.lo) }
