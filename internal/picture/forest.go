package picture

import (
	"slices"

	"netdelta/internal/compare"
	"netdelta/internal/result"
)

// forests are a row for each comparison that a text shows, whose change is relative;
// those of two changes together are apart.
func forests(d *compare.Document) []Figure {
	if d.Report == nil {
		return nil
	}
	r := d.Report
	var all []Figure
	for _, f := range []struct {
		name, title, about string
		levels             []compare.Level
	}{
		{"forest", "All changes", "Each row is a change with its 95% interval; the band is what is too small to matter. A row whose interval lies outside the band and on one side of zero is a change.", r.Levels()},
		{"forest.interactions", "What both changes do together", "Each row is what two changes do together beyond what each does alone.", r.Interactions()},
	} {
		fig := Figure{Name: f.name, Kind: Forest, Title: f.title, About: f.about, X: Axis{Label: "change", Unit: "%"}}
		for _, l := range f.levels {
			for i := range l.Rows {
				if row, ok := rowOf(r, l, &l.Rows[i]); ok {
					fig.Rows = append(fig.Rows, row)
				}
			}
		}
		if len(fig.Rows) > 0 {
			all = append(all, fig)
		}
	}
	return all
}

// rowOf is a comparison's row, if the comparison is one of those that are shown and has
// a relative change.
func rowOf(r *compare.Report, l compare.Level, c *compare.Comparison) (Row, bool) {
	if c.Scale != compare.Percent || c.DeltaPct == nil || c.Rank() == result.Detail || c.Rank() == result.NonZero {
		return Row{}, false
	}
	heading := c.Heading()
	if c.Under != "" {
		heading += ", " + c.Under
	}
	label := c.Metric
	if several(l.Rows, c) {
		label += " " + c.End
	}
	return Row{Group: r.Named(l), Label: heading + " " + label, Est: or(c.DeltaPct), Lo: or(c.LoPct), Hi: or(c.HiPct),
		Margin: c.Margin, Change: c.Change(1), Verdict: c.Verdict, Better: string(c.Better)}, true
}

// several says that the rows have the same figure at the other end too.
func several(rows []compare.Comparison, c *compare.Comparison) bool {
	return slices.ContainsFunc(rows, func(o compare.Comparison) bool {
		return o.Metric == c.Metric && o.End != c.End && o.Under == c.Under && o.Of() == c.Of()
	})
}
