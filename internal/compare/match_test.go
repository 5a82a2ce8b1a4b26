package compare

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func withCode(warnings []result.Warning, code string) []string {
	var all []string
	for _, w := range warnings {
		if w.Code == code {
			all = append(all, w.Text)
		}
	}
	return all
}

// rowsOf are the tests that a report has rows of, each once.
func rowsOf(r *Report) []string {
	var all []string
	for _, c := range r.Comparisons {
		if name := c.Name(); len(all) == 0 || all[len(all)-1] != name {
			all = append(all, name)
		}
	}
	return all
}

// What differs in anything that it was measured with is not compared.
func TestOnlyLikeIsComparedWithLike(t *testing.T) {
	plain := func(*Kept) {}
	for _, c := range []struct {
		name     string
		old, new func(*Kept)
		rows     []string
		warns    []string
	}{
		{"the same", plain, plain, []string{"udp_rr", "tcp_stream"}, nil},
		{"another size", plain, func(k *Kept) { params(k, "udp_rr", spec.Params{Size: 64}) }, []string{"tcp_stream"},
			[]string{"only x has udp_rr size=1: not compared", "only y has udp_rr size=64: not compared"}},
		{"another buffer", plain, func(k *Kept) { params(k, "tcp_stream", spec.Params{Size: 128 << 10, RcvBuf: 4096}) }, []string{"udp_rr"},
			[]string{"only x has tcp_stream size=128KiB: not compared", "only y has tcp_stream size=128KiB rcvbuf=4KiB: not compared"}},
		{"a test less", plain, func(k *Kept) { k.Trials = only(k.Trials, "udp_rr") }, []string{"udp_rr"},
			[]string{"only x has tcp_stream size=128KiB: not compared"}},
		{"another window of all", plain, func(k *Kept) { k.Run.Plan.Window = time.Second }, nil,
			[]string{"udp_rr size=1 is not compared: it was measured with time=200ms warmup=50ms in x and with time=1s warmup=50ms in y",
				"tcp_stream size=128KiB is not compared: it was measured with time=200ms warmup=50ms in x and with time=1s warmup=50ms in y"}},
		{"no warm-up", func(k *Kept) { k.Run.Plan.Warmup = 0; k.Trials = only(k.Trials, "udp_rr") }, plain, nil,
			[]string{"udp_rr size=1 is not compared: it was measured with time=200ms warmup=0s in x and with time=200ms warmup=50ms in y",
				"only y has tcp_stream size=128KiB: not compared"}},
		{"no plan, same window", plain, func(k *Kept) { k.Run.Plan = nil }, []string{"udp_rr", "tcp_stream"}, nil},
		{"no plan, but trials that know", func(k *Kept) {
			k.Run.Plan = nil
			for i := range k.Trials {
				k.Trials[i].Window, k.Trials[i].Warmup = 200*time.Millisecond, 50*time.Millisecond
			}
		}, plain, []string{"udp_rr", "tcp_stream"}, nil},
		{"trials that know better than the plan", func(k *Kept) {
			k.Trials = only(k.Trials, "udp_rr")
			for i := range k.Trials {
				k.Trials[i].Window, k.Trials[i].Warmup = 400*time.Millisecond, 50*time.Millisecond
				k.Trials[i].Local.Elapsed = 400 * time.Millisecond
			}
		}, func(k *Kept) { k.Trials = only(k.Trials, "udp_rr") }, nil,
			[]string{"udp_rr size=1 is not compared: it was measured with time=400ms warmup=50ms in x and with time=200ms warmup=50ms in y"}},
		{"no plan, another window", func(k *Kept) {
			k.Run.Plan = nil
			k.Trials = only(k.Trials, "udp_rr")
			for i := range k.Trials {
				k.Trials[i].Local.Elapsed = 300 * time.Millisecond
			}
		}, func(k *Kept) { k.Trials = only(k.Trials, "udp_rr") }, nil,
			[]string{"udp_rr size=1 is not compared: it was measured with time=300ms in x and with time=200ms warmup=50ms in y"}},
		{"another variant of the whole run", func(k *Kept) { vary(k, "softirq") }, func(k *Kept) { vary(k, "kthread") }, []string{"udp_rr", "tcp_stream"}, nil},
		{"several variants in a run", func(k *Kept) { vary(k, "softirq", "kthread") }, func(k *Kept) { vary(k, "kthread", "inline") },
			[]string{"udp_rr (rx=kthread)", "tcp_stream (rx=kthread)"},
			[]string{"only x has udp_rr size=1 (rx=softirq), tcp_stream size=128KiB (rx=softirq): not compared",
				"only y has udp_rr size=1 (rx=inline), tcp_stream size=128KiB (rx=inline): not compared"}},
	} {
		b := newBoots(t, 1, "udp_rr", "tcp_stream")
		old, new := b.run("x", 4, 1), b.run("y", 4, 1)
		c.old(&old)
		c.new(&new)
		r, err := Runs([]Kept{old}, []Kept{new}, RunsOptions{})
		if c.rows == nil {
			if !errors.Is(err, ErrNothingInCommon) || !strings.Contains(err.Error(), c.warns[0]) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.rows, rowsOf(&r)); d != "" {
			t.Errorf("%s: rows:\n%s", c.name, d)
		}
		if d := cmp.Diff(c.warns, withCode(r.Warnings, "unmatched")); d != "" {
			t.Errorf("%s: warnings:\n%s", c.name, d)
		}
		noPlan := old.Run.Plan == nil && old.Trials[0].Window == 0 || new.Run.Plan == nil && new.Trials[0].Window == 0
		if hasCode(r.Warnings, "timing-unknown") != noPlan || (r.WindowNS == 2e8) != (r.WarmupNS == 5e7) {
			t.Errorf("%s: window %d, warm-up %d, warnings %v", c.name, r.WindowNS, r.WarmupNS, warningTexts(r.Warnings))
		}
	}
}

