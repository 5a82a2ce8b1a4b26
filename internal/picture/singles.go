package picture

import (
	"netdelta/internal/compare"
	"netdelta/internal/unit"
)

// singles are the trials of each test as points, one beside the other: how far they lie
// apart within a variant, and between.
func singles(d *compare.Document) []Figure {
	var all []Figure
	trials, names := groups(d)
	for _, g := range trials {
		def, ok := headline(g)
		if !ok {
			continue
		}
		f := Figure{Name: nameOf("values", g.test, g.under), Kind: Points, Title: titled(def.Name+" of each trial: "+g.test, g.under),
			About: "Each point is a trial. Where the variants' points lie among each other, no change can be told from them.",
			Y:     Axis{Label: def.Name}}
		var values []float64
		perVariant := make([][]float64, len(g.variants))
		for v, trials := range g.variants {
			for _, o := range trials {
				if value, ok := valueOf(o.Trial, def); ok {
					perVariant[v], values = append(perVariant[v], value), append(values, value)
				}
			}
		}
		if len(values) < 2 || len(g.variants) < 2 {
			continue
		}
		div, in := unit.Scale(def.Unit, values...)
		f.Y.Unit = in
		for v, ys := range perVariant {
			f.X.Categories = append(f.X.Categories, variantName(names, v))
			s := Series{Name: variantName(names, v), Variant: v}
			for i, y := range ys {
				// Points of one variant stand side by side, in their order.
				s.X = append(s.X, float64(v)+0.5*(float64(i)+0.5)/float64(len(ys))-0.25)
				s.Y = append(s.Y, y/div)
			}
			if len(ys) > 0 {
				f.Series = append(f.Series, s)
			}
		}
		all = append(all, f)
	}
	return all
}
