package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// onOff is a plan's part with factors of two levels.
func onOff(names ...string) *spec.Plan {
	p := &spec.Plan{Baseline: spec.Variant{}}
	for _, n := range names {
		p.Factors = append(p.Factors, spec.Factor{Name: n, Levels: []string{"off", "on"}})
		p.Baseline[n] = "off"
	}
	return p
}

// fraction are the variants of a crossing for which keep says so.
func fraction(p *spec.Plan, keep func(spec.Variant) bool) []spec.Variant {
	full := *p
	full.Chosen = nil
	return slices.DeleteFunc(full.Variants(), func(v spec.Variant) bool { return !keep(v) })
}

// evenly keeps the half of a crossing in which an even number of the named
// factors is on.
func evenly(names ...string) func(spec.Variant) bool {
	return func(v spec.Variant) bool {
		n := 0
		for _, name := range names {
			if v[name] == "on" {
				n++
			}
		}
		return n%2 == 0
	}
}

func namesOf(contrasts []contrast) []string {
	var all []string
	for _, c := range contrasts {
		all = append(all, c.factor)
	}
	return all
}

func codesOf(warnings []result.Warning) string {
	var all []string
	for _, w := range warnings {
		all = append(all, w.Code)
	}
	return strings.Join(all, " ")
}

// What some known designs can tell, as textbooks have it.
func TestDesigns(t *testing.T) {
	four, five := onOff("a", "b", "c", "d"), onOff("a", "b", "c", "d", "e")
	three := onOff("a", "b", "c")
	for _, c := range []struct {
		name    string
		plan    *spec.Plan
		run     []spec.Variant
		mains   string
		pairs   int
		aliases []string
		codes   string // of the report's warnings
		rows    string // code beside every main effect
	}{
		{"half of four factors, resolution IV", four, fraction(four, evenly("a", "b", "c", "d")), "a b c d", 3,
			[]string{"a:b = c:d", "a:c = b:d", "a:d = b:c"}, "aliased", ""},
		{"half of five, resolution V", five, fraction(five, evenly("a", "b", "c", "d", "e")), "a b c d e", 10, nil, "", ""},
		{"half of three, resolution III", three, fraction(three, evenly("a", "b", "c")), "a b c", 0,
			[]string{"a = b:c", "b = a:c", "c = a:b"}, "aliased", "aliased"},
		{"each change alone", three, fraction(three, func(v spec.Variant) bool {
			n := strings.Count(v.Key(three.Factors), "=on")
			return n <= 1
		}), "a b c", 0, nil, "no-interactions not-estimable", ""},
		{"two that always go together", three, fraction(three, func(v spec.Variant) bool { return v["a"] == v["b"] }), "a c", 1,
			[]string{"a = b", "a:c = b:c"}, "aliased not-estimable", "aliased"},
		{"one that never changes", three, fraction(three, func(v spec.Variant) bool { return v["c"] == "off" }), "a b", 1,
			[]string{"a = a:c", "b = b:c"}, "aliased not-estimable", "aliased"},
		{"seven of eight", three, fraction(three, func(v spec.Variant) bool { return strings.Count(v.Key(three.Factors), "=on") < 3 }), "a b c", 3, nil, "", ""},
	} {
		mains, both, aliases, warnings := effectsOf(c.plan, c.run)
		var groups []string
		for _, a := range aliases {
			groups = append(groups, strings.Join(a, " = "))
		}
		if got := strings.Join(namesOf(mains), " "); got != c.mains || len(both) != c.pairs {
			t.Errorf("%s: main effects %s, %d pairs (%v); want %s, %d", c.name, got, len(both), namesOf(both), c.mains, c.pairs)
		}
		if d := cmp.Diff(c.aliases, groups); d != "" {
			t.Errorf("%s: aliases:\n%s", c.name, d)
		}
		if got := codesOf(warnings); got != c.codes {
			t.Errorf("%s: warnings %q, want %q: %+v", c.name, got, c.codes, warnings)
		}
		for _, m := range mains {
			if got := codesOf(m.warnings); got != c.rows && !(c.name == "two that always go together" && m.factor == "c") {
				t.Errorf("%s: row %s warns of %q, want %q", c.name, m.factor, got, c.rows)
			}
		}
	}
}

// apply is what a contrast makes of one figure for each variant.
func apply(c contrast, y []float64) float64 {
	mix := func(of []int, shares []float64) float64 {
		sum := 0.0
		for i, v := range of {
			if shares == nil {
				sum += y[v] / float64(len(of))
			} else {
				sum += shares[i] * y[v]
			}
		}
		return sum
	}
	return c.weight * (mix(c.plus, c.plusShares) - mix(c.minus, c.minusShares))
}

