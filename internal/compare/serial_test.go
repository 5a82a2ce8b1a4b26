package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// levelsTrials makes tcp_stream trials of a plan in which log figures are what of
// says, given the place in time and the variant before in the block ("" for none).
func levelsTrials(plan spec.Plan, rng *rand.Rand, of func(block, time int, v spec.Variant, before string) float64) []result.Trial {
	var trials []result.Trial
	full := ran(&plan)
	g := &grid{plan: &plan, variants: full}
	plots := g.plots()
	for b := range plan.Blocks {
		before := ""
		for _, v := range drawn(rng, plots, nil) {
			n := int64(1e9 * math.Exp(of(b, len(trials), full[v], before)))
			trials = append(trials, result.Trial{Block: b, Order: len(trials), Variant: full[v], Test: plan.Tests[0],
				Local:  result.End{Role: result.Local, Elapsed: plan.Window, Bytes: 1, Counts: map[string]int64{"retransmits": 0}},
				Remote: &result.End{Role: result.Remote, Elapsed: plan.Window, Bytes: n}})
			before = full[v].Key(plan.Factors)
		}
	}
	return trials
}

func streamPlan(t *testing.T, blocks int, levels ...string) spec.Plan {
	p := rxContext(t, blocks).plan
	p.Tests = tests(t, "tcp_stream")
	p.Factors = []spec.Factor{{Name: "rx", Levels: levels}}
	p.Baseline = spec.Variant{"rx": levels[0]}
	return p
}

func warned(r *Report, code string) string {
	for _, w := range r.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

// Where a variant leaves nothing behind, carry-over is seen in at most 1% of the
// reports, on a machine that walks at random, too; what one does leave behind is
// found.
func TestCarryOver(t *testing.T) {
	const runs, planted = 300, 40
	for _, c := range []struct {
		name   string
		blocks int
		levels []string
		want   string
	}{
		{"two variants", 16, []string{"a", "b"}, "tcp_stream goodput of a is -"},
		{"three variants", 20, []string{"a", "b", "c"}, "of a is -"},
	} {
		alarms, found := 0, 0
		for i := range runs + planted {
			plan := streamPlan(t, c.blocks, c.levels...)
			plan.Seed = uint64(i)
			rng := rand.New(rand.NewPCG(uint64(i), 77))
			walk := 0.0
			trials := levelsTrials(plan, rng, func(_, _ int, v spec.Variant, before string) float64 {
				walk += 0.005 * rng.NormFloat64()
				y := walk + 0.01*rng.NormFloat64()
				if i >= runs && before == "rx=b" && v["rx"] == "a" {
					y -= 0.05
				}
				return y
			})
			g, err := newGrid(&plan, trials)
			if err != nil {
				t.Fatal(err)
			}
			w := g.carryOver(g.within())
			switch {
			case i < runs && w != nil:
				alarms++
			case i >= runs && w != nil && strings.Contains(w.Text, "can't be told apart") != (len(c.levels) == 2):
				t.Errorf("%s: %s", c.name, w.Text)
			case i >= runs && w != nil && strings.Contains(w.Text, c.want) && strings.Contains(w.Text, "right after b"):
				found++
			}
		}
		t.Logf("%s: %d false alarms in %d reports, %d of %d planted effects found", c.name, alarms, runs, found, planted)
		// 1% of 300 and three standard deviations.
		if alarms > 8 {
			t.Errorf("%s: %d false alarms in %d reports", c.name, alarms, runs)
		}
		if found < planted*9/10 {
			t.Errorf("%s: %d of %d planted effects found", c.name, found, planted)
		}
	}
}

// Under conditions, too, what a variant leaves behind is found for the variant that
// ran before and the one that it hits, whichever condition either was under.
func TestCarryOverUnderConditions(t *testing.T) {
	plan := streamPlan(t, 20, "a", "b")
	plan.Factors = append(plan.Factors, spec.Factor{Name: "rate", Levels: []string{"slow", "full"}, Condition: true})
	plan.Baseline["rate"] = "slow"
	for seed, c := range []struct{ before, of, want string }{
		{"rx=b rate=slow", "rx=a rate=full", "tcp_stream (rate=full) goodput of rx=a rate=full is "},
		{"rx=a rate=slow", "rx=b rate=slow", "tcp_stream (rate=slow) goodput of rx=b rate=slow is "},
	} {
		rng := rand.New(rand.NewPCG(uint64(seed), 78))
		trials := levelsTrials(plan, rng, func(_, _ int, v spec.Variant, before string) float64 {
			y := 0.01 * rng.NormFloat64()
			if before == c.before && v.Key(plan.Factors) == c.of {
				y -= 0.1
			}
			return y
		})
		r := build(t, plan, trials, Options{})
		if text := warned(&r, "carry-over"); !strings.Contains(text, c.want) || !strings.Contains(text, " right after "+c.before) {
			t.Errorf("%s after %s: %q", c.of, c.before, text)
		}
	}
}

// The order is not known of imports, whose trials all have the same place.
func TestCarryOverNeedsTheOrder(t *testing.T) {
	plan := streamPlan(t, 20, "a", "b", "c")
	rng := rand.New(rand.NewPCG(1, 1))
	trials := levelsTrials(plan, rng, func(_, _ int, v spec.Variant, before string) float64 {
		if before == "rx=b" {
			return 0.5
		}
		return 0.01 * rng.NormFloat64()
	})
	r := build(t, plan, trials, Options{})
	if warned(&r, "carry-over") == "" {
		t.Error("an effect of a half is not found")
	}
	for i := range trials {
		trials[i].Order = 0
	}
	r = build(t, plan, trials, Options{})
	if text := warned(&r, "carry-over"); text != "" {
		t.Errorf("without an order: %s", text)
	}
}

func TestDrift(t *testing.T) {
	noise := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct {
		name    string
		at      func(block int) float64
		want    bool
		halves  float64 // percent
		towards float64 // the sign of the correlation
	}{
		{"none", func(int) float64 { return 0 }, false, 0, 0},
		{"up by a tenth", func(b int) float64 { return 0.1 * float64(b) / 19 }, true, 5.4, 1},
		{"there and back", func(b int) float64 { return 0.15 * math.Sin(math.Pi*float64(b)/19) }, true, 0, 0},
		{"real but small", func(b int) float64 { return 0.02 * float64(b) / 19 }, false, 1, 1},
	} {
		plan := streamPlan(t, 20, "a", "b")
		trials := levelsTrials(plan, noise, func(b, _ int, v spec.Variant, _ string) float64 {
			y := c.at(b) + 0.002*noise.NormFloat64()
			if v["rx"] == "b" {
				y += 0.3
			}
			return y
		})
		r := build(t, plan, trials, Options{})
		if got := warned(&r, "drift"); (got != "") != c.want {
			t.Errorf("%s: warning %q", c.name, got)
		}
		if len(r.Drift) != 1 || len(r.Drift[0].Points) != 20 || len(r.Drift[0].Points[0].Values) != 2 {
			t.Fatalf("%s: %+v", c.name, r.Drift)
		}
		d := r.Drift[0]
		if math.Abs(*d.Halves-c.halves) > 1 {
			t.Errorf("%s: halves %v, want %v", c.name, *d.Halves, c.halves)
		}
		if math.Abs(*d.Correlation-c.towards) > 0.45 {
			t.Errorf("%s: correlation %v", c.name, *d.Correlation)
		}
	}
}

// Blocks that lie about at random are seldom called a drift.
func TestDriftFalseAlarms(t *testing.T) {
	const runs = 1000
	alarms := 0
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		levels := make([][]float64, 3)
		for s := range levels {
			for b := range 12 {
				v := rng.NormFloat64()
				if s > 0 {
					v += levels[0][b] // what blocks have in common
				}
				levels[s] = append(levels[s], v)
			}
		}
		if slices.Min(thirdsP(levels, uint64(i))) < serialLevel {
			alarms++
		}
	}
	t.Logf("%d of %d", alarms, runs)
	// 10 and three standard deviations.
	if alarms > 20 {
		t.Errorf("%d false alarms in %d", alarms, runs)
	}
}