func params(k *Kept, test string, p spec.Params) {
	for i := range k.Trials {
		if k.Trials[i].Test.Name == test {
			k.Trials[i].Test.Params = p
		}
	}
}

func only(trials []result.Trial, test string) []result.Trial {
	var all []result.Trial
	for _, x := range trials {
		if x.Test.Name == test {
			all = append(all, x)
		}
	}
	return all
}

// vary gives the run's blocks these levels in turn.
func vary(k *Kept, levels ...string) {
	for i := range k.Trials {
		x := &k.Trials[i]
		x.Variant = spec.Variant{"rx": levels[x.Block%len(levels)]}
	}
}

// A plan's window in one run, several in others: like goes with like, and the
// rows say which is which. A run without a plan joins one and not both.
func TestSeveralTimings(t *testing.T) {
	b := newBoots(t, 2, "tcp_stream")
	var sides [2][]Kept
	// It comes first, when no plan's timing is known yet.
	unknown := b.run("0", 4, 1)
	unknown.Run.Plan = nil
	sides[0] = append(sides[0], unknown)
	for i := range sides {
		for _, warmup := range []time.Duration{0, 50 * time.Millisecond} {
			k := b.run(fmt.Sprint(i), 4, 1)
			k.Run.Plan.Warmup = warmup
			sides[i] = append(sides[i], k)
		}
	}
	r := compareRuns(t, sides[0], sides[1], RunsOptions{})
	if d := cmp.Diff([]string{"tcp_stream (time=200ms warmup=0s)", "tcp_stream (time=200ms warmup=50ms)"}, rowsOf(&r)); d != "" {
		t.Errorf("rows:\n%s", d)
	}
	if r.WindowNS != 0 || r.WarmupNS != 0 || r.Trials != 20 {
		t.Errorf("window %d, warm-up %d, %d trials", r.WindowNS, r.WarmupNS, r.Trials)
	}
}

func TestNames(t *testing.T) {
	b := newBoots(t, 3, "tcp_stream")
	run := func(label string) Kept { return b.run(label, 4, 1) }
	one, two, three, four := run("old"), run("new"), run("old"), run("")
	id := func(k Kept) string { return k.Run.ID }
	for _, c := range []struct {
		name     string
		old, new []Kept
		opts     RunsOptions
		a, b     string
	}{
		{"labels", []Kept{one, three}, []Kept{two}, RunsOptions{}, "old", "new"},
		{"one label on both sides", []Kept{one}, []Kept{three}, RunsOptions{}, id(one), id(three)},
		{"several labels on one side", []Kept{one, two}, []Kept{three}, RunsOptions{}, id(one) + "+1", "old"},
		{"no label", []Kept{four}, []Kept{two}, RunsOptions{}, id(four), "new"},
		{"given", []Kept{one}, []Kept{three}, RunsOptions{Old: "a.json", New: "b.json"}, "a.json", "b.json"},
		{"one given", []Kept{one}, []Kept{three}, RunsOptions{Old: "old"}, "old", id(three)},
	} {
		r := compareRuns(t, c.old, c.new, c.opts)
		if got := r.Factors[0].Levels; got[0] != c.a || got[1] != c.b {
			t.Errorf("%s: %q, want %q and %q", c.name, got, c.a, c.b)
		}
	}
}

