package spec

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// single is a valid plan of one variant for a test to spoil.
func single() Plan {
	p := plan()
	p.Factors, p.Baseline, p.Margin = nil, nil, 0
	return p
}

func TestValidateSingle(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func(*Plan)
		wantErr string // "" for a plan that is still valid
	}{
		{"as it is", func(*Plan) {}, ""},
		{"one trial", func(p *Plan) { p.Blocks = 1 }, ""},
		{"no trials", func(p *Plan) { p.Blocks = 0 }, "trials 0 is out of range: 1 to 10000"},
		{"too many trials", func(p *Plan) { p.Blocks = MaxBlocks + 1 }, "trials 10001 is out of range"},
		{"window too short", func(p *Plan) { p.Window = time.Millisecond }, "time 1ms is out of range"},
		{"no tests", func(p *Plan) { p.Tests = nil }, "no test named"},
		{"test twice", func(p *Plan) { p.Tests = append(p.Tests, p.Tests[0]) }, "is named twice"},
		{"a factor", func(p *Plan) { p.Factors = plan().Factors }, "has no factors, no baseline and no margin"},
		{"a baseline", func(p *Plan) { p.Baseline = plan().Baseline }, "has no factors, no baseline and no margin"},
		{"a margin", func(p *Plan) { p.Margin = 0.02 }, "has no factors, no baseline and no margin"},
		{"too many in all", func(p *Plan) {
			p.Blocks, p.Tests = MaxBlocks, nil
			for size := range 101 {
				p.Tests = append(p.Tests, Test{Name: "udp_rr", Params: Params{Size: size + 1}})
			}
		}, "10000 trials of 101 tests are more than 1000000 in all"},
	} {
		p := single()
		c.spoil(&p)
		err := p.ValidateSingle()
		if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.wantErr)
		}
	}
}

// Each of the two ways to validate refuses what the other is for.
func TestSingleAndComparingPlansDiffer(t *testing.T) {
	one, many := single(), plan()
	if !one.Single() || many.Single() {
		t.Errorf("single: got %v and %v, want true and false", one.Single(), many.Single())
	}
	if one.Validate() == nil || many.ValidateSingle() == nil {
		t.Error("a plan is valid both with and without factors")
	}
}

// A plan of one variant runs every test once in each block.
func TestSingleSchedule(t *testing.T) {
	p := single()
	slots := p.Schedule()
	if len(slots) != p.Blocks || p.Trials() != p.Blocks*len(p.Tests) {
		t.Fatalf("%d slots and %d trials, want %d and %d", len(slots), p.Trials(), p.Blocks, p.Blocks*len(p.Tests))
	}
	swapped := false
	for i, s := range slots {
		if s.Block != i || len(s.Variant) != 0 || s.Variant.Key(p.Factors) != "" || len(s.Tests) != len(p.Tests) {
			t.Errorf("slot %d: %+v", i, s)
		}
		for _, want := range p.Tests {
			if !slices.Contains(s.Tests, want) {
				t.Errorf("slot %d lacks %v", i, want)
			}
		}
		swapped = swapped || s.Tests[0] != p.Tests[0]
	}
	if !swapped {
		t.Error("the tests ran in one and the same order in every block")
	}
}

func TestCheckInterval(t *testing.T) {
	for _, c := range []struct {
		interval, window time.Duration
		wantErr          string
	}{
		{0, time.Second, ""},
		{time.Second, time.Second, ""},
		{time.Hour, time.Second, ""},
		{MinInterval, time.Second, ""},
		{time.Second, time.Hour, ""},
		{MinInterval - 1, time.Second, "interval 99.999999ms is out of range: 0 (none), or 100ms and up"},
		{-1, time.Second, "out of range"},
		{MinInterval, time.Hour, "interval 100ms divides the window of 1h0m0s into more than 3600: take a longer one"},
	} {
		p := single()
		p.Interval, p.Window = c.interval, c.window
		for _, err := range []error{CheckInterval(c.interval, c.window), p.ValidateSingle()} {
			if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("%v of %v: got %v, want %q", c.interval, c.window, err, c.wantErr)
			}
		}
	}
}
