package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// boots makes kept runs of a simulated machine, one after the other.
type boots struct {
	plan spec.Plan
	// noise is the standard deviation of a trial's logarithm, boot that of
	// what a whole run has in common.
	noise, boot float64
	rng         *rand.Rand
	made        int
}

func newBoots(t testing.TB, seed uint64, names ...string) *boots {
	return &boots{noise: 0.03, rng: rand.New(rand.NewPCG(seed, 2)), plan: spec.Plan{
		Tests: tests(t, names...), Warmup: 50 * time.Millisecond, Window: 200 * time.Millisecond, Seed: seed, Margin: 0.02,
	}}
}

// run makes one run of so many trials of each test, whose headline figure is
// multiplied with effect.
func (b *boots) run(label string, trials int, effect float64) Kept {
	b.made++
	plan := b.plan
	plan.Blocks = trials
	k := Kept{Run: result.Run{
		Schema: result.RunSchema, ID: result.RunID(uint64(b.made) * 1_234_567_890_123), Label: label, Target: "192.0.2.1",
		State: result.Complete, Start: time.Unix(1e9, 0).Add(time.Duration(b.made) * time.Hour).UTC(), Plan: &plan, Version: "0.1.0",
		Environments: []result.Environment{
			{End: result.Local, Facts: []Fact{{Name: "kernel", Value: "6.18.0"}, {Name: "cpu", Value: "AMD EPYC 7B13"}}},
			{End: result.Remote, Facts: []Fact{{Name: "kernel", Value: "6.18.0"}, {Name: "cpu", Value: "AMD EPYC 7B13"}}},
		},
	}}
	s := simulation{plan: plan, loss: func(spec.Variant) float64 { return 0.001 }}
	all := math.Log(effect) + b.boot*b.rng.NormFloat64()
	for block := range trials {
		for _, test := range plan.Tests {
			level := paths[test.Name] * math.Exp(all+b.noise*b.rng.NormFloat64())
			x := s.trial(b.rng, spec.Slot{Block: block}, test, level, len(k.Trials))
			x.Attempt = 1
			k.Trials = append(k.Trials, x)
		}
	}
	return k
}

func (b *boots) runs(n int, label string, trials int, effect float64) []Kept {
	var all []Kept
	for range n {
		all = append(all, b.run(label, trials, effect))
	}
	return all
}

