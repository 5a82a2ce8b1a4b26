package ether

import "sync/atomic"

// tally is one thread's share of a direction's counts: only that thread
// writes it, any may read it. The padding keeps two threads' tallies out of
// each other's cache lines (pairs of 64 bytes are fetched together).
type tally struct {
	_ [128]byte
	n [numCounts]atomic.Uint64
	_ [128]byte
}

// add counts k more. A load and a store, not an atomic addition: there is one
// writer.
//
//go:nosplit
func (t *tally) add(c Count, k int) { t.n[c].Store(t.n[c].Load() + uint64(k)) }

// addTo adds what is counted so far to d, from the last count to the first.
func (t *tally) addTo(d *Direction) {
	for c := numCounts - 1; c >= 0; c-- {
		d[c] += t.n[c].Load()
	}
}
