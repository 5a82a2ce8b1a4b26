package compare

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// streamed is a run of tcp_stream with those goodputs in Mbit/s and as many
// retransmits per second.
func streamed(t testing.TB, id uint64, label string, window time.Duration, mbits, retransmits []int64) Kept {
	t.Helper()
	test := tests(t, "tcp_stream")[0]
	k := Kept{Run: result.Run{ID: result.RunID(id), Label: label, State: result.Complete, Start: time.Unix(int64(id), 0),
		Plan: &spec.Plan{Warmup: time.Second, Window: window}}}
	for i, m := range mbits {
		bytes := int64(float64(m) * 1e6 / 8 * window.Seconds())
		k.Trials = append(k.Trials, result.Trial{Test: test, Block: i, Order: i, Attempt: 1,
			Local: result.End{Role: result.Local, Elapsed: window, Bytes: bytes,
				Counts: map[string]int64{"retransmits": int64(float64(retransmits[i]) * window.Seconds())}},
			Remote: &result.End{Role: result.Remote, Elapsed: window, Bytes: bytes}})
	}
	return k
}

// Five against five that don't overlap, by hand. The 25 ratios of goodput have
// 2 in their middle, U is at its extreme (p = 2/252), and the 95% interval
// goes from the third smallest to the third largest ratio with the level 1 -
// 2*4/252: there is 1 way to have U = 0, 1 for 1, 2 for 2, and 3 for 3, which
// would be too much.
func TestRunsByHand(t *testing.T) {
	old := streamed(t, 1, "old", 2*time.Second, []int64{100, 110, 120, 130, 140}, []int64{0, 1, 2, 3, 4})
	new := streamed(t, 2, "new", 2*time.Second, []int64{200, 220, 240, 260, 280}, []int64{20, 21, 22, 23, 24})
	r := compareRuns(t, []Kept{old}, []Kept{new}, RunsOptions{})
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-3*math.Abs(want)+1e-9 {
			t.Errorf("%s is %v, want %v", what, value(got), want)
		}
	}
	c := find(t, r.Comparisons, "new", "tcp_stream", "goodput")
	near("delta", c.DeltaPct, 100)
	near("lo", c.LoPct, 100*(220./140-1)) // after 200/140 and 200/130
	near("hi", c.HiPct, 100*(280./110-1)) // before 260/100 and 280/100
	near("level", &c.Confidence, 1-2*4./252)
	near("p", c.P, 2./252)
	near("p_adj", c.PAdj, 2*2./252) // goodput and retransmits are a family
	near("median a", c.A.Median, 120e6)
	near("median b", c.B.Median, 240e6)
	if c.Verdict != Better || c.N != 5 || c.NA != 5 || c.NB != 5 || c.Factor != "run" || c.Baseline != "old" || c.TrialsNeeded != 0 || c.Spread != nil {
		t.Errorf("goodput: %+v", c)
	}
	c = find(t, r.Comparisons, "new", "tcp_stream", "retransmits")
	near("delta", c.Delta, 20)
	near("p", c.P, 2./252)
	near("margin", &c.Margin, 1) // one a second is more than one a window of 2 s
	if c.Verdict != Worse || c.DeltaPct != nil {
		t.Errorf("retransmits: %+v", c)
	}
	if r.Pairing != Unpaired || r.Experiment != "compare" || r.Trials != 10 || r.Blocks != 0 || r.Partial || r.WindowNS != 2e9 || r.WarmupNS != 1e9 ||
		r.MarginPct != 2 || !slices.Equal(r.Factors[0].Levels, []string{"old", "new"}) || len(r.Sources) != 2 {
		t.Errorf("report: %+v", r)
	}
	if w := r.Warnings[0]; w.Code != "unpaired" || !strings.Contains(w.Advice, "netdelta ab") {
		t.Errorf("the first warning is %+v", w)
	}
	if got := r.Answer(); len(got) != 1 || !strings.HasPrefix(got[0], "new against old: tcp_stream goodput +100% (57 to ") || !strings.HasSuffix(got[0], "better, but retransmits +20.0 (17.0 to 23.0) /s, worse.") {
		t.Errorf("answer: %q", got)
	}
}

func TestFewestTrials(t *testing.T) {
	// 2 / C(2n, n) is 1/35, 1/126, 1/462, 1/1716 and 1/6435 for n from 4 to 8.
	for rows, want := range map[int]int{-1: 4, 0: 4, 1: 4, 2: 5, 6: 5, 7: 6, 23: 6, 24: 7, 35: 7, 85: 7, 86: 8, 321: 8, 322: 9} {
		if got := FewestTrials(rows); got != want {
			t.Errorf("%d rows: %d, want %d", rows, got, want)
		}
	}
	if !canTell(1, 40, 1) || canTell(1, 39, 1) || !canTell(40, 1, 1) || canTell(3, 4, 1) || !canTell(3, 5, 1) {
		t.Error("sides of other sizes are misjudged")
	}
}

