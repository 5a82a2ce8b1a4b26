package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// fewest is how many sizes make a curve.
const fewest = 3

// swept is a row at one value of a parameter that a test was run at several of.
type swept struct {
	kind, under, metric, end string
	of                       string // the parameter
	at                       float64
	variant                  string
	unit                     unit.Unit
	better                   result.Better
	y, lo, hi                float64
}

// sweeps are the figures of a test that was run at several sizes, over the size.
func sweeps(d *compare.Document) []Figure {
	var all []swept
	if d.Report != nil {
		for i := range d.Report.Comparisons {
			c := &d.Report.Comparisons[i]
			if c.Rank() != result.Headline && c.Rank() != result.Main {
				continue
			}
			kind, of, at, ok := parameter(c.Of())
			if !ok {
				continue
			}
			base := swept{kind: kind, under: c.Under, metric: c.Metric, end: c.End, of: of, at: at, unit: c.Unit, better: c.Better}
			for _, side := range []struct {
				name string
				s    compare.Summary
			}{{c.Baseline, c.A}, {c.Variant, c.B}} {
				x := base
				x.variant, x.y, x.lo, x.hi = side.name, or(side.s.Median), or(side.s.Lo), or(side.s.Hi)
				all = append(all, x)
			}
		}
	} else if d.Summary != nil {
		for i := range d.Summary.Figures {
			f := &d.Summary.Figures[i]
			kind, of, at, ok := parameter(f.TestOf())
			if ok && f.Rank() != result.Detail && f.Rank() != result.NonZero {
				all = append(all, swept{kind, f.Under, f.Metric, f.End, of, at, "this run", f.Unit, f.Better, or(f.Median), or(f.Lo), or(f.Hi)})
			}
		}
	}
	return curves(all, d.Variants())
}

// parameter is what a test is swept over: its message's size, or the one number among
// an import's parameters.
func parameter(t spec.Test) (kind, of string, at float64, ok bool) {
	if _, ours := spec.KindOf(t.Name); ours {
		size := t.Params.Size
		if size == 0 {
			return "", "", 0, false
		}
		t.Params.Size = 0
		rest := strings.TrimSpace(strings.TrimPrefix(t.String(), t.Name))
		return strings.TrimSpace(t.Name + " " + rest), "size", float64(size), true
	}
	words := strings.Fields(t.Name)
	place := -1
	for i, w := range words {
		name, value, cut := strings.Cut(w, "=")
		if v, err := strconv.ParseFloat(value, 64); cut && err == nil && v > 0 {
			if place >= 0 && !strings.HasSuffix(of, "size") && name != "message" && name != "size" {
				continue
			}
			place, of, at = i, name, v
		}
	}
	if place < 0 {
		return "", "", 0, false
	}
	return strings.Join(slices.Delete(slices.Clone(words), place, place+1), " "), of, at, true
}

// curves makes a figure of each metric that has enough sizes.
func curves(all []swept, order []string) []Figure {
	type key struct{ kind, under, metric, end, of string }
	var keys []key
	rows := map[key][]swept{}
	for _, x := range all {
		k := key{x.kind, x.under, x.metric, x.end, x.of}
		if rows[k] == nil {
			keys = append(keys, k)
		}
		if !slices.ContainsFunc(rows[k], func(o swept) bool { return o.at == x.at && o.variant == x.variant }) && finite(x.y) {
			rows[k] = append(rows[k], x)
		}
	}
	var figures []Figure
	for _, k := range keys {
		at := map[float64]bool{}
		var values []float64
		for _, x := range rows[k] {
			at[x.at] = true
			values = append(values, x.y)
		}
		if len(at) < fewest {
			continue
		}
		figures = append(figures, curve(k.kind, k.under, k.metric, k.end, k.of, rows[k], values, order))
	}
	return figures
}

func curve(kind, under, metric, end, of string, rows []swept, values []float64, order []string) Figure {
	u := rows[0].unit
	div, in := unit.Scale(u, values...)
	f := Figure{Name: nameOf("sweep", kind, under, metric, end), Kind: Lines, Title: titled(fmt.Sprintf("%s by %s: %s", metric, of, kind), under),
		About: fmt.Sprintf("Each variant at each %s, the median with its interval. %s is better.", of, map[result.Better]string{result.Lower: "Lower", result.Higher: "Higher"}[rows[0].better]),
		X:     Axis{Label: of, Unit: "B", Log: true}, Y: Axis{Label: metric + " " + end, Unit: in, Log: ratio(values) > 20}}
	if of != "size" && of != "message" && of != "length" {
		f.X.Unit = ""
	}
	var names []string
	for _, x := range rows {
		if !slices.Contains(names, x.variant) {
			names = append(names, x.variant)
		}
	}
	slices.SortFunc(rows, func(a, b swept) int { return cmp.Compare(a.at, b.at) })
	for i, name := range names {
		s := Series{Name: name, Variant: placeOf(order, name, i)}
		intervals := true
		for _, x := range rows {
			if x.variant != name {
				continue
			}
			s.X, s.Y = append(s.X, x.at), append(s.Y, x.y/div)
			s.Lo, s.Hi = append(s.Lo, x.lo/div), append(s.Hi, x.hi/div)
			intervals = intervals && finite(x.lo) && finite(x.hi)
		}
		if !intervals {
			s.Lo, s.Hi = nil, nil
		}
		f.Series = append(f.Series, s)
	}
	for _, x := range rows {
		if f.X.Unit == "B" && !slices.Contains(f.X.Ticks, x.at) {
			f.X.Ticks = append(f.X.Ticks, x.at)
			f.X.Categories = append(f.X.Categories, unit.FormatSize(int64(x.at)))
		}
	}
	return f
}

// ratio is how many times the largest value is the smallest one, 1 if one is zero.
func ratio(values []float64) float64 {
	lo, hi := slices.Min(values), slices.Max(values)
	if lo <= 0 {
		return 1
	}
	return hi / lo
}
