package term

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"netdelta/internal/picture"
)

// Plot draws one figure in characters, with its title and what it shows.
func Plot(w io.Writer, f *picture.Figure, look Look) error {
	p := newPage(look)
	var lines []string
	for _, line := range p.wrap(f.Title, "", "  ") {
		lines = append(lines, p.look.title(line))
	}
	switch f.Kind {
	case picture.Forest:
		lines = append(lines, p.forestOf(f)...)
	case picture.Spans:
		lines = append(lines, p.spansOf(f)...)
	case picture.Bars:
		lines = append(lines, p.barsOf(f)...)
	default:
		lines = append(lines, p.canvasOf(f)...)
	}
	p.add(lines...)
	var about []string
	for _, line := range p.wrap(f.About, "", "") {
		about = append(about, p.look.quiet(line))
	}
	p.add(about...)
	return p.to(w)
}

// named is an axis in words.
func (p *page) named(a picture.Axis) string {
	name := p.look.clean(a.Label)
	if a.Unit != "" {
		name += ", " + p.look.clean(a.Unit)
	}
	if a.Log {
		name += " (log)"
	}
	return strings.TrimPrefix(name, ", ")
}

// figure writes a value of an axis.
func figure(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "n/a"
	}
	if a := math.Abs(v); a >= 1000 && a < 1e6 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Columns of a forest.
const (
	widestForest = 61
	leastForest  = 9
	widestLabel  = 30
	widestChange = 24
)

// forestOf is a row for each comparison. Its axis is in percent by logarithms.
func (p *page) forestOf(f *picture.Figure) []string {
	labels, changes := 0, 0
	axis := forest{span: leastSpan}
	on := func(v float64) float64 { return math.Log1p(max(v, -99.99) / 100) }
	var reach []float64
	for _, r := range f.Rows {
		labels = max(labels, min(width(p.look.clean(r.Label)), widestLabel, p.look.Width/3))
		changes = max(changes, min(width(p.look.clean(r.Change)), widestChange))
		axis.holds(on(r.Est))
		axis.holds(2 * on(r.Margin))
		reach = append(reach, math.Abs(on(r.Lo)), math.Abs(on(r.Hi)))
	}
	axis.holds(upperOf(reach))
	const verdict = 8
	axis.width = min(widestForest, p.look.Width-labels-changes-verdict-8)
	if axis.width < leastForest {
		changes = 0
		axis.width = max(leastForest, p.look.Width-labels-verdict-6)
	}
	axis.width -= 1 - axis.width%2 // zero is in the middle of a character
	lines := []string{strings.Repeat(" ", labels+4) + axis.head()}
	group := ""
	for _, r := range f.Rows {
		if r.Group != group {
			group = r.Group
			lines = append(lines, p.look.title(clip(p.look.clean(group), p.look.Width)))
		}
		bar := ForestRow(on(r.Lo), on(r.Est), on(r.Hi), on(r.Margin), axis.span, axis.width)
		label := clip(p.look.clean(r.Label), labels)
		line := "  " + label + strings.Repeat(" ", labels-width(label)+2) + p.look.verdict(string(r.Verdict), bar) + "  "
		if changes > 0 {
			change := clip(p.look.clean(r.Change), changes)
			line += change + strings.Repeat(" ", changes-width(change)+2)
		}
		lines = append(lines, line+p.look.verdict(string(r.Verdict), signed(string(r.Verdict))))
	}
	return lines
}

// barsOf is a bar for each series in each category, all from 0.
func (p *page) barsOf(f *picture.Figure) []string {
	names, figures, most := 0, 0, 0.0
	for _, s := range f.Series {
		names = max(names, min(width(p.look.clean(s.Name)), widestLabel, p.look.Width/3))
		for _, y := range s.Y {
			figures = max(figures, width(figure(y)))
			if !math.IsNaN(y) && !math.IsInf(y, 0) {
				most = max(most, y)
			}
		}
	}
	wide := max(leastForest, min(longestBars, p.look.Width-names-figures-6))
	lines := []string{p.look.quiet(clip(p.named(f.Y), p.look.Width))}
	for i, at := range categories(f) {
		name := figure(at)
		if j := slices.Index(f.X.Ticks, at); len(f.X.Ticks) > 0 && j >= 0 && j < len(f.X.Categories) {
			name = f.X.Categories[j]
		} else if len(f.X.Ticks) == 0 && i < len(f.X.Categories) {
			name = f.X.Categories[i]
		}
		lines = append(lines, p.look.title(clip(p.look.clean(name), p.look.Width)))
		for n := range f.Series {
			s := &f.Series[n]
			j := slices.Index(s.X, at)
			if s.X == nil {
				j = i
			}
			if j < 0 || j >= len(s.Y) {
				continue
			}
			label := clip(p.look.clean(s.Name), names)
			line := "  " + p.look.variant(s.Variant, label) + strings.Repeat(" ", names-width(label)+2)
			bar := barOf(s.Y[j], most, wide)
			line += p.look.variant(s.Variant, bar) + strings.Repeat(" ", wide-width(bar)+2) + figure(s.Y[j])
			lines = append(lines, line)
		}
	}
	return lines
}

// categories are the values of X that any series has, from the least up.
func categories(f *picture.Figure) []float64 {
	var all []float64
	for _, s := range f.Series {
		n := len(s.X)
		if s.X == nil {
			n = len(s.Y)
		}
		for i := range n {
			v := float64(i)
			if s.X != nil {
				v = s.X[i]
			}
			if !slices.Contains(all, v) && !math.IsNaN(v) {
				all = append(all, v)
			}
		}
	}
	slices.Sort(all)
	return all
}

// parts are bars an eighth of a column wide and more.
const parts = "▏▎▍▌▋▊▉█"

// barOf is a bar as long as its share of most is of width.
func barOf(v, most float64, width int) string {
	if !(v > 0) || !(most > 0) || math.IsInf(v, 0) {
		return ""
	}
	n := int(math.Round(min(v/most, 1) * float64(width) * 8))
	n = max(n, 1)
	bar := strings.Repeat("█", n/8)
	if n%8 > 0 {
		bar += string([]rune(parts)[n%8-1])
	}
	return bar
}
