package compare

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// anyTrials makes trials of a plan with whatever counts: zeros, contradictory
// ones, none; some trials are missing.
func anyTrials(plan spec.Plan, seed uint64) []result.Trial {
	rng := rand.New(rand.NewPCG(seed, 0))
	pick := func(of ...int64) int64 { return of[rng.IntN(len(of))] }
	end := func(role string) result.End {
		e := result.End{Role: role, Counts: map[string]int64{}, Messages: pick(0, 1, 2, 3),
			Elapsed: time.Duration(pick(0, 1, 1e8, 1e8, 1<<62)), Bytes: pick(0, 1, 1000, 1<<62)}
		for _, name := range []string{"sent", "lost", "unique", "total", "duplicates", "reordered", "retransmits"} {
			if rng.IntN(10) > 0 {
				e.Counts[name] = pick(0, 1, 1, 2, 1000, 1<<62)
			}
		}
		return e
	}
	var trials []result.Trial
	for _, slot := range plan.Schedule() {
		for _, test := range slot.Tests {
			if rng.IntN(10) == 0 {
				continue
			}
			x := result.Trial{Block: slot.Block, Variant: slot.Variant, Test: test, Local: end(result.Local)}
			if n := pick(-1, 0, 1, 100, 1000); n >= 0 {
				x.Local.RTT = hist.New()
				for range n {
					x.Local.RTT.Record(pick(1, 2, 3, 1<<40))
				}
			}
			if rng.IntN(4) > 0 {
				r := end(result.Remote)
				x.Remote = &r
			}
			trials = append(trials, x)
		}
	}
	return trials
}

func TestAnyTrialsGiveASoundReport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rxContext(nilTB{}, rapid.IntRange(1, 8).Draw(t, "blocks"))
		s.plan.Factors[0].Levels = s.plan.Factors[0].Levels[:2]
		if rapid.Bool().Draw(t, "two factors") {
			s.plan.Factors = append(s.plan.Factors, spec.Factor{Name: "offload", Levels: []string{"off", "on"}})
			s.plan.Baseline["offload"] = "off"
		}
		first := rapid.IntRange(0, 4).Draw(t, "test")
		s.plan.Tests = s.plan.Tests[first : first+1]
		trials := anyTrials(s.plan, rapid.Uint64().Draw(t, "seed"))
		r, err := Build(s.plan, trials, Options{})
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
		// Only what is known to be unknown may be null: lists are lists.
		for _, list := range []string{`"comparisons":null`, `"effects":null`, `"warnings":null`, `"factors":null`} {
			if strings.Contains(string(data), list) {
				t.Fatalf("%s in %s", list, data)
			}
		}
		g, err := newGrid(&s.plan, trials)
		if err != nil {
			t.Fatal(err)
		}
		perLevel := len(definitions(s.plan.Tests[0], g.of(0)))
		if want := perLevel * len(s.plan.Factors); len(r.Comparisons) != want || len(r.Effects) != perLevel*(len(s.plan.Factors)-1) {
			t.Fatalf("%d rows and %d effects", len(r.Comparisons), len(r.Effects))
		}
		for _, c := range append(r.Comparisons, r.Effects...) {
			soundRow(t, c, s.plan.Blocks)
		}
		if len(r.Answer()) == 0 {
			t.Fatal("no answer")
		}
	})
}

func soundRow(t *rapid.T, c Comparison, blocks int) {
	est, lo, hi := c.Shift()
	known := c.DeltaPct != nil || c.Delta != nil
	switch {
	case c.N < 0 || c.N > blocks:
		t.Fatalf("n %d of %d blocks", c.N, blocks)
	case c.N < spec.MinBlocks && c.Verdict != Unsure:
		t.Fatalf("%s from %d blocks", c.Verdict, c.N)
	case !known && (c.Verdict != Unsure || c.P != nil || c.PAdj != nil || !strings.HasPrefix(c.Change(1), "n/a (")):
		t.Fatalf("no shift, yet %+v", c)
	case known && (c.P == nil || c.PAdj == nil || *c.P > *c.PAdj || *c.PAdj > 1):
		t.Fatalf("a shift with p %v, p_adj %v", value(c.P), value(c.PAdj))
	case known && c.N > 1 && !(lo <= est && est <= hi):
		t.Fatalf("shift %v outside %v to %v", est, lo, hi)
	case c.Scale == Percent && known && est < -100:
		t.Fatalf("%v%% of a positive figure", est)
	case c.Confidence < 0 || c.Confidence > 1 || c.Margin <= 0:
		t.Fatalf("confidence %v, margin %v", c.Confidence, c.Margin)
	case c.Verdict == Unsure && c.BlocksNeeded != 0 && c.BlocksNeeded <= c.N:
		t.Fatalf("needs %d blocks and has %d", c.BlocksNeeded, c.N)
	case c.Verdict != Unsure && c.BlocksNeeded != 0:
		t.Fatalf("%s needs %d blocks", c.Verdict, c.BlocksNeeded)
	}
}

// nilTB lets rapid use helpers that take a testing.TB and never fail.
type nilTB struct{ testing.TB }

func (nilTB) Helper() {}
