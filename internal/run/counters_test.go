package run

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Figures of CPU time are of an end's own CPUs only where those are nobody
// else's.
func TestScope(t *testing.T) {
	for _, c := range []struct {
		name          string
		path          Path
		local, remote []int
	}{
		{"two hosts", Path{LocalCPU: 0, RemoteCPU: 1}, nil, nil},
		{"one machine, bound apart", Path{OneMachine: true, LocalCPU: 0, RemoteCPU: 1}, []int{0}, []int{1}},
		{"several threads", Path{OneMachine: true, LocalCPU: 2, LocalCPUs: []int{0, 2}, RemoteCPU: 1, RemoteCPUs: []int{3}}, []int{0, 2}, []int{1, 3}},
		{"the same CPU", Path{OneMachine: true, LocalCPU: 1, RemoteCPU: 1}, nil, nil},
		{"one CPU of several in common", Path{OneMachine: true, LocalCPU: 0, LocalCPUs: []int{1}, RemoteCPU: 1}, nil, nil},
		{"not bound", Path{OneMachine: true, LocalCPU: -1, RemoteCPU: 1}, nil, nil},
	} {
		if d := cmp.Diff([][]int{c.local, c.remote}, [][]int{c.path.scope(result.Local), c.path.scope(result.Remote)}); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// A trial has its own baseline, or the latest one of each end.
func TestBaselines(t *testing.T) {
	quiet := func(n int64) []result.Reading {
		return []result.Reading{{Source: result.SourceIdle, Elapsed: time.Duration(n)}}
	}
	trial := func(local, remote []result.Reading) *result.Trial {
		return &result.Trial{Local: result.End{Counters: &result.Counters{Baseline: local}}, Remote: &result.End{Counters: &result.Counters{Baseline: remote}}}
	}
	var b baselines
	if b.due(true) != baselineTime {
		t.Fatal("the first trial looks at no idle machine")
	}
	b.keep(trial(quiet(1), quiet(2)))
	if d := b.due(true); d != 0 {
		t.Errorf("the next trial looks again for %v", d)
	}
	next := trial(nil, nil)
	b.keep(next)
	if d := cmp.Diff([]any{quiet(1), quiet(2)}, []any{next.Local.Counters.Baseline, next.Remote.Counters.Baseline}); d != "" {
		t.Errorf("the next trial's baselines (-want +got):\n%s", d)
	}
	b.at = b.at.Add(-baselineAge - time.Second)
	if b.due(true) != baselineTime {
		t.Error("an old baseline is not taken anew")
	}
	b.keep(trial(quiet(3), nil)) // the remote end could not
	last := trial(nil, nil)
	b.due(true)
	b.keep(last)
	if d := cmp.Diff([]any{quiet(3), quiet(2)}, []any{last.Local.Counters.Baseline, last.Remote.Counters.Baseline}); d != "" {
		t.Errorf("baselines after one that only one end had (-want +got):\n%s", d)
	}
	b.keep(&result.Trial{}) // nothing counted, no remote end
}

// A trial without a remote end is no look at the remote host, and a look under
// one variant none at another.
func TestBaselinesOfTheirOwn(t *testing.T) {
	var r runner
	b := r.baselines("a")
	if d := b.due(false); d != baselineTime {
		t.Fatalf("the first trial looks for %v", d)
	}
	b.keep(&result.Trial{Local: result.End{Counters: &result.Counters{Baseline: []result.Reading{{Source: result.SourceIdle}}}}})
	if d := b.due(false); d != 0 {
		t.Errorf("the next one without a remote end looks for %v", d)
	}
	if d := b.due(true); d != baselineTime {
		t.Error("the first one with a remote end does not look at that")
	}
	b.keep(&result.Trial{Remote: &result.End{}})
	if d := r.baselines("a").due(true); d != 0 {
		t.Errorf("a remote end that has nothing to tell is asked each time: %v", d)
	}
	if d := r.baselines("b").due(true); d != baselineTime {
		t.Error("another variant has the first one's baseline")
	}
}

// Hosts at rest are the same whatever a test sends and a wire does to frames.
func TestRestKey(t *testing.T) {
	factor := func(name, knob string, values ...string) spec.Factor {
		f := spec.Factor{Name: name, Levels: values, Settings: map[string][]spec.Setting{}}
		for _, v := range values {
			f.Settings[v] = []spec.Setting{{End: spec.EndBoth, Knob: knob, Value: v}}
		}
		return f
	}
	plan := spec.Plan{Factors: []spec.Factor{
		factor("send", "param.send", "write", "sendfile"), factor("rate", "wire.rate", "none", "1Gbit/s"),
		factor("rx", "context", "softirq", "kthread"), {Name: "kernel", Levels: []string{"old", "new"}},
	}}
	keys := map[string]int{}
	for _, v := range plan.Variants() {
		keys[restKey(&plan, v)]++
	}
	if len(keys) != 4 {
		t.Errorf("%d baselines for two contexts and two kernels: %v", len(keys), keys)
	}
}

// A path may be measured with other counters than its plan's.
func TestSources(t *testing.T) {
	r := runner{Config: Config{Plan: spec.Plan{Counters: []string{"cpu"}}}, path: &Path{}}
	if d := cmp.Diff([]string{"cpu"}, r.sources(spec.Test{Name: "udp_rr"})); d != "" {
		t.Error(d)
	}
	r.path.Counters = []string{"none"}
	if d := cmp.Diff([]string{"none"}, r.sources(spec.Test{Name: "udp_rr"})); d != "" {
		t.Error(d)
	}
}

// What waits in queues is looked at for streams of a plan that explains.
func TestSourcesExplain(t *testing.T) {
	for _, c := range []struct {
		test          string
		explain       string
		counted, want []string
	}{
		{"tcp_stream", "", nil, nil},
		{"tcp_rr", "auto", nil, nil},
		{"tcp_stream", "auto", nil, []string{"default", "queues", "bpf"}},
		{"tcp_maerts", "auto", []string{"cpu"}, []string{"cpu", "queues", "bpf"}},
		{"udp_stream", "auto", []string{"none"}, []string{"none"}},
		{"udp_stream", "auto", []string{"all"}, []string{"all"}},
		{"udp_stream", "auto", []string{"queues", "cpu"}, []string{"queues", "cpu"}},
	} {
		r := runner{Config: Config{Plan: spec.Plan{Counters: c.counted, Explain: c.explain}}, path: &Path{}}
		if d := cmp.Diff(c.want, r.sources(spec.Test{Name: c.test})); d != "" {
			t.Errorf("%s of %v: %s", c.test, c.counted, d)
		}
	}
}
