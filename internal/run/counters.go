package run

import (
	"slices"
	"strings"
	"time"

	"netdelta/internal/counters"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// How long a worker looks at the CPUs of its host while nothing flows, and how
// old that may get. Cost is what the CPUs do beyond it.
const (
	baselineTime = 250 * time.Millisecond
	baselineAge  = 10 * time.Second
)

// baselines are what the CPUs of the two hosts did under one variant without a
// test, as they were last looked at. Another variant's may be other: a thread
// that spins while it waits belongs to its variant.
type baselines struct {
	at            time.Time // zero before the first
	far           bool      // the remote host was looked at then, too
	asked         bool      // of the trial under way
	local, remote []result.Reading
}

// baselines are those of the variants with that key (restKey).
func (r *runner) baselines(variant string) *baselines {
	if r.rest == nil {
		r.rest = map[string]*baselines{}
	}
	if r.rest[variant] == nil {
		r.rest[variant] = &baselines{}
	}
	return r.rest[variant]
}

// restKey tells variants apart between which hosts at rest can differ: what a test's
// parameters are, and what a wire does to frames, is nothing without traffic.
func restKey(plan *spec.Plan, v spec.Variant) string {
	var key []string
	for _, f := range plan.Factors {
		if f.Settings == nil {
			key = append(key, f.Name+"="+v[f.Name])
			continue
		}
		for _, s := range f.Settings[v[f.Name]] {
			row, _, err := s.Row()
			if err == nil && (row.Scope == spec.OnTest || row.Name == "wire") {
				continue
			}
			key = append(key, s.String())
		}
	}
	return strings.Join(key, " ")
}

// due is for how long the next trial, which has a remote end or not, is to look
// at the CPUs; 0 for not at all.
func (b *baselines) due(far bool) time.Duration {
	b.asked = b.at.IsZero() || time.Since(b.at) > baselineAge || far && !b.far
	if b.asked {
		return baselineTime
	}
	return 0
}

// keep takes the trial's baselines, or gives it the latest ones.
func (b *baselines) keep(t *result.Trial) {
	if b.asked {
		b.at, b.far = time.Now(), t.Remote != nil
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

// sources are the counters that the path under test is to be measured with. Of a stream
// in a plan that explains, what waits in the queues is looked at too, but where no
// counters are wanted at all.
func (r *runner) sources(test spec.Test) []string {
	names := r.Plan.Counters
	if r.path.Counters != nil {
		names = r.path.Counters
	}
	if r.Plan.Explain == "" || !test.Kind().IsStream() || slices.ContainsFunc(names, func(n string) bool {
		return n == counters.None || n == counters.All || n == result.SourceQueues
	}) {
		return names
	}
	if len(names) == 0 {
		names = []string{counters.Default}
	}
	names = append(slices.Clone(names), result.SourceQueues)
	if !slices.Contains(names, result.SourceBPF) {
		names = append(names, result.SourceBPF) // for how many frames come in a run of the handler
	}
	return names
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
