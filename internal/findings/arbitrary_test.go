package findings

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Whatever is looked at, no finder panics, and what it adds is JSON with no claim
// that has no figure.
func TestFindersTakeAnything(t *testing.T) {
	finders := []Finder{SendPath, Lengths, Knee, Truth}
	sources := []madeUp{trueWire(), tunDriver(), card(func(int) float64 { return 1 }), zeroCopyPatch()}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(sources).Draw(t, "source")
		m.blocks = rapid.IntRange(1, 3).Draw(t, "blocks")
		right := m.fill
		m.fill = func(x *made, noise float64) {
			right(x, noise)
			scramble(t, x)
		}
		in := m.input(t, func(*result.Trial) bool { return rapid.IntRange(0, 3).Draw(t, "left out") == 0 })
		if rapid.Bool().Draw(t, "no comparisons") {
			in.Report.Comparisons, in.Report.Effects = nil, nil
		}
		for _, find := range finders {
			find(in)
		}
		if _, err := json.Marshal(in.Report); err != nil {
			t.Fatal(err)
		}
		for _, c := range in.Report.Checks {
			if c.Pass && c.Found == nil {
				t.Fatalf("passed without a figure: %+v", c)
			}
			if c.Found == nil && c.Text == "" {
				t.Fatalf("no figure and no reason: %+v", c)
			}
		}
	})
}

// scramble takes away from a trial, or puts nonsense in.
func scramble(t *rapid.T, x *made) {
	switch rapid.IntRange(0, 7).Draw(t, "how") {
	case 0:
		x.Remote = nil
	case 1:
		x.Path.Counts = nil
	case 2:
		x.Local.Counters = nil
	case 3:
		for name := range x.Path.Counts {
			x.Path.Counts[name] = rapid.Int64Range(-1e15, 1e15).Draw(t, name)
		}
	case 4:
		x.Local.RTT = nil
	case 5:
		for name := range x.Local.Counts {
			x.Local.Counts[name] = rapid.Int64Range(0, 1e15).Draw(t, name)
		}
	}
}

func TestFindersOfNothing(t *testing.T) {
	for _, in := range []*Input{nil, {}, {Plan: &spec.Plan{}, Report: &compare.Report{}}, {Plan: &spec.Plan{Factors: []spec.Factor{
		{Name: putIn}, {Name: mitigation, Levels: []string{"off"}}, {Name: sendBy, Levels: []string{"a", "b"}}, {Name: receive, Levels: []string{direct}}}}, Report: &compare.Report{}}} {
		for _, find := range []Finder{SendPath, Lengths, Knee, Truth} {
			find(in)
		}
	}
}
