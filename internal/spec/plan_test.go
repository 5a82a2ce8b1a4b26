package spec

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// plan is a valid plan for a test to spoil.
func plan() Plan {
	rr, _ := NewTest("udp_rr", Params{})
	st, _ := NewTest("tcp_stream", Params{})
	return Plan{
		Experiment: "rx-context",
		Factors:    []Factor{{Name: "rx", Levels: []string{"inline", "softirq", "kthread"}}},
		Baseline:   Variant{"rx": "softirq"},
		Tests:      []Test{rr, st},
		Blocks:     8,
		Warmup:     50 * time.Millisecond,
		Window:     200 * time.Millisecond,
		Seed:       1,
		Margin:     0.02,
	}
}

func TestValidate(t *testing.T) {
	many := Factor{Name: "many"}
	for i := range 1000 {
		many.Levels = append(many.Levels, fmt.Sprint("l", i))
	}
	deep := make([]Factor, 70) // 2^70 variants: more than an int counts
	for i := range deep {
		deep[i] = Factor{Name: fmt.Sprint("f", i), Levels: []string{"off", "on"}}
	}
	for _, c := range []struct {
		name    string
		spoil   func(*Plan)
		wantErr string // "" for a plan that is still valid
	}{
		{"as it is", func(p *Plan) {}, ""},
		{"one block", func(p *Plan) { p.Blocks = 1 }, ""},
		{"no warm-up", func(p *Plan) { p.Warmup = 0 }, ""},
		{"shortest window", func(p *Plan) { p.Window = MinWindow }, ""},
		{"a test without its defaults", func(p *Plan) { p.Tests[0].Params = Params{} }, ""},
		{"no blocks", func(p *Plan) { p.Blocks = 0 }, "blocks 0 is out of range: 1 to 10000 (a verdict needs 6)"},
		{"negative blocks", func(p *Plan) { p.Blocks = -1 }, "blocks -1 is out of range"},
		{"too many blocks", func(p *Plan) { p.Blocks = MaxBlocks + 1 }, "out of range"},
		{"window too short", func(p *Plan) { p.Window = MinWindow - 1 }, "time 49.999999ms is out of range: 50ms to 1h0m0s"},
		{"negative window", func(p *Plan) { p.Window = -time.Second }, "out of range"},
		{"window too long", func(p *Plan) { p.Window = MaxWindow + 1 }, "out of range"},
		{"negative warm-up", func(p *Plan) { p.Warmup = -1 }, "warm-up -1ns is out of range"},
		{"no margin", func(p *Plan) { p.Margin = 0 }, "margin 0 is out of range"},
		{"margin of all", func(p *Plan) { p.Margin = 1 }, "out of range"},
		{"margin not a number", func(p *Plan) { p.Margin = math.NaN() }, "out of range"},
		{"no tests", func(p *Plan) { p.Tests = nil }, "no test named: valid are icmp_echo"},
		{"bad test", func(p *Plan) { p.Tests[1].Name = "x" }, `unknown test "x"`},
		{"test twice", func(p *Plan) { p.Tests[1] = Test{Name: "udp_rr"} }, `test "udp_rr size=1" is named twice`},
		{"no factors", func(p *Plan) { p.Factors = nil }, "no factor named"},
		{"factor without a name", func(p *Plan) { p.Factors[0].Name = "" }, "the name is empty"},
		{"factor twice", func(p *Plan) { p.Factors = append(p.Factors, p.Factors[0]) }, "factor rx is named twice"},
		{"one level", func(p *Plan) { p.Factors[0].Levels = []string{"softirq"} }, "two levels or more to compare, got 1"},
		{"no levels", func(p *Plan) { p.Factors[0].Levels = nil }, "two levels or more"},
		{"empty level", func(p *Plan) { p.Factors[0].Levels[0] = "" }, "the name is empty"},
		{"level twice", func(p *Plan) { p.Factors[0].Levels[0] = "softirq" }, "level softirq is named twice (softirq-again"},
		{"level with a blank", func(p *Plan) { p.Factors[0].Levels[0] = "a b" }, `has ' ' in it`},
		{"level with =", func(p *Plan) { p.Factors[0].Levels[0] = "a=b" }, `has '=' in it`},
		{"level not ASCII", func(p *Plan) { p.Factors[0].Levels[0] = "größe" }, `has 'ö' in it`},
		{"level too long", func(p *Plan) { p.Factors[0].Levels[0] = strings.Repeat("x", 65) }, "longer than 64"},
		{"no baseline", func(p *Plan) { p.Baseline = nil }, `baseline "" is none of its levels inline, softirq, kthread`},
		{"baseline elsewhere", func(p *Plan) { p.Baseline["rx"] = "uthread" }, `baseline "uthread" is none of`},
		{"baseline of no factor", func(p *Plan) { p.Baseline["tx"] = "x" }, `a factor "tx" that the plan does not have`},
		{"too many trials", func(p *Plan) {
			p.Factors, p.Blocks = append(p.Factors, many), 1000
			p.Baseline["many"] = "l0"
		}, "more than 1000000 trials"},
		{"crossing beyond counting", func(p *Plan) {
			p.Factors = deep
			p.Baseline = Variant{}
			for _, f := range deep {
				p.Baseline[f.Name] = "off"
			}
		}, "more than 1000000 trials"},
	} {
		p := plan()
		c.spoil(&p)
		err := p.Validate()
		if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.wantErr)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is more than a line: %q", c.name, err)
		}
	}
}

func TestValidateFillsInDefaults(t *testing.T) {
	p := plan()
	p.Tests = []Test{{Name: "udp_stream"}}
	if err := p.Validate(); err != nil || p.Tests[0].Params.Size != 1024 {
		t.Errorf("got %+v, %v; want size 1024", p.Tests[0], err)
	}
}