// A slow factor's level is set once a block for all variants that have it, with
// an error of its own each time. Judged by its own spread between blocks it
// cries wolf no more often than it may, and the fast factor is as sharp as if
// there were no such error; with every trial taken for itself it cries wolf most
// of the time.
func TestSplitPlot(t *testing.T) {
	const runs = 300
	alarms, naive, found, interactions := 0, 0, 0, 0
	for i := range runs {
		plan := streamPlan(t, 10, "off", "on")
		plan.Factors = []spec.Factor{
			{Name: "mtu", Levels: []string{"1500", "9000"}, Slow: true},
			{Name: "gro", Levels: []string{"off", "on", "hw", "list"}},
		}
		plan.Baseline = spec.Variant{"mtu": "1500", "gro": "off"}
		plan.Seed = uint64(i)
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		plot, last := 0.0, ""
		trials := levelsTrials(plan, rng, func(_, time int, v spec.Variant, _ string) float64 {
			if time%8 == 0 || v["mtu"] != last {
				plot, last = 0.05*rng.NormFloat64(), v["mtu"]
			}
			y := plot + 0.01*rng.NormFloat64()
			if v["gro"] == "on" {
				y += 0.03
			}
			return y
		})
		g, err := newGrid(&plan, trials)
		if err != nil {
			t.Fatal(err)
		}
		mains, pairs, _, _ := effectsOf(&plan, g.variants)
		h := g.headlines()[0]
		var differences [][]float64
		for _, c := range slices.Concat(mains, pairs) {
			r := g.row(h.test, h.Definition, c)
			differences = append(differences, r.differences)
		}
		p, adj := stats.SignFlip(differences, plan.Seed)
		if p[0] < familyLevel {
			alarms++
		}
		if adj[1] < familyLevel {
			found++
		}
		if slices.Min(adj[4:]) < familyLevel {
			interactions++
		}
		var sides [2][]float64
		for v, y := range g.linked(h, logarithmic) {
			at := slices.Index(plan.Factors[0].Levels, g.variants[v]["mtu"])
			sides[at] = append(sides[at], y...)
		}
		if _, _, welch := stats.Welch(sides[0], sides[1]); welch < familyLevel {
			naive++
		}
	}
	t.Logf("slow factor: %d false alarms of %d, with trials as independent %d; fast factor found in %d; false interactions %d", alarms, runs, naive, found, interactions)
	// 5% and three standard deviations.
	if most := 26; alarms > most || interactions > most {
		t.Errorf("%d and %d false alarms in %d", alarms, interactions, runs)
	}
	if found < runs*9/10 {
		t.Errorf("the fast factor's 3%% are found in %d of %d", found, runs)
	}
	if naive < runs/4 {
		t.Errorf("trials taken as independent give only %d false alarms: the simulation shows nothing", naive)
	}
}
