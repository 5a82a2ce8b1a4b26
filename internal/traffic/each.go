package traffic

import (
	"netdelta/internal/result"
)

// noAnswer stands in result.End.Each for a request that was given up.
const noAnswer = -1

// each keeps the first round trips of a window, in their order. It belongs to the
// traffic thread and allocates nothing once made: what it costs where there is
// nothing to keep, before the window or when all are there, is one branch that
// always goes the same way.
type each struct {
	room []int64
	list []int64 // room within the window, and nothing before it
	n    int
}

// newEach makes room for as many round trips as the configuration asks for. The
// stream beside a test, and the end that answers, keep none.
func newEach(cfg Config) each {
	if cfg.Each <= 0 || cfg.Role != result.Local || cfg.valve != nil {
		return each{}
	}
	k := each{room: make([]int64, cfg.Each)}
	for i := range k.room {
		k.room[i] = 1 // so that there is real memory behind it
	}
	return k
}

// begin opens the window.
func (k *each) begin() { k.list, k.n = k.room, 0 }

// add keeps a round trip of so many ns, or noAnswer.
//
//go:nosplit
func (k *each) add(ns int64) {
	if k.n < len(k.list) {
		k.list[k.n] = ns
		k.n++
	}
}

// ask keeps a request whose answer may come after those of later ones: it is given
// up unless set is told otherwise by the number that it got, -1 for none.
//
//go:nosplit
func (k *each) ask() int32 {
	if k.n >= len(k.list) {
		return -1
	}
	k.list[k.n] = noAnswer
	k.n++
	return int32(k.n - 1)
}

// set tells the round trip of a request that was kept.
//
//go:nosplit
func (k *each) set(number int32, ns int64) {
	if number >= 0 {
		k.list[number] = ns
	}
}

// kept is all of them, when the window is over; nil for none.
func (k *each) kept() []int64 {
	if k.n == 0 {
		return nil
	}
	return k.room[:k.n]
}