// Of the full crossing the general way gives what the plain means give, and of a
// part of it what the full crossing gives, if the figures have no more than
// two-factor interactions and no alias is warned of.
func TestLeastSquaresAgreesWithTheFullCrossing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := &spec.Plan{Baseline: spec.Variant{}}
		for _, name := range []string{"a", "b", "c"}[:rapid.IntRange(2, 3).Draw(t, "factors")] {
			f := spec.Factor{Name: name, Levels: []string{"0", "1", "2", "3"}[:rapid.IntRange(2, 4).Draw(t, "levels")]}
			plan.Factors = append(plan.Factors, f)
			plan.Baseline[name] = rapid.SampledFrom(f.Levels).Draw(t, "baseline")
		}
		full := plan.Variants()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		effect := map[string]float64{}
		y := make([]float64, len(full))
		for v := range full {
			for i, f := range plan.Factors {
				for _, g := range plan.Factors[i:] { // f with itself is its main effect
					key := f.Name + full[v][f.Name] + g.Name + full[v][g.Name]
					if _, known := effect[key]; !known {
						effect[key] = rng.NormFloat64()
					}
					y[v] += effect[key]
				}
			}
		}
		want := map[string]float64{}
		for _, c := range slices.Concat(mainEffects(plan, full), interactions(plan, full)) {
			want[c.factor+" "+c.variant] = apply(c, y)
		}
		var run []spec.Variant
		var part []float64
		for v := range full {
			if rapid.IntRange(0, 9).Draw(t, "run") > 0 {
				run, part = append(run, full[v]), append(part, y[v])
			}
		}
		if len(run) == 0 {
			return
		}
		mains, both, _, warnings := newDesign(plan, run).effects()
		if len(run) == len(full) && (len(mains)+len(both) != len(want) || len(warnings) > 0) {
			t.Fatalf("of the full crossing %d of %d effects, warnings %v", len(mains)+len(both), len(want), warnings)
		}
		biased := strings.Contains(codesOf(warnings), "no-interactions")
		for _, c := range slices.Concat(mains, both) {
			if len(c.warnings) > 0 || biased && !strings.Contains(c.factor, ":") {
				continue
			}
			if got := apply(c, part); math.Abs(got-want[c.factor+" "+c.variant]) > 1e-6 {
				t.Fatalf("%s %s is %v, want %v", c.factor, c.variant, got, want[c.factor+" "+c.variant])
			}
		}
	})
}

// A fraction goes through Build: rows once, aliases listed, columns of figures
// that were measured.
func TestFractionIsReported(t *testing.T) {
	s := factorial(t)
	s.plan.Tests = tests(t, "tcp_stream")
	p := onOff("a", "b", "c", "d")
	s.plan.Factors, s.plan.Baseline = p.Factors, p.Baseline
	s.plan.Chosen = fraction(p, evenly("a", "b", "c", "d"))
	var trials []result.Trial
	for b := range s.plan.Blocks {
		for i, v := range s.plan.Chosen {
			n := int64(1e6)
			if v["a"] == "on" {
				n *= 2
			}
			if v["a"] == "on" && v["b"] == "on" {
				n *= 3
			}
			trials = append(trials, result.Trial{Block: b, Order: b*8 + i, Variant: v, Test: s.plan.Tests[0],
				Local:  result.End{Role: result.Local, Elapsed: s.plan.Window, Bytes: 1, Counts: map[string]int64{"retransmits": 0}},
				Remote: &result.End{Role: result.Remote, Elapsed: s.plan.Window, Bytes: n * int64(b+1)}})
		}
	}
	r := build(t, s.plan, trials, Options{})
	if r.Variants != 8 || r.Partial || r.Blocks != s.plan.Blocks || len(r.Aliases) != 3 {
		t.Errorf("variants %d, partial %v, blocks %d, aliases %v", r.Variants, r.Partial, r.Blocks, r.Aliases)
	}
	a := r.Comparisons[0]
	if a.Factor != "a" || math.Abs(*a.DeltaPct-100*(2*math.Sqrt(3)-1)) > 1e-3 {
		t.Errorf("a: %+v", a)
	}
	seen := map[string]bool{}
	for _, e := range r.Effects {
		if e.Metric == result.Goodput {
			seen[e.Factor] = true
			if codesOf(e.Warnings) != "aliased" {
				t.Errorf("%s warns of %q", e.Factor, codesOf(e.Warnings))
			}
			if want := map[string]float64{"a:b": 200}[e.Factor]; math.Abs(*e.DeltaPct-want) > 1e-3 {
				t.Errorf("%s is %v%%, want %v", e.Factor, *e.DeltaPct, want)
			}
		}
	}
	for _, sentence := range r.Answer() {
		if strings.Contains(sentence, "independently") || strings.Contains(sentence, "on the mean over") ||
			strings.HasPrefix(sentence, "a:b ") && !strings.Contains(sentence, "together with c:d, which can't be told from it: tcp_stream goodput +200%") {
			t.Errorf("the answer claims too much: %s", sentence)
		}
	}
	if len(seen) != 3 {
		t.Errorf("effects of %v", seen)
	}
}