func TestRunsRefuses(t *testing.T) {
	b := newBoots(t, 3, "tcp_stream")
	one, two, empty := b.run("old", 4, 1), b.run("new", 4, 1), b.run("x", 4, 1)
	empty.Trials = nil
	twice := b.run("x", 4, 1)
	twice.Trials = append(twice.Trials, twice.Trials[2])
	for _, c := range []struct {
		name     string
		old, new []Kept
		opts     RunsOptions
		wantErr  string
	}{
		{"itself", []Kept{one}, []Kept{one}, RunsOptions{}, "run " + one.Run.ID + " is given twice"},
		{"twice on one side", []Kept{one, one}, []Kept{two}, RunsOptions{}, "is given twice"},
		{"a trial twice", []Kept{one}, []Kept{twice}, RunsOptions{}, `has trial 2 ("tcp_stream size=128KiB") twice`},
		{"no trials", []Kept{empty}, []Kept{two}, RunsOptions{}, "nothing to compare on the old side: its run has no trial"},
		{"no runs", []Kept{one}, nil, RunsOptions{}, "nothing to compare on the new side: its 0 runs have no trial"},
		{"margin", []Kept{one}, []Kept{two}, RunsOptions{Margin: 1}, "margin 1 is out of range"},
		{"names", []Kept{one}, []Kept{two}, RunsOptions{Old: "x", New: "x"}, `both sides are called "x"`},
	} {
		if _, err := Runs(c.old, c.new, c.opts); err == nil || !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: %v, want %q", c.name, err, c.wantErr)
		}
	}
	// Beside runs that have trials an empty one is no obstacle.
	if r := compareRuns(t, []Kept{one, empty}, []Kept{two}, RunsOptions{}); len(r.Sources) != 3 || r.Sources[1].Trials != 0 {
		t.Errorf("sources %+v", r.Sources)
	}
}

func TestLastAttemptOfARunCounts(t *testing.T) {
	b := newBoots(t, 3, "tcp_stream")
	old, new := b.run("old", 4, 1), b.run("new", 4, 1)
	want := compareRuns(t, []Kept{old}, []Kept{new}, RunsOptions{})
	spoiled := new.Trials[1]
	spoiled.Remote = &result.End{Role: result.Remote, Elapsed: 1, Bytes: 1}
	new.Trials[1].Attempt = 2
	new.Trials = append(new.Trials, spoiled)
	if d := cmp.Diff(want, compareRuns(t, []Kept{old}, []Kept{new}, RunsOptions{})); d != "" {
		t.Errorf("the first attempt was counted:\n%s", d)
	}
	// An import that numbers no blocks loses nothing.
	for i := range new.Trials {
		new.Trials[i].Block, new.Trials[i].Attempt, new.Trials[i].Order = 0, 0, i
	}
	if r := compareRuns(t, []Kept{old}, []Kept{new}, RunsOptions{}); r.Trials != 9 {
		t.Errorf("%d trials, want 9", r.Trials)
	}
}

func TestWarningsOfRuns(t *testing.T) {
	b := newBoots(t, 3, "icmp_echo", "udp_rr")
	old, new := b.runs(2, "old", 4, 1), b.runs(1, "new", 4, 1)
	old[1].Run.State = result.Running
	old[0].Run.Warnings = []result.Warning{{Code: "clock", Text: "the clock was set", Advice: "look at it"}}
	for i := range new[0].Trials {
		if x := &new[0].Trials[i]; x.Test.Name == "udp_rr" {
			x.Warnings = []result.Warning{{Code: "lock", Text: "refused"}}
		}
	}
	given := result.Warning{Code: "given", Text: "by the caller"}
	r := compareRuns(t, old, new, RunsOptions{Warnings: []result.Warning{given}})
	a0, a1 := old[0].Run.ID, old[1].Run.ID
	want := []string{
		"old and new are separate runs, so drift of the machines between them and what differs from boot to boot are inside every change",
		"by the caller",
		"old (run " + a0 + "): the clock was set",
		"old (run " + a1 + ") is still being measured, with 8 trials",
		"all 4 trials of new with a remote end: refused",
	}
	if d := cmp.Diff(want, warningTexts(r.Warnings)); d != "" {
		t.Error(d)
	}
	for _, c := range r.Comparisons {
		if hasCode(c.Warnings, "lock") {
			t.Errorf("%s %s has again what stands above: %v", c.Test, c.Metric, c.Warnings)
		}
	}
	if !r.Partial || !strings.HasPrefix(r.Answer()[0], "From runs that are not whole: new against old: ") {
		t.Errorf("partial %v, %q", r.Partial, r.Answer())
	}
}
