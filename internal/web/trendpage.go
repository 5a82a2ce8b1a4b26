package web

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"netdelta/internal/picture"
	"netdelta/internal/report/html"
	"netdelta/internal/store"
	"netdelta/internal/unit"
)

// trendPage is what the page of a trend shows.
type trendPage struct {
	Title, Version string
	Query          url.Values
	Keys           []metricKey
	Key            metricKey
	Rows           []trendRow
	// SVG is the figure, Names its series with the places of their colours.
	SVG   template.HTML
	Names []picture.Series
	Unit  string
}

// trendRow is one run of a trend, in the unit of the page.
type trendRow struct {
	No                      int
	ID, Label, When, Kernel string
	Median, Lo, Hi, Change  string
	N                       int
}

// trend shows how one figure went from run to run.
func (s *site) trend(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := asked(q, "limit", mostRuns)
	if err != nil {
		return err
	}
	runs, err := s.Store.Runs(r.Context(), store.Filter{Label: q.Get("label"), Limit: limit})
	if err != nil {
		return err
	}
	p := trendPage{Title: "Trend", Version: s.Version, Query: q}
	if p.Keys, err = s.keysOf(r.Context(), runs); err != nil {
		return err
	}
	p.Key = metricKey{q.Get("test"), q.Get("under"), q.Get("metric"), q.Get("end")}
	if !slices.Contains(p.Keys, p.Key) {
		if q.Get("metric") != "" {
			return &pageError{http.StatusNotFound, fmt.Errorf("no run has %s of %s", p.Key.Metric, p.Key.Test)}
		}
		if len(p.Keys) == 0 {
			return s.show(w, "trend", p)
		}
		p.Key = p.Keys[0]
	}
	points, err := s.trendOf(r.Context(), runs, p.Key)
	if err != nil {
		return err
	}
	p.Title = fmt.Sprintf("%s of %s", p.Key.Metric, p.Key.Test)
	p.fill(points)
	return s.show(w, "trend", p)
}

// fill makes the rows and the figure of the points, in one readable unit.
func (p *trendPage) fill(points []point) {
	var all []float64
	for _, x := range points {
		all = append(all, x.median)
	}
	if len(points) == 0 {
		return
	}
	div, in := unit.Scale(points[0].unit, all...)
	p.Unit = in
	f := &picture.Figure{Name: "trend", Kind: picture.Points, Title: p.Title, X: picture.Axis{Label: "run, the oldest first"},
		Y:     picture.Axis{Label: p.Key.Metric, Unit: in},
		About: "The median of each run with its interval, a colour for each kernel. Separate runs differ by all that changed between them."}
	var kernels []string
	before := 0.0
	for i, x := range points {
		at := slices.Index(kernels, x.kernel)
		if at < 0 {
			at = len(kernels)
			kernels = append(kernels, x.kernel)
			f.Series = append(f.Series, picture.Series{Name: x.kernel, Variant: at})
		}
		series := &f.Series[at]
		lo, hi := x.median, x.median
		row := trendRow{No: i + 1, ID: x.run.ID, Label: x.run.Label, When: when(x.run.Start), Kernel: x.kernel, N: x.n, Median: unit.Cell(x.median, x.unit, div)}
		if x.lo != nil && x.hi != nil {
			lo, hi = *x.lo, *x.hi
			row.Lo, row.Hi = unit.Cell(lo, x.unit, div), unit.Cell(hi, x.unit, div)
		}
		if i > 0 && before > 0 {
			row.Change = fmt.Sprintf("%+.1f%%", 100*(x.median/before-1))
		}
		before = x.median
		series.X, series.Y = append(series.X, float64(i+1)), append(series.Y, x.median/div)
		series.Lo, series.Hi = append(series.Lo, lo/div), append(series.Hi, hi/div)
		p.Rows = append(p.Rows, row)
	}
	p.SVG = html.PointsSVG(f)
	for _, s := range f.Series {
		s.Variant %= html.Colors
		p.Names = append(p.Names, s)
	}
}
