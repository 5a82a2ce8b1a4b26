package counters

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// lead is how long before the window opens a sampler begins to read at the
// least: what it takes is then over when the window opens, even on a busy
// machine. Where there is much to read it begins earlier (Sampler.lead).
const lead = 3 * time.Millisecond

// slow is a source that may take longer than lead has room for, as of some
// hundred CPUs' interrupts or ten thousand sockets. cost is what its next
// reading will take, as far as is known.
type slow interface{ cost() time.Duration }

// A window is told by the counts at its two ends only as far as these were read
// near to it. A sample that is late by up to tolerated of the window is taken,
// and by more than worthTelling of it, it says so in levels: how long after the window had
// opened and how long after it was over.
const (
	tolerated    = 10
	worthTelling = 100

	lateBegin = "late_begin_ns"
	lateEnd   = "late_end_ns"
)

// watch takes the samples before and after the window, on a thread of its own.
func (s *Sampler) watch() {
	defer close(s.done)
	s.o.threads.exclude(sys.ThreadID())
	// It works for a millisecond on either side of the window, and is late where
	// it has to wait for a CPU. Without the privilege it is so more often.
	_ = sys.SetFIFO(1)
	s.wait(0, func() bool { return s.opensAt.Load() != 0 || s.stop.Load() })
	if s.opens = s.opensAt.Load(); s.opens == 0 {
		return
	}
	s.busy()
	begin := s.opens - int64(s.lead())
	if s.wait(begin, s.stop.Load); now() < begin {
		return
	}
	s.before()
	if !s.through() {
		return
	}
	s.visit()
	for _, t := range slices.Backward(s.order()) {
		if t.failed == nil {
			t.after, t.failed = t.now()
		}
	}
}

// lead is how long before the window opens this sampler begins to read: what
// reading took the last time, twice, beyond lead; but not so long that what is
// counted would be the warm-up rather than the window.
func (s *Sampler) lead() time.Duration {
	d := lead + 2*s.visiting
	for i := range s.taking {
		if source, ok := s.taking[i].source.(slow); ok {
			d += 2 * source.cost()
		}
	}
	return min(d, max(lead, s.o.Window/tolerated))
}

// before takes the samples before the window.
func (s *Sampler) before() {
	visited := false
	for _, t := range s.order() {
		if t.last && !visited {
			s.visit()
			visited = true
		}
		if late := time.Duration(now() - s.opens); s.o.Window > 0 && late > s.o.Window/tolerated {
			t.failed = s.tooLate(late) // and nothing more is done within the window
			continue
		}
		t.before, t.failed = t.now()
	}
}

// through waits until the window is over. It says false if that never was.
func (s *Sampler) through() bool {
	s.ended = s.opens + int64(s.o.Window)
	until := s.ended
	if s.o.Paces || s.o.Window <= 0 {
		until = 0
	}
	s.wait(until, func() bool { return s.overAt.Load() != 0 || s.stop.Load() })
	// The trial may have ended just after its window.
	if at := s.overAt.Load(); at != 0 {
		s.ended = at
		return true
	}
	return until != 0 && now() >= until
}

// around is what a source counted around the window.
func (s *Sampler) around(t *taking) (result.Reading, error) {
	switch {
	case t.failed != nil:
		return result.Reading{}, t.failed
	case t.before == nil:
		return result.Reading{}, errors.New("the window did not open")
	case t.after == nil:
		return result.Reading{}, errors.New("the window did not end")
	}
	r, err := reading(t.name, t.before, t.after)
	if err != nil {
		return result.Reading{}, err
	}
	length := time.Duration(s.ended - s.opens)
	late := time.Duration(t.before.at - s.opens)
	if late > max(length, 0)/tolerated {
		return result.Reading{}, s.tooLate(late)
	}
	after := time.Duration(t.after.at - s.ended)
	if after > max(length, 0)/tolerated {
		return result.Reading{}, fmt.Errorf("it was read %v after the window of %v was over, more than a tenth of it: the window is too short or the machine was too busy",
			after.Round(time.Microsecond), length.Round(time.Microsecond))
	}
	for _, l := range []struct {
		name string
		late time.Duration
	}{{lateBegin, late}, {lateEnd, after}} {
		if l.late <= length/worthTelling {
			continue
		}
		if r.Levels == nil {
			r.Levels = map[string]int64{}
		}
		r.Levels[l.name] = int64(l.late)
	}
	return r, nil
}

func (s *Sampler) tooLate(late time.Duration) error {
	return fmt.Errorf("its first reading was due %v after the window had opened, more than a tenth of it: the window or its warm-up (which takes %v at least) is too short, or the machine was too busy",
		late.Round(time.Microsecond), s.lead().Round(time.Microsecond))
}

// order is that in which sources are read before the window; after it they are
// read the other way round, so that those that matter most to be near are.
func (s *Sampler) order() []*taking {
	var first, last []*taking
	for i := range s.taking {
		if t := &s.taking[i]; t.last {
			last = append(last, t)
		} else {
			first = append(first, t)
		}
	}
	return append(first, last...)
}

// wait lets time pass until a moment of sys.Nanotime, or for ever where that is
// 0, or until what it waits for is so.
func (s *Sampler) wait(until int64, is func() bool) {
	for !is() {
		left := time.Duration(0)
		if until != 0 {
			if left = time.Duration(until - now()); left <= 0 {
				return
			}
		}
		s.bell.wait(left)
	}
}

// maxVisits is on how many CPUs the sampler goes before it reads, and perVisit
// what one of them takes where that is not known yet.
const (
	maxVisits = 64
	perVisit  = 50 * time.Microsecond
)

// visits says whether there is a source that needs visit.
func (s *Sampler) visits() bool {
	return !s.o.Realtime && len(s.o.CPUs) <= maxVisits &&
		slices.ContainsFunc(s.taking, func(t taking) bool { return t.name == result.SourceIdle })
}

// visit has the sampler's thread run on each CPU for a moment, since the kernel
// adds the time that a CPU is idle to its count when the CPU wakes (see
// openIdle for those that are not visited). CPUs where a thread with real-time
// priority runs might never let this one go again.
func (s *Sampler) visit() {
	if !s.visits() {
		return
	}
	mine, err := sys.OnlineCPUs()
	if err != nil {
		return
	}
	begin := now()
	defer func() { s.visiting = time.Duration(now() - begin) }()
	for _, cpu := range s.o.CPUs {
		_ = sys.MoveThread(cpu) // one that has gone offline is not idle either
	}
	_ = sys.MoveThread(mine...)
}