func TestTooFewTrials(t *testing.T) {
	run := func(id uint64, n int, from int64) Kept {
		var mbits, zeros []int64
		for i := range n {
			mbits, zeros = append(mbits, from+int64(i)), append(zeros, 0)
		}
		return streamed(t, id, "", time.Second, mbits, zeros)
	}
	for _, c := range []struct {
		a, b        int
		verdict     Verdict // of retransmits, which are alike
		needed      int     // trials for goodput, at least
		few, answer string
	}{
		{1, 1, Unsure, 5, "1 trial a side can give no verdict: with 2 figures in one report, better or worse needs 5 a side", "no verdict from 1 trial a side (5 are needed)"},
		{3, 3, Unsure, 5, "3 trials a side can give no verdict: with 2 figures in one report, better or worse needs 5 a side", "no verdict from 3 trials a side (5 are needed)"},
		{4, 4, Same, 5, "4 trials a side can tell at most what is the same: with 2 figures in one report, better or worse needs 5 a side", "no verdict from 4 trials a side (5 are needed)"},
		{2, 20, Same, 0, "", "better"},
	} {
		r := compareRuns(t, []Kept{run(1, c.a, 100)}, []Kept{run(2, c.b, 1000)}, RunsOptions{})
		few := ""
		for _, w := range r.Warnings {
			if w.Code == "few-trials" {
				few = w.Text
			}
		}
		goodput := r.Comparisons[0]
		if few != c.few || goodput.TrialsNeeded < c.needed || (c.needed == 0) != (goodput.Verdict == Better) || goodput.N != min(c.a, c.b) {
			t.Errorf("%d against %d: %q, goodput %s needs %d", c.a, c.b, few, goodput.Verdict, goodput.TrialsNeeded)
		}
		if got := find(t, r.Comparisons, r.Factors[0].Levels[1], "tcp_stream", "retransmits").Verdict; got != c.verdict {
			t.Errorf("%d against %d: retransmits %s, want %s", c.a, c.b, got, c.verdict)
		}
		if got := r.Answer()[0]; !strings.Contains(got, c.answer) {
			t.Errorf("%d against %d: %q lacks %q", c.a, c.b, got, c.answer)
		}
	}
}

func TestTrialsNeeded(t *testing.T) {
	noise := []float64{-0.03, -0.01, 0, 0.01, 0.03}
	if n := trialsNeeded(noise, noise, 1, 0.02, 35); n != FewestTrials(35) {
		t.Errorf("an effect of 45 sigma needs %d trials", n)
	}
	if n := trialsNeeded([]float64{1, 1}, []float64{1, 1}, 0, 0.02, 35); n != 4 {
		t.Errorf("figures without spread need %d trials", n)
	}
	if n := trialsNeeded([]float64{1}, []float64{2}, 1, 0.02, 35); n != 0 {
		t.Errorf("figures whose spread is not known need %d trials", n)
	}
	rapid.Check(t, func(t *rapid.T) {
		shift := rapid.Float64Range(0, 1).Draw(t, "shift")
		margin := rapid.Float64Range(0.001, 1).Draw(t, "margin")
		rows := rapid.IntRange(1, 100).Draw(t, "rows")
		n := trialsNeeded(noise, noise, shift, margin, rows)
		if n < 4 || n > 10000 {
			t.Fatalf("%d", n)
		}
		if m := trialsNeeded(noise, noise, shift, margin*1.5, rows); m > n {
			t.Fatalf("a wider margin needs %d rather than %d", m, n)
		}
		if m := trialsNeeded(noise, noise, shift, margin, rows+5); m < n {
			t.Fatalf("more rows need %d rather than %d", m, n)
		}
		if m := trialsNeeded(noise, noise, -shift, margin, rows); m != n {
			t.Fatalf("the other direction needs %d rather than %d", m, n)
		}
	})
}

// The other way round every shift is the inverse and every verdict the
// opposite; the order of trials and of a side's runs means nothing.
func TestRunsDontDependOnOrder(t *testing.T) {
	b := newBoots(t, 4, "tcp_rr", "udp_stream", "tcp_stream")
	b.noise = 0.01
	old, new := b.runs(3, "old", 4, 1), b.runs(2, "new", 7, 1.1)
	r := compareRuns(t, old, new, RunsOptions{})
	rng := rand.New(rand.NewPCG(1, 1))
	for _, side := range [][]Kept{old, new} {
		slices.Reverse(side)
		for _, k := range side {
			rng.Shuffle(len(k.Trials), func(i, j int) { k.Trials[i], k.Trials[j] = k.Trials[j], k.Trials[i] })
		}
	}
	again := compareRuns(t, old, new, RunsOptions{})
	if d := cmp.Diff(r, again, cmpopts.IgnoreFields(Report{}, "Sources"), cmpopts.EquateApprox(1e-9, 1e-12)); d != "" {
		t.Errorf("another order, another report:\n%s", d)
	}
	turned := map[Verdict]Verdict{Better: Worse, Worse: Better, Same: Same, Unsure: Unsure}
	back := compareRuns(t, new, old, RunsOptions{})
	for i, c := range back.Comparisons {
		x := r.Comparisons[i]
		est, lo, hi := c.Shift()
		was, wasLo, wasHi := x.Shift()
		if c.Scale == Percent {
			est, lo, hi = invert(est), invert(lo), invert(hi)
		} else {
			est, lo, hi = -est, -lo, -hi
		}
		if math.Abs(est-was) > 1e-6 || math.Abs(lo-wasHi) > 1e-6 || math.Abs(hi-wasLo) > 1e-6 || c.NA != x.NB || *c.P != *x.P {
			t.Errorf("%s %s: %s, and back %s", x.Test, x.Metric, x.Change(1), c.Change(1))
		}
		// A percentage is not symmetrical about the margin.
		if x.Verdict != Same && c.Verdict != Same && c.Verdict != turned[x.Verdict] {
			t.Errorf("%s %s is %s, and back %s", x.Test, x.Metric, x.Verdict, c.Verdict)
		}
	}
}

