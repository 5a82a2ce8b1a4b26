package ether

import "time"

// asideTime is the longest that a frame waits for the next one to go behind. Then it
// goes as it is, and counts as none that was reordered.
const asideTime = 10 * time.Millisecond

// aside is a frame that is to go behind the next one. There is one at most: who is
// picked while there is, is the one that it goes behind.
type aside struct {
	buf   []byte
	size  int // 0 for none
	came  int64
	twice bool
}

//go:nosplit
func (a *aside) put(p []byte, now int64, twice bool) {
	a.size, a.came, a.twice = copy(a.buf, p), now, twice
}

// until is when it has waited for long enough.
//
//go:nosplit
func (a *aside) until() int64 { return a.came + int64(asideTime) }

// enterAside puts what was aside into the line.
//
//go:nosplit
func (l *line) enterAside(now int64) {
	a := &l.aside
	p := a.buf[:a.size]
	a.size = 0
	l.enter(p, now, a.came)
	if a.twice {
		l.count.add(Duplicated, 1)
		l.enter(p, now, a.came)
	}
}
