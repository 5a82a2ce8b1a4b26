package traffic

import "time"

// Limits of the time that a request waits for its answer before it is taken
// for lost and the next one is sent.
const (
	firstTimeout = 200 * time.Millisecond
	minTimeout   = 10 * time.Millisecond
	maxTimeout   = 200 * time.Millisecond
)

// replyTimeout is how long the window's requests wait: 20 times the longest
// round trip of the warm-up, within the limits; but on a long path at least
// twice that round trip, or every answer would come too late. longest is 0 if
// the warm-up had none.
func replyTimeout(longest time.Duration) time.Duration {
	if longest <= 0 {
		return firstTimeout
	}
	return max(min(max(20*longest, minTimeout), maxTimeout), 2*longest)
}

// pendingSize is how many given-up requests are remembered.
const pendingSize = 64

// pending remembers the latest requests that were given up, so that an answer
// that comes after all can be assigned. Requests are numbered from 1; messages
// carry the low bits of the number.
type pending struct {
	waiting int // those whose answers have not come
	newest  int // place of the latest entry
	entries [pendingSize]givenUp
}

type givenUp struct {
	seq  uint64 // 0: none
	sent int64
}

// giveUp takes note that the request sent at a time has waited long enough.
func (p *pending) giveUp(seq uint64, sent int64) {
	p.newest = (p.newest + 1) % pendingSize
	if p.entries[p.newest].seq == 0 {
		p.waiting++
	}
	p.entries[p.newest] = givenUp{seq, sent}
}

// answered looks for the given-up request that an answer belongs to, forgets
// it and returns when it was sent. low is the answer's number as far as mask
// keeps it; a request so far behind the current one that its number has come
// round again cannot be told, and is not considered.
func (p *pending) answered(low, current, mask uint64) (sent int64, ok bool) {
	for i := range p.entries {
		e := &p.entries[(p.newest-i+pendingSize)%pendingSize]
		if e.seq != 0 && e.seq&mask == low && current-e.seq <= mask {
			sent = e.sent
			*e = givenUp{}
			p.waiting--
			return sent, true
		}
	}
	return 0, false
}
