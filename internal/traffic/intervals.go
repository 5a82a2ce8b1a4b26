package traffic

import (
	"slices"
	"sync/atomic"
	"time"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// Intervals are the parts of an end's window. The traffic thread writes them,
// at the end of each, into memory that was there before: some microseconds,
// and nothing for each message. Others may look at those that are over.
type Intervals struct {
	length int64 // ns; 0 for none
	all    []result.Interval
	begin  mark // of the window
	from   mark // the end of the latest
	// part has the round trips of the present one, and whole those of all; nil
	// at an end that times none.
	part, whole *hist.Hist
	// tail stands for the last of all if revised. What others may be looking
	// at is never changed.
	tail    result.Interval
	revised bool

	done atomic.Int64 // how many are over
	due  atomic.Int64 // when the next one is; 0 for never
}

// newIntervals makes room for all intervals of a window of that length; nil
// if there are none.
func newIntervals(interval, window time.Duration) *Intervals {
	if interval <= 0 || interval >= window {
		return nil
	}
	n := int((window + interval - 1) / interval)
	p := &Intervals{length: int64(interval), all: make([]result.Interval, n)}
	for i := range p.all {
		p.all[i].At = 1 // so that there is real memory behind it
	}
	return p
}

// time has the intervals tell of round trips, which are added to those of the
// whole window at the end of each.
func (p *Intervals) time(whole *hist.Hist) {
	if p != nil {
		p.part, p.whole = hist.New(), whole
	}
}

// open begins the window.
func (p *Intervals) open(at mark) {
	p.begin, p.from = at, at
	p.revised = false
	p.done.Store(0)
	p.due.Store(at.at + p.length)
}

// cut ends an interval. It returns when the next one is to end, and the time
// at which this thread had done what there is to do.
func (p *Intervals) cut(end mark) (next, resume int64) {
	p.add(end)
	next = p.begin.at + ((end.at-p.begin.at)/p.length+1)*p.length
	p.due.Store(next)
	if p.part != nil {
		resume = sys.Nanotime()
	}
	return next, resume
}

// close ends the window, and the last interval with it. Where that comes
// before the end of intervals that were nothing but silence, those are none.
func (p *Intervals) close(end mark) {
	p.due.Store(0)
	n := p.done.Load()
	for n > 0 && p.begin.at+int64(p.all[n-1].At-p.all[n-1].Elapsed) >= end.at {
		n--
		p.revised = false
	}
	p.done.Store(n)
	if n > 0 && p.begin.at+int64(p.last(n).At) >= end.at {
		p.shorten(p.last(n), p.all[:n-1], end)
	} else if end.at > p.from.at {
		p.add(end)
	}
	p.fold()
}

// shorten has the last interval end with the window. It gets all messages that
// those before it do not have: one may have come at the very moment at which
// a silence was cut.
func (p *Intervals) shorten(last result.Interval, before []result.Interval, end mark) {
	over := last.At - time.Duration(end.at-p.begin.at)
	last.At -= over
	last.Elapsed -= over
	last.Messages, last.Bytes = end.messages-p.begin.messages, end.bytes-p.begin.bytes
	for _, i := range before {
		last.Messages -= i.Messages
		last.Bytes -= i.Bytes
	}
	p.tail, p.revised = last, true
}

// last is the nth interval, the latest.
func (p *Intervals) last(n int64) result.Interval {
	if p.revised {
		return p.tail
	}
	return p.all[n-1]
}

// fold adds the present interval's round trips to the window's.
func (p *Intervals) fold() {
	if p.part != nil {
		p.whole.Merge(p.part)
		p.part.Reset()
	}
}

// add ends an interval. A window that lasts longer than it should have may run
// out of room: its last interval then is longer.
func (p *Intervals) add(end mark) {
	n := p.done.Load()
	i := result.Interval{
		At:       time.Duration(end.at - p.begin.at),
		Elapsed:  time.Duration(end.at - p.from.at),
		Messages: end.messages - p.from.messages,
		Bytes:    end.bytes - p.from.bytes,
	}
	if p.part != nil {
		i.RTT = roundTrips(p.part)
		p.fold()
	}
	if p.from = end; int(n) < len(p.all) {
		p.all[n] = i
		p.done.Store(n + 1)
		return
	}
	p.tail, p.revised = p.last(n), true
	p.tail.At = i.At
	p.tail.Elapsed += i.Elapsed
	p.tail.Messages += i.Messages
	p.tail.Bytes += i.Bytes
	p.tail.RTT.Max = max(p.tail.RTT.Max, i.RTT.Max)
}

// fewestForP99 is how many round trips a 99th percentile takes to be more than
// the largest under another name.
const fewestForP99 = 100

func roundTrips(h *hist.Hist) (r result.RTT) {
	if h.Count() == 0 {
		return r
	}
	r.P50, r.Max = int64(h.Quantile(0.5)), h.Max()
	if h.Count() >= fewestForP99 {
		r.P99 = int64(h.Quantile(0.99))
	}
	return r
}

// Done is how many intervals are over, and Due when the next one will be: in
// nanoseconds as sys.Nanotime has them, 0 before the window and after it. Any
// thread may ask. A nil *Intervals has none.
func (p *Intervals) Done() int {
	if p == nil {
		return 0
	}
	return int(p.done.Load())
}

// Due is explained with Done.
func (p *Intervals) Due() int64 {
	if p == nil {
		return 0
	}
	return p.due.Load()
}

// At is an interval that is over, from 0.
func (p *Intervals) At(i int) result.Interval { return p.all[i] }

// taken is all of them, when the window is over.
func (p *Intervals) taken() []result.Interval {
	if p == nil || p.Done() == 0 {
		return nil
	}
	all := slices.Clone(p.all[:p.Done()])
	if p.revised {
		all[len(all)-1] = p.tail
	}
	return all
}
