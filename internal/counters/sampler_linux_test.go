package counters

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"netdelta/internal/result"
)

// What /proc tells is there for a window, and the work of the traffic thread in
// it, also if that thread ends with its window.
func TestSampler(t *testing.T) {
	const length, work = 100 * time.Millisecond, 20 * time.Millisecond
	trying(t, func(t *testing.T) error {
		s, err := New(Options{
			Sources: []string{result.SourceCPU, result.SourceThreads, result.SourceInterrupts, result.SourceSoftirqs, result.SourceSoftnet, result.SourceClock},
			Window:  length, Paces: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.Begin()
		tid, jobs := startWorker()
		s.Thread(3, tid)
		opens := now() + int64(20*time.Millisecond)
		s.Warm(opens)
		do(jobs, func() {
			until(opens)
			burn(t, work)
			until(opens + int64(length))
			s.Over(now())
		})
		close(jobs)
		ended(t, tid)
		got := s.Finish()
		if len(got.Missing) > 0 || len(got.Readings) != 6 || len(got.Whole) != 2 {
			return fmt.Errorf("%d readings, %d of the whole, missing %v", len(got.Readings), len(got.Whole), got.Missing)
		}
		for _, r := range got.Readings {
			if r.Elapsed < length {
				return fmt.Errorf("%s was read over %v of a window of %v", r.Source, r.Elapsed, length)
			}
		}
		if traffic, _ := s.o.threads.all(); traffic[0].final == nil {
			t.Error("the traffic thread did not tell of itself when its window was over")
		}
		threads := got.Reading(result.SourceThreads)
		if run := threads.Counts["traffic3.run_ns"]; run < int64(work) || run > threads.Counts["run_ns"] {
			return fmt.Errorf("the traffic thread ran for %d ns, and all for %d", run, threads.Counts["run_ns"])
		}
		if got.Reading(result.SourceCPU).Counts["context_switches"] == 0 || got.Reading(result.SourceSoftirqs).Counts["TIMER"]+got.Reading(result.SourceSoftirqs).Counts["SCHED"] == 0 {
			return errors.New("nothing happened on this machine")
		}
		if step := got.Reading(result.SourceClock).Counts["step_ns"]; step > int64(time.Millisecond) {
			return fmt.Errorf("the clock was set by %d ns", step)
		}
		return nil
	})
}
