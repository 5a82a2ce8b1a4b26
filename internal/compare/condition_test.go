package compare

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// sending is two ways to send at three rates: the wire holds two of them, and the
// second way passes more at full speed and less at 100 Mbit/s.
func sending(t testing.TB, blocks int) simulation {
	s := rxContext(t, blocks)
	s.plan.Experiment, s.plan.Question = "send-path", ""
	s.plan.Factors = []spec.Factor{{Name: "send", Levels: []string{"write", "sendfile"}},
		{Name: "rate", Levels: []string{"100Mbit/s", "1Gbit/s", "full"}, Condition: true}}
	s.plan.Baseline = spec.Variant{"send": "write", "rate": "100Mbit/s"}
	s.plan.Tests = tests(t, "tcp_stream", "udp_stream")
	s.effect = func(v spec.Variant, test spec.Test) float64 {
		e := map[string]float64{"100Mbit/s": 0.01, "1Gbit/s": 0.1, "full": 1}[v["rate"]]
		if v["send"] == "sendfile" && test.Name == "tcp_stream" {
			e *= map[string]float64{"100Mbit/s": 0.8, "1Gbit/s": 1, "full": 1.5}[v["rate"]]
		}
		return e
	}
	s.noise, s.drift = 0.004, 0.002
	s.loss = func(spec.Variant) float64 { return 0.01 }
	return s
}

// within returns the row of a condition.
func within(t testing.TB, rows []Comparison, condition, test, metric string) Comparison {
	t.Helper()
	i := slices.IndexFunc(rows, func(c Comparison) bool {
		return c.Under == condition && c.Test == test && c.Metric == metric
	})
	if i < 0 {
		t.Fatalf("no row for %s, %s, %s", condition, test, metric)
	}
	return rows[i]
}

// Within each condition levels are compared as in a plan of its own; what stands for
// conditions is compared with nothing.
func TestConditionsAreComparedWithin(t *testing.T) {
	s := sending(t, 10)
	r := build(t, s.plan, s.run(), Options{})
	if len(r.Factors) != 2 || !r.Factors[1].Condition || r.Variants != 6 || r.Blocks != 10 || len(r.Effects) != 0 || len(r.Cells) != 0 || len(r.Simple) != 0 {
		t.Errorf("factors %v, %d variants, %d blocks, %d effects, %d cells, %d simple", r.Factors, r.Variants, r.Blocks, len(r.Effects), len(r.Cells), len(r.Simple))
	}
	rates := s.plan.Factors[1].Levels
	main, detail, at := 0, 0, -1
	for i, c := range r.Comparisons {
		if c.Factor != "send" || c.Baseline != "write" || c.Variant != "sendfile" || c.N != 10 {
			t.Fatalf("row %d is %s %s against %s of %d blocks", i, c.Factor, c.Variant, c.Baseline, c.N)
		}
		place := slices.Index(rates, strings.TrimPrefix(c.Under, "rate="))
		if place < at {
			t.Errorf("row %d, %s, comes after a later condition", i, c.Under)
		}
		at = place
		if c.Rank() == result.Detail {
			detail++
		} else {
			main++
		}
	}
	if r.Families != (Families{main, detail}) {
		t.Errorf("families %+v of %d main rows and %d details", r.Families, main, detail)
	}
	for _, c := range []struct {
		rate    string
		delta   float64
		verdict Verdict
	}{{"100Mbit/s", -20, Worse}, {"1Gbit/s", 0, Same}, {"full", 50, Better}} {
		got := within(t, r.Comparisons, "rate="+c.rate, "tcp_stream", "goodput")
		if got.Verdict != c.verdict || math.Abs(*got.DeltaPct-c.delta) > 2 {
			t.Errorf("at %s: %s, %s", c.rate, got.Change(1), got.Verdict)
		}
	}
	seen := map[string]bool{}
	for _, d := range r.Drift {
		seen[d.Name()] = true
		if !slices.Equal(d.Variants, []string{"write", "sendfile"}) {
			t.Errorf("a series of %v", d.Variants)
		}
	}
	for _, c := range r.Counts {
		seen[c.Under+" "+c.Variant] = true
	}
	for _, want := range []string{"tcp_stream (rate=full)", "udp_stream (rate=100Mbit/s)", "rate=1Gbit/s sendfile", "rate=full write"} {
		if !seen[want] {
			t.Errorf("nothing is of %q: %v", want, slices.Sorted(maps.Keys(seen)))
		}
	}
	if len(r.Losses) != 6 || r.Losses[0].Under != "rate=100Mbit/s" || r.Losses[0].Variant != "write" {
		t.Errorf("losses %+v", r.Losses)
	}
	if got := r.Answer(); len(got) != 1 || !strings.HasPrefix(got[0], "sendfile against write: tcp_stream goodput ") ||
		!strings.Contains(got[0], " at rate=100Mbit/s, worse; tcp_stream goodput ") || !strings.Contains(got[0], " at rate=full, better; ") ||
		!strings.Contains(got[0], "tcp_stream goodput same at rate=1Gbit/s") || !strings.Contains(got[0], "udp_stream goodput same at every rate") {
		t.Errorf("the answer is %q", got)
	}
}

