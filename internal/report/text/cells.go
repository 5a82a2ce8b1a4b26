package text

import (
	"fmt"
	"slices"

	"netdelta/internal/compare"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// mostAcross is how many levels there is room for side by side.
const mostAcross = 6

// cells is each variant of two factors: the first factor's levels down, the
// second's across, by the figures that stand for the tests. The factor with
// fewer levels goes across if the other has too many for that.
func cells(r *compare.Report) block {
	factors := r.Compared()
	if len(factors) != 2 || len(r.Cells) == 0 {
		return block{}
	}
	down, across := factors[0], factors[1]
	if len(across.Levels) > mostAcross && len(down.Levels) < len(across.Levels) {
		down, across = across, down
	}
	if len(across.Levels) > mostAcross {
		return block{}
	}
	t := table{head: append([]string{""}, across.Levels...), right: make([]bool, 1+len(across.Levels))}
	for i := range across.Levels {
		t.right[i+1] = true
	}
	missing := false
	for rest := r.Cells; len(rest) > 0; {
		first := rest[0]
		of := func(c compare.Cell) bool {
			return c.Of() == first.Of() && c.Under == first.Under && c.Metric == first.Metric && c.End == first.End
		}
		var group, others []compare.Cell
		var medians []float64
		for _, c := range rest {
			if of(c) {
				group, medians = append(group, c), append(medians, value(c.Median))
			} else {
				others = append(others, c)
			}
		}
		rest = others
		div, in := unit.Scale(first.Unit, medians...)
		name, by := first.Heading(), " "
		if len(first.Varied) > 0 {
			by = ": "
		}
		if first.Under != "" {
			in += ", " + first.Under
		}
		t.add(fmt.Sprintf("%s%s%s, %s", name, by, first.Metric, in))
		missing = missing || len(group) < len(down.Levels)*len(across.Levels)
		for _, dl := range down.Levels {
			row := []string{"  " + dl}
			for _, al := range across.Levels {
				row = append(row, cell(group, down, dl, across, al, div))
			}
			t.add(row...)
		}
	}
	title := fmt.Sprintf("Each variant: %s down, %s across (medians over blocks)", down.Name, across.Name)
	if missing {
		title += "; - was not run"
	}
	return block{title, t}
}

func cell(group []compare.Cell, down spec.Factor, dl string, across spec.Factor, al string, div float64) string {
	i := slices.IndexFunc(group, func(c compare.Cell) bool { return c.Variant[down.Name] == dl && c.Variant[across.Name] == al })
	if i < 0 {
		return "-"
	}
	return unit.Cell(value(group[i].Median), group[i].Unit, div)
}

// simple are the tables of what a change does at either level of another.
func simple(r *compare.Report) []block {
	var all []block
	for _, l := range r.SimpleEffects() {
		b := comparisons(r, l)
		b.title += ", at either level of what it depends on"
		all = append(all, b)
	}
	return all
}