func compareRuns(t testing.TB, old, new []Kept, opts RunsOptions) Report {
	t.Helper()
	r, err := Runs(old, new, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func alarmed(r *Report) bool {
	for _, c := range r.Comparisons {
		if c.Verdict == Better || c.Verdict == Worse {
			return true
		}
	}
	return false
}

// One variant against itself, in runs that differ by nothing but noise: whole
// reports with a false better or worse must not be more than the family's 5%.
// The seeds are fixed; the bound is four standard deviations above that.
func TestFalseAlarmsBetweenRuns(t *testing.T) {
	const reports, most = 600, 51 // 30 + 4*sqrt(28.5)
	for _, c := range []struct {
		name     string
		old, new []int // trials of each run
	}{
		{"eight against eight", []int{8}, []int{8}},
		{"six against fourteen", []int{6}, []int{14}},
		{"boots that are alike", []int{3, 3, 3}, []int{3, 3, 3}},
	} {
		alarms, same := 0, 0
		for i := range reports {
			b := newBoots(t, uint64(1000+i), "udp_stream", "tcp_stream")
			var sides [2][]Kept
			for side, sizes := range [][]int{c.old, c.new} {
				for _, n := range sizes {
					sides[side] = append(sides[side], b.run(fmt.Sprint(side), n, 1))
				}
			}
			r := compareRuns(t, sides[0], sides[1], RunsOptions{})
			if alarmed(&r) {
				alarms++
			}
			if find(t, r.Comparisons, "1", "tcp_stream", "goodput").Verdict == Same {
				same++
			}
		}
		t.Logf("%s: %d of %d reports with a false alarm, %d goodputs called same", c.name, alarms, reports, same)
		if alarms > most {
			t.Errorf("%s: %d of %d reports cry a difference where there is none, more than %d", c.name, alarms, reports, most)
		}
		if alarms == 0 {
			t.Errorf("%s: no false alarm at all: the test would not see a verdict that never comes", c.name)
		}
		if same > reports/10 {
			t.Errorf("%s: %d of %d rows are called same, and this noise bears no such thing", c.name, same, reports)
		}
	}
}

// A true change is found as often as the estimate of trials says, and never
// with the wrong sign.
func TestTrueChangesAreFoundBetweenRuns(t *testing.T) {
	const reports = 300
	b := newBoots(t, 5, "tcp_stream")
	pilot := compareRuns(t, b.runs(1, "old", 200, 1), b.runs(1, "new", 200, 1.05), RunsOptions{})
	c := find(t, pilot.Comparisons, "new", "tcp_stream", "goodput")
	if c.Verdict != Better {
		t.Fatalf("200 trials: %s, %s", c.Change(1), c.Verdict)
	}
	rows := pilot.Families.Main
	n := trialsNeeded(goodputs(b, 200), nil, math.Log(1.05), math.Log(1.02), rows)
	if n < 8 || n > 20 {
		t.Fatalf("%d trials a side for 5%% in noise of 3%% among %d rows", n, rows)
	}
	found := 0
	for i := range reports {
		b := newBoots(t, uint64(2000+i), "tcp_stream")
		r := compareRuns(t, b.runs(1, "old", n, 1), b.runs(1, "new", n, 1.05), RunsOptions{})
		switch c := find(t, r.Comparisons, "new", "tcp_stream", "goodput"); c.Verdict {
		case Better:
			found++
		case Worse, Same:
			t.Errorf("report %d: 5%% more goodput is called %s: %s", i, c.Verdict, c.Change(1))
		}
	}
	t.Logf("%d trials a side: found in %d of %d", n, found, reports)
	if found < reports*7/10 || found > reports*95/100 {
		t.Errorf("with the %d trials that should give 80%%, 5%% more goodput is found in %d of %d reports", n, found, reports)
	}
}

// goodputs are logarithms of that many figures of the machine.
func goodputs(b *boots, n int) []float64 {
	var all []float64
	k := b.run("x", n, 1)
	for i := range k.Trials {
		all = append(all, math.Log(newCell(&k.Trials[i]).figure(result.Taken{Name: result.Goodput, End: result.Remote})))
	}
	return all
}

// Where boots differ, trials are no independent evidence and false alarms are
// the rule: so the report must say so beside nearly every one of them.
func TestBootsThatDifferAreTold(t *testing.T) {
	const reports = 100
	alarms, untold := 0, 0
	for i := range reports {
		b := newBoots(t, uint64(3000+i), "udp_stream", "tcp_stream")
		b.noise, b.boot = 0.01, 0.05
		r := compareRuns(t, b.runs(3, "old", 4, 1), b.runs(3, "new", 4, 1), RunsOptions{})
		for _, c := range r.Comparisons {
			if c.Verdict != Better && c.Verdict != Worse {
				continue
			}
			alarms++
			if !c.Spread.Wide() || !hasCode(c.Warnings, "run-spread") {
				untold++
			}
		}
		if !hasCode(r.Warnings, "unpaired") {
			t.Fatal("no word that the runs are not paired")
		}
	}
	t.Logf("%d false alarms, %d of them without a warning about the runs' spread", alarms, untold)
	if alarms < reports/2 {
		t.Errorf("only %d false alarms: this machine does not show what the warning is for", alarms)
	}
	if untold > alarms/20 {
		t.Errorf("%d of %d false alarms have no warning beside them", untold, alarms)
	}
}

// What no arithmetic can tell: a machine that drifts between two single runs.
// There a difference is found most of the time, so every report warns.
func TestDriftBetweenRunsIsInside(t *testing.T) {
	const reports = 100
	alarms := 0
	for i := range reports {
		b := newBoots(t, uint64(4000+i), "udp_stream", "tcp_stream")
		b.noise, b.boot = 0.01, 0.05
		r := compareRuns(t, b.runs(1, "old", 8, 1), b.runs(1, "new", 8, 1), RunsOptions{})
		if alarmed(&r) {
			alarms++
		}
		if r.Warnings[0].Code != "unpaired" {
			t.Fatalf("the first warning is %+v", r.Warnings[0])
		}
	}
	t.Logf("%d of %d reports find a difference that is the machine's", alarms, reports)
	if alarms < reports/2 {
		t.Errorf("only %d of %d reports: the warning promises more trouble than there is", alarms, reports)
	}
}

func hasCode(warnings []result.Warning, code string) bool {
	for _, w := range warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}