func TestVariants(t *testing.T) {
	p := plan()
	p.Factors = append(p.Factors, Factor{Name: "offload", Levels: []string{"off", "on"}})
	var keys []string
	for _, v := range p.Variants() {
		keys = append(keys, v.Key(p.Factors))
	}
	want := []string{"rx=inline offload=off", "rx=inline offload=on", "rx=softirq offload=off",
		"rx=softirq offload=on", "rx=kthread offload=off", "rx=kthread offload=on"}
	if !slices.Equal(keys, want) {
		t.Errorf("got %q, want %q", keys, want)
	}
}

// planGen draws valid plans of one to three factors.
func planGen() *rapid.Generator[Plan] {
	return rapid.Custom(func(t *rapid.T) Plan {
		p := plan()
		p.Seed = rapid.Uint64().Draw(t, "seed")
		p.Blocks = rapid.IntRange(1, 12).Draw(t, "blocks")
		p.Tests = rapid.SliceOfNDistinct(testGen(), 1, 5, func(x Test) Test { return x }).Draw(t, "tests")
		p.Factors, p.Baseline = nil, Variant{}
		for i := range rapid.IntRange(1, 3).Draw(t, "factors") {
			f := Factor{Name: fmt.Sprint("f", i)}
			for l := range rapid.IntRange(2, 4).Draw(t, "levels") {
				f.Levels = append(f.Levels, fmt.Sprint("l", l))
			}
			p.Factors = append(p.Factors, f)
			p.Baseline[f.Name] = rapid.SampledFrom(f.Levels).Draw(t, "baseline")
		}
		if err := p.Validate(); err != nil {
			t.Fatalf("the drawn plan is not valid: %v", err)
		}
		return p
	})
}

func TestScheduleHasEveryVariantOnceInEachBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := planGen().Draw(t, "plan")
		slots := p.Schedule()
		variants := p.Variants()
		if len(slots) != p.Blocks*len(variants) {
			t.Fatalf("%d slots for %d blocks of %d variants", len(slots), p.Blocks, len(variants))
		}
		trials := 0
		for b := range p.Blocks {
			block := slots[b*len(variants) : (b+1)*len(variants)]
			seen := map[string]bool{}
			for i, s := range block {
				if s.Block != b || s.Order != b*len(variants)+i {
					t.Fatalf("slot %d of block %d says block %d, order %d", i, b, s.Block, s.Order)
				}
				key := s.Variant.Key(p.Factors)
				if seen[key] {
					t.Fatalf("block %d has variant %s twice", b, key)
				}
				seen[key] = true
				if !slices.Equal(s.Tests, block[0].Tests) {
					t.Fatalf("block %d: variants meet their tests in different orders", b)
				}
				trials += len(s.Tests)
			}
			if len(block[0].Tests) != len(p.Tests) {
				t.Fatalf("block %d has %d tests of %d", b, len(block[0].Tests), len(p.Tests))
			}
			for _, x := range p.Tests {
				if !slices.Contains(block[0].Tests, x) {
					t.Fatalf("block %d misses test %v", b, x)
				}
			}
		}
		if trials != p.Trials() {
			t.Fatalf("the schedule has %d trials, Trials says %d", trials, p.Trials())
		}
	})
}

func TestScheduleFollowsItsSeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := planGen().Draw(t, "plan")
		tests := slices.Clone(p.Tests)
		first := p.Schedule()
		if again := p.Schedule(); !reflect.DeepEqual(first, again) {
			t.Fatal("the same plan gives another schedule the second time")
		}
		if !slices.Equal(p.Tests, tests) {
			t.Fatal("making the schedule changed the plan's tests")
		}
	})
	p := plan()
	first := p.Schedule()
	p.Seed++
	if reflect.DeepEqual(first, p.Schedule()) {
		t.Error("another seed gives the same schedule")
	}
}

// A schedule that always ran one variant first would give drift a way into
// the comparison: over many blocks each variant must hold each place equally
// often, and so must each test.
func TestScheduleOrderVaries(t *testing.T) {
	p := plan()
	p.Blocks = 3000
	variants, tests := len(p.Variants()), len(p.Tests)
	places, testPlaces := map[string]int{}, map[string]int{}
	for _, s := range p.Schedule() {
		places[fmt.Sprint(s.Variant["rx"], s.Order%variants)]++
		for i, x := range s.Tests {
			testPlaces[fmt.Sprint(x.Name, i)]++
		}
	}
	check := func(counts map[string]int, cells, total int) {
		t.Helper()
		if len(counts) != cells {
			t.Errorf("only %d of %d places were ever held: %v", len(counts), cells, counts)
		}
		want := float64(total)
		for place, n := range counts {
			// Five standard deviations of a binomial count, seed fixed.
			if math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
				t.Errorf("%s: %d times, want about %.0f", place, n, want)
			}
		}
	}
	check(places, variants*variants, p.Blocks/variants)
	check(testPlaces, tests*tests, variants*p.Blocks/tests)
}

// The order is part of a published result: a seed must mean the same order in
// every build. This pins it.
func TestScheduleIsPinned(t *testing.T) {
	p := plan()
	p.Blocks = 3
	var got []string
	for _, s := range p.Schedule() {
		got = append(got, s.Variant["rx"]+":"+s.Tests[0].Name)
	}
	want := []string{"kthread:tcp_stream", "inline:tcp_stream", "softirq:tcp_stream",
		"kthread:udp_rr", "softirq:udp_rr", "inline:udp_rr",
		"softirq:udp_rr", "inline:udp_rr", "kthread:udp_rr"}
	if !slices.Equal(got, want) {
		t.Errorf("seed 1 gives %q, want %q", got, want)
	}
}
