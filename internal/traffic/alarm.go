package traffic

// maxLead is the longest time before a slot, in ns, at which a thread is up.
const maxLead = 100_000

// alarm has a thread wake before a slot is due, by what waking up takes: the
// mean of the last ones, so that the thread is there in time and has not much
// to wait without sleep. It belongs to one thread.
type alarm struct{ lead int64 } // ns

// rang tells how late the thread woke.
//
//go:nosplit
func (a *alarm) rang(late int64) {
	a.lead += (min(max(late, 0), maxLead) - a.lead) / 8
}

// fineNap is the longest wait, in ns, whose end is exact enough: the kernel may
// end it later by a thousandth, and by five in a thread that is nice
// (select_estimate_accuracy of fs/select.c).
const fineNap = 1_000_000

// nap is how long to wait now if wait is left: a long one ends early, to be
// followed by short ones.
//
//go:nosplit
func nap(wait int64) int64 {
	if wait > fineNap {
		return wait - wait/64
	}
	return wait
}
