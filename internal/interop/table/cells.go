package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// number writes a value as a table has it.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// collector puts the figures of one test under one variant together, a test of its own
// for each repetition.
type collector struct {
	factors []spec.Factor
	tests   []scan.Test
	places  map[string][]int // of the repetitions, by test and variant
	counts  map[string]int   // repetitions of a figure, by test, variant and figure
}

func newCollector(factors []spec.Factor) *collector {
	return &collector{factors: factors, places: map[string][]int{}, counts: map[string]int{}}
}

// add adds a figure; more, the same with a part taken off, may be nil.
func (c *collector) add(name string, params []result.Fact, variant spec.Variant, f result.ImportedFigure, more *result.ImportedFigure, line int) {
	m := result.Imported{Tool: result.PostedTable, Name: name, Params: params}
	key := m.Test().Name + "\x00" + variant.Key(c.factors)
	figure := key + "\x00" + f.Metric + "\x00" + f.End
	k := c.counts[figure]
	c.counts[figure]++
	for len(c.places[key]) <= k {
		c.places[key] = append(c.places[key], len(c.tests))
		m.Line, m.To = line, line
		c.tests = append(c.tests, scan.Test{Imported: m, Variant: variant})
	}
	t := &c.tests[c.places[key][k]]
	f.Line = line
	t.Figures = append(t.Figures, f)
	if more != nil {
		more.Line = line
		t.Figures = append(t.Figures, *more)
	}
	t.Line, t.To = min(t.Line, line), max(t.To, line)
}

// lessFixed is a figure with a part taken off that is the same in every variant.
func lessFixed(metric, unitText, better, end string, value, less float64) (*result.ImportedFigure, error) {
	if less == 0 {
		return nil, nil
	}
	if less < 0 || less > value {
		return nil, fmt.Errorf("less %v of %s: 0 to %v, the smallest value", less, metric, value)
	}
	f, err := figureOf(metric, unitText, better, end, value-less)
	if err != nil {
		return nil, err
	}
	f.Metric += "_less_fixed"
	f.Text = fmt.Sprintf("%s less %s", f.Text, number(less)+" "+unitText)
	return &f, nil
}

// variantOf is a level of each factor, or why it is none.
func variantOf(factors []spec.Factor, of map[string]string) (spec.Variant, error) {
	v := spec.Variant{}
	for _, f := range factors {
		level, ok := of[f.Name]
		if !ok {
			return nil, fmt.Errorf("a value names no level of %s", f.Name)
		}
		if !slices.Contains(f.Levels, level) {
			return nil, fmt.Errorf("%s has no level %q: it has %q", f.Name, level, f.Levels)
		}
		v[f.Name] = level
	}
	if len(of) != len(factors) {
		return nil, fmt.Errorf("a value names %d factors of %d", len(of), len(factors))
	}
	return v, nil
}

// checkFactors reports what can't be a set of factors.
func checkFactors(factors []spec.Factor) error {
	for i, f := range factors {
		if f.Name == "" || len(f.Levels) < 2 {
			return fmt.Errorf("factor %q needs a name and two levels or more", f.Name)
		}
		for j, l := range f.Levels {
			if l == "" || slices.Contains(f.Levels[:j], l) {
				return fmt.Errorf("factor %s has the level %q twice, or an empty one", f.Name, l)
			}
		}
		if slices.ContainsFunc(factors[:i], func(o spec.Factor) bool { return o.Name == f.Name }) {
			return fmt.Errorf("factor %s is there twice", f.Name)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
