// Package html writes a report as one file that a browser shows without a network: the
// answer on top, all changes in one figure, then what the text says and in its order,
// with figures, sortable tables, and the raw data to save.
//
// Everything but the curves and the sorting is there without scripts, too. The curves
// are drawn by uPlot, which is part of the file.
package html

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/picture"
	"netdelta/internal/report/text"
)

//go:embed page/style.css
var style string

//go:embed page/base.js
var base string

//go:embed page/charts.js
var charts string

//go:embed page/report.tmpl
var report string

//go:embed uplot/uPlot.iife.min.js
var uplot string

//go:embed uplot/uPlot.min.css
var uplotStyle string

// Nav is a site's own bar above a page; nothing is there for a file.
type Nav struct {
	Title string
	Links []Link
}

// Link is one link of it.
type Link struct{ Text, URL string }

// Render writes the document as a file.
func Render(w io.Writer, d *compare.Document) error { return Page(w, d, Nav{}) }

// Page writes the document as a page of a site.
func Page(w io.Writer, d *compare.Document, nav Nav) error {
	p, err := newPage(d, nav)
	if err != nil {
		return err
	}
	t, err := template.New("report").Parse(report)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// Style and Script are what every page has: for lists of a site's, that are no reports.
// The script sorts tables and switches between light and dark.
func Style() string  { return style }
func Script() string { return base }

// Hash is what a Content-Security-Policy names a script by.
func Hash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// page is what the template shows.
type page struct {
	Title  string
	Nav    Nav
	Policy string
	Style  template.CSS
	// Scripts are run in their order; Data are figures for them to draw.
	Scripts []template.JS
	Data    any
	Chips   []chip
	Answer  []string
	Forests []drawn
	Parts   []part
	Figures []drawn
	Files   []file
}

// chip is how many rows have a verdict.
type chip struct {
	Verdict string
	N       int
}

// drawn is a figure: drawn already, or to be drawn where its id is.
type drawn struct {
	ID, Title, About string
	SVG              template.HTML
	// Narrow is the same for a phone's window.
	Narrow template.HTML
	// Curves says that a script draws it; Names are its series, with the colour's place.
	Curves bool
	Names  []seriesName
}

type seriesName struct {
	Name    string
	Variant int
}

// newPage makes the page of a document.
func newPage(d *compare.Document, nav Nav) (*page, error) {
	p := &page{Nav: nav, Title: titleOf(d), Style: template.CSS(uplotStyle + style)}
	var parts []text.Part
	if d.Report != nil {
		parts = text.Parts(d.Report)
		p.Chips = chips(d.Report)
	} else {
		parts = text.RunParts(d.Summary, true, "")
	}
	for _, x := range parts {
		switch x.Name {
		case text.PartAnswer:
			for _, s := range x.Items {
				p.Answer = append(p.Answer, s.Text)
			}
			if x.Table != nil || len(x.Facts) > 0 {
				x.Items = nil
				p.Parts = append(p.Parts, partOf(x))
			}
		case text.PartLeftOut:
			folded := part{Title: "All rows", Folded: true}
			for _, r := range text.RowParts(d.Report) {
				folded.Within = append(folded.Within, partOf(r))
			}
			p.Parts = append(p.Parts, folded)
		default:
			p.Parts = append(p.Parts, partOf(x))
		}
	}
	p.figures(picture.Of(d))
	var err error
	if p.Files, err = filesOf(d); err != nil {
		return nil, err
	}
	p.Scripts = []template.JS{template.JS(base)}
	if p.Data != nil {
		p.Scripts = append(p.Scripts, template.JS(uplot), template.JS(charts))
	}
	var hashes []string
	for _, s := range p.Scripts {
		hashes = append(hashes, Hash(string(s)))
	}
	p.Policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; script-src " + strings.Join(hashes, " ")
	return p, nil
}

// titleOf is the page's name in a browser's tab.
func titleOf(d *compare.Document) string {
	switch {
	case d.Report == nil && d.Summary.Label != "":
		return "run " + d.Summary.Label
	case d.Report == nil:
		return "run " + d.Summary.ID
	case d.Report.Separate() && len(d.Report.Factors) == 1:
		return strings.Join(d.Report.Factors[0].Levels, " and ")
	}
	return d.Report.Experiment
}

// chips counts the verdicts of the rows that are shown.
func chips(r *compare.Report) []chip {
	order := []compare.Verdict{compare.Worse, compare.Better, compare.Same, compare.Unsure}
	n := map[compare.Verdict]int{}
	for _, p := range text.RowParts(r) {
		for _, row := range p.Table.Rows {
			if row.Of != nil {
				n[row.Of.Verdict]++
			}
		}
	}
	var all []chip
	for _, v := range order {
		if n[v] > 0 {
			all = append(all, chip{string(v), n[v]})
		}
	}
	return all
}

// figures sorts the figures by how they are drawn.
func (p *page) figures(all []picture.Figure) {
	var curves []curve
	for i := range all {
		f := &all[i]
		d := drawn{ID: "f-" + f.Name, Title: f.Title, About: f.About}
		switch f.Kind {
		case picture.Forest:
			d.SVG, d.Narrow = forestSVG(f, wideForest), forestSVG(f, narrowForest)
			p.Forests = append(p.Forests, d)
			continue
		case picture.Spans:
			d.SVG, d.Narrow = spansSVG(f, wideSpans), spansSVG(f, narrowSpans)
			names, colors := f.Names()
			for i, name := range names {
				d.Names = append(d.Names, seriesName{name, colors[i] % Colors})
			}
		case picture.Bars:
			d.SVG, d.Narrow = barsSVG(f, wideBars), barsSVG(f, narrowBars)
			if f.Y.Log {
				d.About += " The axis is of logarithms."
			}
		default:
			d.Curves = true
			curves = append(curves, curveOf(d.ID, f))
		}
		for _, s := range f.Series {
			d.Names = append(d.Names, seriesName{s.Name, s.Variant % Colors})
		}
		p.Figures = append(p.Figures, d)
	}
	if len(curves) > 0 {
		p.Data = curves
	}
}

// Colors is how many colours variants have, as var(--v0) and so on.
const Colors = 9
