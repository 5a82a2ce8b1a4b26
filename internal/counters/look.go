package counters

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"netdelta/internal/result"
)

// ofTests are the sources that have something to tell only where there is a
// test.
var ofTests = []string{result.SourceThreads, result.SourceTCPInfo, result.SourceSockets}

// Look tells what this machine does for so long while nothing is measured: the
// sources that are read by default, but for those of a test itself. It reads
// them before and after, and fails only if ctx ends meanwhile or the options
// can't be. The network's are of the calling thread's namespace.
func Look(ctx context.Context, o Options, d time.Duration) (*result.Counters, error) {
	var names []string
	for _, r := range rows(o.Sources) {
		if !slices.Contains(ofTests, r.name) {
			names = append(names, r.name)
		}
	}
	if o.Sources = names; len(names) == 0 {
		o.Sources = []string{None}
	}
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	// The thread visits every CPU, and is let go to all of them again.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.visit()
	for _, t := range s.order() {
		t.before, t.failed = t.now()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, fmt.Errorf("look at this machine for %v: %w", d, context.Cause(ctx))
	}
	s.visit()
	for _, t := range slices.Backward(s.order()) {
		if t.failed == nil {
			t.after, t.failed = t.now()
		}
	}
	c := &result.Counters{CPUs: s.o.CPUs, Device: s.o.Device}
	for i := range s.taking {
		t := &s.taking[i]
		r, err := result.Reading{}, t.failed
		if err == nil {
			r, err = reading(t.name, t.before, t.after)
		}
		if err != nil {
			s.miss(t.name, err)
			continue
		}
		c.Readings = append(c.Readings, r)
	}
	c.Missing = s.missing
	return c, nil
}
