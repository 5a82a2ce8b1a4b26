package counters

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"netdelta/internal/feature"
	"netdelta/internal/result"
)

// Finish waits until the samples are there, which they soon are once the
// traffic has ended, and returns what was counted. It is called when the drain
// is over and before the sockets are closed.
func (s *Sampler) Finish() *result.Counters {
	if s == nil {
		return nil
	}
	c := &result.Counters{
		CPUs: s.o.CPUs, OneMachine: s.o.OneMachine, Shared: s.o.Shared, Device: s.o.Device,
		Baseline: s.quiet, Missing: slices.Clone(s.missing),
	}
	if !s.ends() {
		for i := range s.taking {
			c.Missing = append(c.Missing, result.Fact{Name: s.taking[i].name,
				Value: fmt.Sprintf("what reads the counters did not come to its end within %v: a thread with a real-time priority keeps a CPU for itself, or a driver does not answer", s.patience)})
		}
		return c
	}
	for i := range s.taking {
		t := &s.taking[i]
		if t.whole && t.wholeFailed == nil && t.wholeBefore != nil {
			t.wholeAfter, t.wholeFailed = t.now()
		}
		if r, err := s.around(t); err != nil {
			c.Missing = append(c.Missing, result.Fact{Name: t.name, Value: err.Error()})
		} else {
			c.Readings = append(c.Readings, r)
		}
		r, err := result.Reading{}, t.wholeFailed
		if t.wholeAfter != nil && err == nil {
			if r, err = reading(t.name, t.wholeBefore, t.wholeAfter); err == nil {
				c.Whole = append(c.Whole, r)
			}
		}
		if err != nil {
			c.Missing = append(c.Missing, result.Fact{Name: t.name + " around the whole trial", Value: err.Error()})
		}
	}
	return c
}

// endTime is how long a trial's end waits for the sampler's thread, which has
// a few milliseconds' work left at most.
const endTime = 5 * time.Second

// ends has the sampler's thread come to its end. It says false if that did not
// happen in time.
func (s *Sampler) ends() bool {
	s.stop.Store(true)
	if !s.began || s.lost {
		return !s.lost
	}
	s.bell.ring()
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		s.lost = true
	}
	return !s.lost
}

// Close gives up the sources, in any state; but not while the sampler's thread
// still reads them, which then go with the process.
func (s *Sampler) Close() error {
	if s == nil || s.closed || !s.ends() {
		return nil
	}
	var all error
	for i := range s.taking {
		if err := s.taking[i].close(); err != nil {
			all = errors.Join(all, fmt.Errorf("give up counters of %s: %w", s.taking[i].name, err))
		}
	}
	s.taking, s.closed = nil, true
	return errors.Join(all, s.bell.close())
}

// reason is an error in the words of a missing source.
func reason(err error) error {
	if errors.Is(err, feature.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", feature.ErrUnavailable, err)
}
