package run

import (
	"slices"
	"time"

	"netdelta/internal/result"
)

// How long a worker looks at the CPUs of its host while nothing flows, and how
// old that may get. Cost is what the CPUs do beyond it.
const (
	baselineTime = 250 * time.Millisecond
	baselineAge  = 10 * time.Second
)

// baselines are what the CPUs of the two hosts did without a test, as they were
// last looked at.
type baselines struct {
	at            time.Time // zero before the first
	asked         bool      // of the trial under way
	local, remote []result.Reading
}

// due is for how long the next trial is to look at the CPUs; 0 for not at all.
func (b *baselines) due() time.Duration {
	b.asked = b.at.IsZero() || time.Since(b.at) > baselineAge
	if b.asked {
		return baselineTime
	}
	return 0
}

// keep takes the trial's baselines, or gives it the latest ones.
func (b *baselines) keep(t *result.Trial) {
	if b.asked {
		b.at = time.Now()
	}
	for _, e := range []struct {
		end    *result.End
		latest *[]result.Reading
	}{{&t.Local, &b.local}, {t.Remote, &b.remote}} {
		switch {
		case e.end == nil || e.end.Counters == nil:
		case len(e.end.Counters.Baseline) > 0:
			*e.latest = e.end.Counters.Baseline
		default:
			e.end.Counters.Baseline = slices.Clone(*e.latest)
		}
	}
}

// sources are the counters that the path under test is to be measured with.
func (r *runner) sources() []string {
	if r.path.Counters != nil {
		return r.path.Counters
	}
	return r.Plan.Counters
}

// scope is the CPUs that are an end's alone; nil where both ends have the
// whole machine, or have not all their threads on CPUs that the other has none
// on.
func (p *Path) scope(role string) []int {
	if !p.OneMachine {
		return nil
	}
	local := append([]int{p.LocalCPU}, p.LocalCPUs...)
	remote := append([]int{p.RemoteCPU}, p.RemoteCPUs...)
	for _, cpu := range append(slices.Clone(local), remote...) {
		if cpu < 0 {
			return nil
		}
	}
	if slices.ContainsFunc(local, func(cpu int) bool { return slices.Contains(remote, cpu) }) {
		return nil
	}
	own := local
	if role == result.Remote {
		own = remote
	}
	slices.Sort(own)
	return slices.Compact(own)
}