// A condition of one level changes nothing but that it is named.
func TestConditionOfOneLevel(t *testing.T) {
	for _, factors := range []int{1, 2} {
		s := factorial(t)
		s.plan.Factors = s.plan.Factors[:factors]
		s.plan.Baseline = s.plan.Baseline.Of(s.plan.Factors)
		plain := build(t, s.plan, s.run(), Options{})
		s.plan.Factors = append(slices.Clone(s.plan.Factors), spec.Factor{Name: "rate", Levels: []string{"full"}, Condition: true})
		s.plan.Baseline = maps.Clone(s.plan.Baseline)
		s.plan.Baseline["rate"] = "full"
		within := build(t, s.plan, s.run(), Options{})
		if a, b := plain.Answer(), within.Answer(); len(a) != len(b) {
			t.Errorf("answers:\n%s\nand\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
		for i := range within.Simple {
			if !strings.HasPrefix(within.Simple[i].Under, "rate=full ") {
				t.Errorf("simple effect under %q", within.Simple[i].Under)
			}
			within.Simple[i].Under = strings.TrimPrefix(within.Simple[i].Under, "rate=full ")
		}
		notNamed := cmp.FilterPath(func(p cmp.Path) bool {
			name := p.Last().String()
			return name == ".Factors" || name == ".Under" && !strings.HasPrefix(p.String(), "Simple")
		}, cmp.Ignore())
		if d := cmp.Diff(plain, within, notNamed); d != "" {
			t.Errorf("%d factors: a condition of one level changed the report:\n%s", factors, d)
		}
	}
}

// Two factors within conditions have interactions, cells and simple effects of each
// of them.
func TestFactorsWithinConditions(t *testing.T) {
	s := factorial(t)
	s.plan.Factors = append(s.plan.Factors, spec.Factor{Name: "rate", Levels: []string{"slow", "full"}, Condition: true})
	s.plan.Baseline["rate"] = "slow"
	plain := s.effect
	s.effect = func(v spec.Variant, test spec.Test) float64 {
		if v["rate"] == "slow" {
			return 1
		}
		return plain(v, test)
	}
	r := build(t, s.plan, s.run(), Options{})
	slow, full := within(t, r.Effects, "rate=slow", "udp_stream", "goodput"), within(t, r.Effects, "rate=full", "udp_stream", "goodput")
	if slow.Verdict == Better || full.Verdict != Better || math.Abs(*full.DeltaPct-100) > 10 {
		t.Errorf("interactions %s, %s and %s, %s", slow.Change(1), slow.Verdict, full.Change(1), full.Verdict)
	}
	cells := map[string]int{}
	for _, c := range r.Cells {
		cells[c.Under]++
		if len(c.Variant) != 2 {
			t.Errorf("a cell of %v", c.Variant)
		}
	}
	if cells["rate=slow"] != 8 || cells["rate=full"] != 8 {
		t.Errorf("cells %v", cells)
	}
	for _, c := range r.Simple {
		if c.Of().Name == "udp_stream" && !strings.HasPrefix(c.Under, "rate=full ") {
			t.Errorf("a simple effect under %s", c.Under)
		}
	}
	depend := map[string]bool{}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if over := r.dependsOn(c); c.Of().Name == "udp_stream" && c.Metric == "goodput" {
			depend[c.Under] = depend[c.Under] || len(over) > 0
		}
	}
	if depend["rate=slow"] || !depend["rate=full"] {
		t.Errorf("which effects depend on another factor: %v", depend)
	}
	text := strings.Join(r.Answer(), "\n")
	for _, want := range []string{
		"rx kthread against softirq: ", "at rate=full, better on the mean over offload",
		"\nrx:offload kthread:on, both changes together: udp_stream goodput at rate=full +", "On udp_stream (rate=full) goodput, rx kthread is ", " with offload=off and ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Any order of the list of trials gives the same report, and a trial that is missing
// under one condition costs the rows of another nothing.
func TestConditionsHoldTogether(t *testing.T) {
	s := sending(t, 8)
	s.plan.Tests = tests(t, "tcp_stream")
	trials := s.run()
	whole := build(t, s.plan, trials, Options{})
	rapid.Check(t, func(t *rapid.T) {
		mixed := rapid.Permutation(trials).Draw(t, "trials")
		lost := mixed[0]
		r, err := Build(s.plan, mixed[1:], Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Partial || r.Blocks != 7 {
			t.Fatalf("partial %v, %d blocks", r.Partial, r.Blocks)
		}
		for i, c := range r.Comparisons {
			o := whole.Comparisons[i]
			if touched := c.Under == "rate="+lost.Variant["rate"] && c.Of() == lost.Test; touched != (c.N == 7) || touched != (o.N != c.N) {
				t.Fatalf("%s of %s has %d blocks, without a trial of %s %s", c.Name(), c.Metric, c.N, lost.Variant, lost.Test)
			} else if !touched && cmp.Diff(o.DeltaPct, c.DeltaPct, cmpopts.EquateEmpty()) != "" {
				t.Fatalf("%s of %s moved", c.Name(), c.Metric)
			}
		}
	})
	slices.Reverse(trials)
	if d := cmp.Diff(whole, build(t, s.plan, trials, Options{})); d != "" {
		t.Errorf("the trials' order in the list changed the report:\n%s", d)
	}
}

// made is trials of streams under conditions: log figures with what a block has in
// common in all of them, and noise of their own.
func made(plan spec.Plan, rng *rand.Rand, effect float64) []result.Trial {
	var trials []result.Trial
	block := -1
	common := 0.0
	for _, slot := range plan.Schedule() {
		if slot.Block != block {
			block, common = slot.Block, 0.1*rng.NormFloat64()
		}
		for _, test := range slot.Tests {
			y := common + 0.03*rng.NormFloat64()
			if slot.Variant["send"] == "sendfile" {
				y += effect
			}
			trials = append(trials, result.Trial{Block: slot.Block, Order: len(trials), Variant: slot.Variant, Test: test,
				Local:  result.End{Role: result.Local, Elapsed: plan.Window, Bytes: 1, Counts: map[string]int64{"retransmits": int64(rng.IntN(9))}},
				Remote: &result.End{Role: result.Remote, Elapsed: plan.Window, Bytes: int64(1e9 * math.Exp(y))}})
		}
	}
	return trials
}

// One family over all conditions raises a false alarm in at most 5% of the reports,
// and the intervals hold what was put in as often as they say.
func TestFamilyOverConditions(t *testing.T) {
	const runs, planted, effect = 500, 100, 0.02
	s := sending(t, 7)
	s.plan.Tests = tests(t, "tcp_stream")
	s.plan.Factors[1].Levels = s.plan.Factors[1].Levels[:2]
	judged := func(seed uint64, effect float64) []*row {
		s.plan.Seed = seed
		g, err := newGrid(&s.plan, made(s.plan, rand.New(rand.NewPCG(seed, 77)), effect))
		if err != nil {
			t.Fatal(err)
		}
		parts := g.within()
		mains, _, _, _ := effectsOf(parts[0].plan, parts[0].variants)
		rows := rowsWithin(parts, mains)
		judgeFamilies(rows, seed, g.level())
		return rows
	}
	alarms, covered, intervals := 0, 0, 0
	for i := range uint64(runs) {
		if slices.ContainsFunc(judged(i, 0), func(r *row) bool {
			return r.Rank() != result.Detail && (r.Verdict == Better || r.Verdict == Worse)
		}) {
			alarms++
		}
		if i >= planted {
			continue
		}
		for _, r := range judged(runs+i, effect) {
			if r.Metric != result.Goodput {
				continue
			}
			intervals++
			if *r.LoPct <= 100*math.Expm1(effect) && 100*math.Expm1(effect) <= *r.HiPct {
				covered++
			}
		}
	}
	t.Logf("%d of %d reports with a false alarm; %d of %d intervals cover", alarms, runs, covered, intervals)
	if alarms > runs/20 || alarms == 0 {
		t.Errorf("%d of %d reports cry a difference where there is none", alarms, runs)
	}
	if intervals != 2*planted || float64(covered) < 0.92*float64(intervals) {
		t.Errorf("%d of %d intervals cover what was put in", covered, intervals)
	}
}

// A fraction within conditions has the same aliases in all, and what a plan bears is
// told beforehand.
func TestFractionsWithinConditions(t *testing.T) {
	s := factorial(t)
	s.plan.Tests = tests(t, "tcp_stream")
	p := onOff("a", "b", "c", "d")
	half := fraction(p, evenly("a", "b", "c", "d"))
	s.plan.Factors = append(p.Factors, spec.Factor{Name: "mtu", Levels: []string{"1500", "9000"}, Condition: true})
	s.plan.Baseline = p.Baseline
	s.plan.Baseline["mtu"] = "1500"
	for i := range half {
		for _, mtu := range []string{"9000", "1500"} {
			v := maps.Clone(half[(i*3)%len(half)])
			v["mtu"] = mtu
			s.plan.Chosen = append(s.plan.Chosen, v)
		}
	}
	aliases, warnings := Bears(&s.plan)
	if len(aliases) != 3 || codesOf(warnings) != "aliased" {
		t.Errorf("aliases %v, warnings %v", aliases, warnings)
	}
	var trials []result.Trial
	for b := range s.plan.Blocks {
		for i, v := range s.plan.Chosen {
			n := int64(1e6)
			if v["a"] == "on" && v["mtu"] == "9000" {
				n *= 2
			}
			trials = append(trials, result.Trial{Block: b, Order: b*16 + i, Variant: v, Test: s.plan.Tests[0],
				Local:  result.End{Role: result.Local, Elapsed: s.plan.Window, Bytes: 1, Counts: map[string]int64{"retransmits": 0}},
				Remote: &result.End{Role: result.Remote, Elapsed: s.plan.Window, Bytes: n * int64(b+1)}})
		}
	}
	r := build(t, s.plan, trials, Options{})
	if !slices.EqualFunc(r.Aliases, aliases, slices.Equal) || r.Variants != 16 || r.Partial {
		t.Errorf("aliases %v, %d variants, partial %v", r.Aliases, r.Variants, r.Partial)
	}
	for _, c := range r.Comparisons {
		want := 0.0
		if c.Factor == "a" && c.Under == "mtu=9000" {
			want = 100
		}
		if c.Metric == result.Goodput && math.Abs(*c.DeltaPct-want) > 1e-6 {
			t.Errorf("%s, %s: %v%%, want %v", c.Factor, c.Under, *c.DeltaPct, want)
		}
	}
}

// A condition that sets a parameter makes tests of its own, and precision, gates and
// warnings know conditions.
func TestConditionsElsewhere(t *testing.T) {
	s := sending(t, 10)
	s.plan.Tests = tests(t, "udp_rr")
	s.plan.Precision = 0.5
	s.plan.Factors = []spec.Factor{{Name: "rx", Levels: []string{"softirq", "kthread"}}, {Name: "size", Levels: []string{"64", "1024"}, Condition: true,
		Settings: map[string][]spec.Setting{"64": {{End: spec.EndBoth, Knob: "param.size", Value: "64"}}, "1024": {{End: spec.EndBoth, Knob: "param.size", Value: "1024"}}}}}
	s.plan.Baseline = spec.Variant{"rx": "softirq", "size": "64"}
	s.effect = func(v spec.Variant, test spec.Test) float64 {
		if v["rx"] == "kthread" && v["size"] == "1024" {
			return 1.5
		}
		return 1
	}
	trials := s.run()
	for i := range trials {
		of, err := s.plan.TestUnder(trials[i].Variant, trials[i].Test)
		if err != nil {
			t.Fatal(err)
		}
		trials[i].Test = of
		if trials[i].Variant["size"] == "64" {
			trials[i].Warnings = []result.Warning{{Code: "own-cpu", Text: "the tool was slow"}}
		}
		if trials[i].Variant["rx"] == "kthread" {
			trials[i].Local.Warnings = []result.Warning{{Code: "mlockall", Text: "no lock"}}
		}
	}
	r := build(t, s.plan, trials, Options{})
	small, large := within(t, r.Comparisons, "size=64", "udp_rr", "rtt_p50"), within(t, r.Comparisons, "size=1024", "udp_rr", "rtt_p50")
	if small.Params.Size != 64 || large.Params.Size != 1024 || small.Varied != nil || large.Verdict != Worse {
		t.Errorf("%s %v %v and %s %v, %s", small.Name(), small.Params, small.Varied, large.Name(), large.Params, large.Verdict)
	}
	p, err := PrecisionOf(s.plan, trials)
	if err != nil || !p.Reached || p.Widest == 0 || !strings.Contains(p.Of, "(size=") || strings.Contains(p.Of, "rx kthread") {
		t.Errorf("precision %+v, %v", p, err)
	}
	gates, err := ParseGates("worse")
	if err != nil {
		t.Fatal(err)
	}
	if g, err := r.Judge(gates); err != nil || len(g.Failed) == 0 || !strings.HasPrefix(g.Failed[0], "udp_rr 1KiB (size=1024) ") || !strings.Contains(g.Failed[0], ", kthread against softirq: ") {
		t.Errorf("the gate says %q, %v", g.Failed, err)
	}
	for _, want := range []string{"all 20 trials at size=64: the tool was slow", "all 20 trials of kthread: no lock"} {
		if !slices.ContainsFunc(r.Warnings, func(w result.Warning) bool { return strings.Contains(w.Text, want) }) {
			t.Errorf("no warning %q in %v", want, r.Warnings)
		}
	}
}
