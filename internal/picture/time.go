package picture

import (
	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// overTime are the figures that stand for the tests, block by block, so that drift
// shows: of a plan as its report has them, of separate runs trial by trial.
func overTime(d *compare.Document) []Figure {
	if d.Report != nil && len(d.Report.Drift) > 0 {
		return blocks(d)
	}
	var all []Figure
	trials, names := groups(d)
	for _, g := range trials {
		def, ok := headline(g)
		if !ok || g.imported() {
			continue
		}
		f := Figure{Name: nameOf("blocks", g.test, g.under), Kind: Lines, Title: titled(def.Name+" over time: "+g.test, g.under),
			About: "Each trial of a run in the order in which they ran. A slope is drift of the machine.",
			X:     Axis{Label: "trial"}, Y: Axis{Label: def.Name}}
		f.series(g, names, def)
		if f.longest() > 1 {
			all = append(all, f)
		}
	}
	return all
}

// longest is the most points that a series has.
func (f *Figure) longest() int {
	n := 0
	for _, s := range f.Series {
		n = max(n, len(s.X))
	}
	return n
}

// series adds one for each variant, of a figure of its trials.
func (f *Figure) series(g *group, names []string, def result.Definition) {
	var values []float64
	perVariant := make([][]float64, len(g.variants))
	for v, trials := range g.variants {
		for _, o := range trials {
			if value, ok := valueOf(o.Trial, def); ok {
				perVariant[v], values = append(perVariant[v], value), append(values, value)
			}
		}
	}
	div, in := unit.Scale(def.Unit, values...)
	f.Y.Unit = in
	for v, ys := range perVariant {
		if len(ys) == 0 {
			continue
		}
		s := Series{Name: variantName(names, v), Variant: v}
		for i, y := range ys {
			s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, y/div)
		}
		f.Series = append(f.Series, s)
	}
}

// blocks are the report's own series.
func blocks(d *compare.Document) []Figure {
	var all []Figure
	for i := range d.Report.Drift {
		x := &d.Report.Drift[i]
		var values []float64
		for _, p := range x.Points {
			for _, v := range p.Values {
				if v != nil {
					values = append(values, *v)
				}
			}
		}
		if len(values) == 0 {
			continue
		}
		div, in := unit.Scale(x.Unit, values...)
		test := x.Of().String()
		f := Figure{Name: nameOf("blocks", test, x.Under), Kind: Lines, Title: titled(x.Metric+" over the blocks: "+test, x.Under),
			About: "Each block in the order of time. Lines that go up and down together are drift of the machine, which comparing within blocks takes out.",
			X:     Axis{Label: "block"}, Y: Axis{Label: x.Metric, Unit: in}}
		order := d.Variants()
		for v, name := range x.Variants {
			s := Series{Name: name, Variant: placeOf(order, name, v)}
			for _, p := range x.Points {
				if v < len(p.Values) && p.Values[v] != nil {
					s.X, s.Y = append(s.X, float64(p.Block+1)), append(s.Y, *p.Values[v]/div)
				}
			}
			if len(s.X) > 0 {
				f.Series = append(f.Series, s)
			}
		}
		if f.longest() > 1 {
			all = append(all, f)
		}
	}
	return all
}

// placeOf is a variant's place among the document's.
func placeOf(order []string, name string, otherwise int) int {
	for i, n := range order {
		if n == name {
			return i
		}
	}
	return otherwise
}

// imported says that the trials are another program's.
func (g *group) imported() bool {
	for _, trials := range g.variants {
		if len(trials) > 0 {
			return trials[0].Trial.Imported != nil
		}
	}
	return false
}

// headline is the figure that stands for a test.
func headline(g *group) (result.Definition, bool) {
	for _, trials := range g.variants {
		for _, o := range trials {
			defs := result.Definitions(o.Trial.Test)
			if o.Trial.Imported != nil {
				defs = o.Trial.Imported.Definitions()
			}
			for _, d := range defs {
				if d.Rank == result.Headline {
					return d, true
				}
			}
			if len(defs) > 0 {
				return defs[0], true
			}
		}
	}
	return result.Definition{}, false
}

// valueOf is a figure of a trial.
func valueOf(t *result.Trial, d result.Definition) (float64, bool) {
	for _, m := range t.Metrics() {
		if m.Taken() == d.Taken() {
			return m.Value, finite(m.Value)
		}
	}
	return 0, false
}
