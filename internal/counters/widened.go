package counters

// widened is a count that does not wrap, made of one that the kernel keeps in
// 32 bits.
type widened struct {
	last  uint32
	total int64
	known bool
}

// at takes note of the kernel's count and returns the one that does not wrap.
// The first is taken as it is. Less than half of the range is how far it has
// gone; more is that of a count which was made anew.
func (w *widened) at(now uint32) int64 {
	switch step := now - w.last; {
	case !w.known:
		w.total = int64(now)
	case step < 1<<31:
		w.total += int64(step)
	default:
		w.total += int64(now)
	}
	w.last, w.known = now, true
	return w.total
}
