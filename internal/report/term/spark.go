package term

import (
	"fmt"
	"math"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/hist"
	"netdelta/internal/report/text"
)

// Sparkline is a line of bars, one for each value, or for as many together as it takes
// to be no wider than width. What is NaN is blank.
func Sparkline(values []float64, width int) string { return text.Sparkline(values, 0, width) }

// Columns of what there is over time.
const (
	shortestSpark = 12
	longestSpark  = 48
	longestSeries = 34
	mostSeries    = 12
)

// overTime shows how the blocks' common level went.
func (p *page) overTime(series []compare.Drift) []string {
	if len(series) == 0 {
		return nil
	}
	names := 0
	for i := range series[:min(mostSeries, len(series))] {
		names = max(names, min(width(p.look.clean(text.SeriesName(&series[i])))+2, longestSeries, p.look.Width/2))
	}
	const amount = 8
	wide := min(longestSpark, p.look.Width-names-2*(amount+1)-2)
	numbers := wide >= shortestSpark
	if !numbers {
		wide = p.look.Width - names - 2
	}
	var lines []string
	if numbers {
		lines = append(lines, fmt.Sprintf("%-*s  %-*s %*s %*s", names, "", wide, "", amount, "thirds", amount, "halves"))
	}
	for i := range series[:min(mostSeries, len(series))] {
		d := &series[i]
		name := clip("  "+p.look.clean(text.SeriesName(d)), names)
		line := name + strings.Repeat(" ", names-width(name)) + "  "
		levels := make([]float64, len(d.Points))
		for j, x := range d.Points {
			if levels[j] = math.NaN(); x.Level != nil {
				levels[j] = *x.Level
			}
		}
		bars := text.Sparkline(levels, 4*d.Margin, wide)
		line += bars
		if numbers {
			thirds, halves := text.Change(d)
			line += strings.Repeat(" ", wide-width(bars)) + fmt.Sprintf(" %*s %*s", amount, clip(p.look.clean(thirds), amount), amount, clip(p.look.clean(halves), amount))
		}
		lines = append(lines, line)
	}
	if more := len(series) - mostSeries; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more in the JSON form", more))
	}
	return lines
}

// Histogram is how often round trips fell into each of width parts of an axis from lo
// to hi ns by its logarithm, as bars as high as the fullest is. What lies beyond an end
// is not in it.
func Histogram(h *hist.Hist, lo, hi float64, width int) string {
	if h == nil || h.Count() == 0 || width < 1 || !(lo > 0) || !(hi > lo) {
		return strings.Repeat(" ", max(width, 0))
	}
	parts := make([]float64, width)
	for b, n := range h.Buckets() {
		// A bucket may reach over several parts, and has its share in each.
		from, to := place(max(float64(b.Low), 1), lo, hi, width), place(float64(b.High)+1, lo, hi, width)
		for i := max(0, int(math.Floor(from))); i < width && float64(i) < to; i++ {
			if inside := min(to, float64(i+1)) - max(from, float64(i)); inside > 0 {
				parts[i] += float64(n) * inside / (to - from)
			}
		}
	}
	most := 0.0
	for _, n := range parts {
		most = max(most, n)
	}
	return columns(parts, most)
}

// ECDF is which share of round trips was no longer, at each of width places of the same
// axis, as bars of which the highest is all.
func ECDF(h *hist.Hist, lo, hi float64, width int) string {
	if h == nil || h.Count() == 0 || width < 1 || !(lo > 0) || !(hi > lo) {
		return strings.Repeat(" ", max(width, 0))
	}
	shares := make([]float64, width)
	for b, n := range h.Buckets() {
		for i := max(0, int(math.Floor(place(max(float64(b.High), 1), lo, hi, width)))); i < width; i++ {
			shares[i] += float64(n)
		}
	}
	return columns(shares, float64(h.Count()))
}

// place is where a value lies on an axis of logarithms, 0 to width; beyond those for
// what is beyond its ends.
func place(v, lo, hi float64, width int) float64 {
	return math.Log(v/lo) / math.Log(hi/lo) * float64(width)
}

// eighths are bars an eighth of a line high and more.
const eighths = "▁▂▃▄▅▆▇█"

// columns are bars by values from 0 to most; 0 is blank.
func columns(values []float64, most float64) string {
	bars := []rune(eighths)
	var b strings.Builder
	for _, v := range values {
		if !(v > 0) {
			b.WriteByte(' ')
			continue
		}
		at := int(math.Ceil(v/most*float64(len(bars)))) - 1
		b.WriteRune(bars[max(0, min(at, len(bars)-1))])
	}
	return b.String()
}