func invert(percent float64) float64 { return 100 * (1/(1+percent/100) - 1) }

func TestAnyRunsGiveASoundReport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := newBoots(nilTB{}, 1, "icmp_echo", "udp_rr", "tcp_rr", "udp_stream", "tcp_stream").plan
		first := rapid.IntRange(0, 4).Draw(t, "test")
		id := uint64(0)
		side := func(name string) []Kept {
			var all []Kept
			for range rapid.IntRange(1, 3).Draw(t, name) {
				plan := base
				plan.Tests = base.Tests[first : first+1]
				plan.Blocks = rapid.IntRange(1, 6).Draw(t, "trials")
				plan.Factors, plan.Baseline = []spec.Factor{{Name: "rx", Levels: []string{"a", "b"}}}, spec.Variant{"rx": "a"}
				id++
				k := Kept{Run: result.Run{ID: result.RunID(id), Plan: &plan, State: result.Complete}, Trials: anyTrials(plan, rapid.Uint64().Draw(t, "seed"))}
				for i := range k.Trials {
					k.Trials[i].Order = i
					if rapid.Bool().Draw(t, "one variant") {
						k.Trials[i].Variant = nil
					}
				}
				if rapid.IntRange(0, 3).Draw(t, "no plan") == 0 {
					k.Run.Plan = nil
				}
				all = append(all, k)
			}
			return all
		}
		r, err := Runs(side("old"), side("new"), RunsOptions{})
		if errors.Is(err, ErrNothingInCommon) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("not to be written as JSON: %v", err)
		}
		var again Report
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, again, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("JSON gives another report:\n%s", d)
		}
		for _, list := range []string{`"comparisons":null`, `"effects":null`, `"warnings":null`, `"factors":null`, `"environment_diff":null`, `"runs":null`} {
			if strings.Contains(string(data), list) {
				t.Fatalf("%s in %s", list, data)
			}
		}
		if !strings.Contains(string(data), `"pairing":"none"`) || !strings.Contains(string(data), `"environment_diff":[`) {
			t.Fatalf("no pairing or no environment_diff in %s", data)
		}
		for _, c := range r.Comparisons {
			soundUnpaired(t, &r, c)
		}
		if len(r.Answer()) == 0 || r.Warnings[0].Code != "unpaired" {
			t.Fatal("no answer, or no word on pairing")
		}
	})
}

func soundUnpaired(t *rapid.T, r *Report, c Comparison) {
	est, lo, hi := c.Shift()
	known := c.DeltaPct != nil || c.Delta != nil
	judged := c.Verdict == Better || c.Verdict == Worse
	switch {
	case c.N != min(c.NA, c.NB):
		t.Fatalf("n %d of %d and %d", c.N, c.NA, c.NB)
	case c.Verdict != Unsure && c.Confidence < 0.95:
		t.Fatalf("%s with a confidence of %v", c.Verdict, c.Confidence)
	case judged && (!canTell(c.NA, c.NB, r.Families.Main) || *c.PAdj >= 0.05):
		t.Fatalf("%s from %d and %d trials with p_adj %v", c.Verdict, c.NA, c.NB, *c.PAdj)
	case !known && (c.Verdict != Unsure || c.P != nil || c.PAdj != nil || c.TrialsNeeded != 0 || !strings.HasPrefix(c.Change(1), "n/a (")):
		t.Fatalf("no shift, yet %+v", c)
	case known && (c.P == nil || c.PAdj == nil || *c.P > *c.PAdj || *c.PAdj > 1 || c.N < 1):
		t.Fatalf("a shift from %d with p %v, p_adj %v", c.N, value(c.P), value(c.PAdj))
	case known && c.Confidence > 0 && !(lo <= est && est <= hi):
		t.Fatalf("shift %v outside %v to %v", est, lo, hi)
	case c.Margin <= 0 || c.BlocksNeeded != 0:
		t.Fatalf("margin %v, %d blocks needed", c.Margin, c.BlocksNeeded)
	case known && c.Verdict == Unsure && c.TrialsNeeded <= c.N && c.TrialsNeeded != FewestTrials(r.Families.Main):
		t.Fatalf("needs %d trials and has %d", c.TrialsNeeded, c.N)
	case c.Verdict != Unsure && c.TrialsNeeded != 0:
		t.Fatalf("%s needs %d trials", c.Verdict, c.TrialsNeeded)
	}
}
