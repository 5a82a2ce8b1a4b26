package text

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/unit"
)

// checked says in a sentence whether the report's checks passed.
func checked(r *compare.Report) []string {
	if r.Posted {
		return postedChecked(r)
	}
	switch failed, silent, unsure := failures(r, 3), unmade(r), unsureOf(r); {
	case len(r.Checks) == 0:
		return nil
	case failed != "":
		return []string{failed + "."}
	case unsure > 0:
		return []string{fmt.Sprintf("%d of %s unsure.", unsure, unit.Count(len(r.Checks), "check"))}
	case silent > 0:
		return []string{fmt.Sprintf("%d of %s could not be made.", silent, unit.Count(len(r.Checks), "check"))}
	case len(r.Checks) == 1:
		return []string{"The one check passed."}
	}
	return []string{fmt.Sprintf("All %d checks passed.", len(r.Checks))}
}

// unmade is how many checks have no figure: they have neither passed nor failed.
func unmade(r *compare.Report) (n int) {
	for _, c := range r.Checks {
		if c.Found == nil {
			n++
		}
	}
	return n
}

// unsureOf is how many checks are neither passed nor failed by their intervals.
func unsureOf(r *compare.Report) (n int) {
	for _, c := range r.Checks {
		if c.Unsure {
			n++
		}
	}
	return n
}

// failures names the checks that failed, not more than some of them.
func failures(r *compare.Report, most int) string {
	var names []string
	for i := range r.Checks {
		if c := &r.Checks[i]; c.Failed() {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s failed: ", len(names), unit.Count(len(r.Checks), "check"))
	if more := len(names) - most; more > 0 {
		return text + strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return text + strings.Join(names, ", ")
}

// checks is the table of what was found against what was put in, with what there is
// to say of them below.
func checks(r *compare.Report) []string {
	if len(r.Checks) == 0 {
		return nil
	}
	if r.Posted {
		return append([]string{claimsTitle}, lay(claims(r))...)
	}
	t, said := checkTable(r)
	table, _ := t.lines()
	return slices.Concat([]string{"Checks"}, table, lay(said))
}

// checkTable is that table, and what there is to say of it.
func checkTable(r *compare.Report) (wide, []Item) {
	in := wideColumn{left: true}
	put, found := wideColumn{name: "put in"}, wideColumn{name: "found"}
	within, pass := wideColumn{name: "within"}, wideColumn{left: true}
	var t wide
	var said []string
	about := map[string][]string{}
	for i := range r.Checks {
		c := &r.Checks[i]
		t.labels = append(t.labels, c.Name)
		div, label := scaleOf(c)
		in.cells = append(in.cells, label)
		put.cells = append(put.cells, amount(c.Wanted, c.Unit, div))
		long, short := "n/a", "n/a"
		if c.Found != nil {
			short = amount(*c.Found, c.Unit, div)
			if long = short; c.Lo != nil && c.Hi != nil {
				long += fmt.Sprintf(" (%s to %s)", amount(*c.Lo, c.Unit, div), amount(*c.Hi, c.Unit, div))
			}
		}
		found.cells, found.short = append(found.cells, long), append(found.short, short)
		if c.Within == 0 {
			within.cells = append(within.cells, "exact")
		} else {
			within.cells = append(within.cells, "+-"+amount(c.Within, c.Unit, div))
		}
		switch {
		case c.Found == nil:
			pass.cells = append(pass.cells, "n/a")
		case c.Pass:
			pass.cells = append(pass.cells, "pass")
		case c.Unsure:
			pass.cells = append(pass.cells, "unsure")
		default:
			pass.cells = append(pass.cells, "FAIL")
		}
		if c.Text != "" {
			if about[c.Text] == nil {
				said = append(said, c.Text)
			}
			about[c.Text] = append(about[c.Text], c.Name)
		}
	}
	if slices.Equal(found.cells, found.short) {
		found.short = nil
	}
	t.columns = []wideColumn{in, put, found, within, pass}
	var all []Item
	switch failed, silent, unsure := failures(r, len(r.Checks)), unmade(r), unsureOf(r); {
	case failed != "":
		all = append(all, indented(failed))
	case unsure > 0:
		all = append(all, indented(fmt.Sprintf("%d of %s unsure: the interval holds what would pass", unsure, unit.Count(len(r.Checks), "check"))))
	case silent > 0:
		all = append(all, indented(fmt.Sprintf("%d of %s could not be made", silent, unit.Count(len(r.Checks), "check"))))
	default:
		all = append(all, indented(fmt.Sprintf("all %d passed", len(r.Checks))))
	}
	for _, text := range said {
		all = append(all, indented(strings.Join(about[text], ", ")+": "+text))
	}
	return t, all
}

// scaleOf is the scale of a check's figures.
func scaleOf(c *compare.Check) (div float64, label string) {
	values := []float64{c.Wanted}
	if c.Found != nil {
		values = append(values, *c.Found)
	}
	if c.Wanted == 0 && (c.Found == nil || *c.Found == 0) {
		values = append(values, c.Within)
	}
	return unit.Scale(c.Unit, values...)
}

// amount is a figure of a check. What is a whole number of its base unit keeps all
// of its digits, and has no others.
func amount(v float64, u unit.Unit, div float64) string {
	const exact = 1 << 53 // whole numbers up to that are themselves
	if div == 1 && v == math.Trunc(v) && math.Abs(v) < exact {
		return fmt.Sprintf("%.0f", v+0) // no -0
	}
	return unit.Cell(v, u, div)
}
