package compare

import (
	"testing"

	"netdelta/internal/spec"
)

// A level against itself under another name, on a machine that drifts far
// more than the margin: whole reports with a false better or worse must not
// be more than the family's 5%. The seed is fixed; the bound is four standard
// deviations of a binomial count above that.
func TestFalseAlarms(t *testing.T) {
	const runs, most = 120, 15 // 6 + 4*sqrt(5.7)
	alarms, same := 0, 0
	for i := range runs {
		s := rxContext(t, 7)
		s.plan.Factors = []spec.Factor{{Name: "rx", Levels: []string{"softirq", "softirq-again"}}}
		s.plan.Tests = tests(t, "udp_stream", "tcp_stream")
		s.plan.Seed, s.seed = uint64(i), uint64(1000+i)
		s.noise, s.drift = 0.03, 0.1
		r := build(t, s.plan, s.run(), Options{})
		alarm := false
		for _, c := range r.Comparisons {
			alarm = alarm || c.Verdict == Better || c.Verdict == Worse
			if c.Verdict == Same && c.Metric == "goodput" {
				same++
			}
		}
		if alarm {
			alarms++
		}
	}
	t.Logf("%d of %d reports with a false alarm, %d of %d goodputs called same", alarms, runs, same, 2*runs)
	if alarms > most {
		t.Errorf("%d of %d reports cry a difference where there is none, more than %d", alarms, runs, most)
	}
	if alarms == 0 {
		t.Error("no false alarm at all in all reports: the test would not see a verdict that never comes")
	}
	if same > runs/10 {
		t.Errorf("%d of %d rows are called same, and 7 blocks of this noise bear no such thing", same, 2*runs)
	}
}

// The same machine, with a true change: it must be found, and never with the
// wrong sign.
func TestTrueChangesAreFound(t *testing.T) {
	const runs = 60
	found := 0
	for i := range runs {
		s := rxContext(t, 8)
		s.plan.Factors = []spec.Factor{{Name: "rx", Levels: []string{"softirq", "kthread"}}}
		s.plan.Tests = tests(t, "udp_stream", "tcp_stream")
		s.plan.Seed, s.seed = uint64(i), uint64(2000+i)
		s.noise, s.drift = 0.01, 0.02 // kthread adds 5%
		r := build(t, s.plan, s.run(), Options{})
		switch c := find(t, r.Comparisons, "kthread", "tcp_stream", "goodput"); c.Verdict {
		case Better:
			found++
		case Worse, Same:
			t.Errorf("run %d: 5%% more goodput is called %s: %s", i, c.Verdict, c.Change(1))
		}
	}
	t.Logf("found in %d of %d", found, runs)
	if found < runs*2/3 {
		t.Errorf("5%% more goodput is found in only %d of %d runs", found, runs)
	}
}
