package text

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"netdelta/internal/compare"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// Columns of the section on time.
const (
	seriesWidth = 26 // of names
	sparkWidth  = 24
	mostSeries  = 12
)

// bars are an eighth of a line high and more. They are the only characters of a
// page that are not ASCII.
var bars = []rune("▁▂▃▄▅▆▇█")

// overTime shows how the blocks' common level went, a line for each figure that
// stands for a test, and what an order without blocks would have made of it.
func overTime(r *compare.Report) []string {
	series := driftShown(r)
	if len(series) == 0 {
		return nil
	}
	lines := wrap(timeTitle, "", "  ")
	lines = append(lines, strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %8s  %8s", seriesWidth, "", sparkWidth, "", "thirds", "halves"), " "))
	for i := range series[:min(mostSeries, len(series))] {
		d := &series[i]
		name := clip(ascii("  "+seriesName(d)), seriesWidth)
		bar := spark(d)
		pad := strings.Repeat(" ", sparkWidth-utf8.RuneCountInString(bar))
		lines = append(lines, fmt.Sprintf("%-*s  %s  %8s  %8s", seriesWidth, name, bar+pad, clip(ascii(d.Amount(*d.Swing)), 8), clip(ascii(plus(d, *d.Halves)), 8)))
	}
	if more := len(series) - mostSeries; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more in the JSON form", more))
	}
	return append(lines, lay(timeNote(series))...)
}

const timeTitle = "Over time: each block's level over all variants, first block left; how far the thirds of the run lie apart, and its second half from the first"

// driftShown are the series with blocks enough to say something.
func driftShown(r *compare.Report) []compare.Drift {
	return slices.DeleteFunc(slices.Clone(r.Drift), func(d compare.Drift) bool {
		return d.Swing == nil || d.Halves == nil || len(d.Points) < spec.MinBlocks
	})
}

// timeNote says what an order without blocks would have made of some series.
func timeNote(series []compare.Drift) []Item {
	worst := slices.MaxFunc(series, func(a, b compare.Drift) int {
		x, y := math.Abs(*a.Halves)/a.Margin, math.Abs(*b.Halves)/b.Margin
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return []Item{flush(fmt.Sprintf("Between the halves of the run the level moved by up to %s (%s %s): with all of one variant first and then all of another, that would have been in the change.",
		plus(&worst, *worst.Halves), worst.Name(), worst.Metric))}
}

// seriesName is a series by its test and metric. Where there is no room, conditions
// are told by their levels alone.
func seriesName(d *compare.Drift) string {
	name := d.Name() + " " + d.Metric
	if len(name)+2 <= seriesWidth || d.Under == "" {
		return name
	}
	var levels []string
	for _, part := range strings.Fields(d.Under) {
		levels = append(levels, part[strings.IndexByte(part, '=')+1:])
	}
	bare := *d
	bare.Under = ""
	return bare.Name() + " " + strings.Join(levels, " ") + " " + d.Metric
}

// plus is an amount with its sign.
func plus(d *compare.Drift, v float64) string {
	if text := d.Amount(v); v > 0 && strings.ContainsAny(text, "123456789") {
		return "+" + text
	}
	return d.Amount(v)
}

// spark is a line of bars, one for each block, or for as many together as there
// is room for. It is as high as the levels' range, but not less than four
// margins, so that what does not matter looks flat. A block without a level is
// blank.
func spark(d *compare.Drift) string {
	levels := make([]float64, len(d.Points))
	for i, p := range d.Points {
		levels[i] = value(p.Level)
	}
	return Sparkline(levels, 4*d.Margin, sparkWidth)
}

// Sparkline is a line of bars, one for each value or, where there are more than width,
// for the median of as many together as it takes. It is as high as the values' range,
// but no less than fills. What is NaN is blank.
func Sparkline(values []float64, fills float64, width int) string {
	if width < 1 {
		return ""
	}
	per := (len(values) + width - 1) / width
	var levels []float64
	for i := 0; i < len(values); i += per {
		levels = append(levels, stats.Median(values[i:min(i+per, len(values))]))
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range levels {
		if !math.IsNaN(v) {
			least, most = min(least, v), max(most, v)
		}
	}
	height := max(most-least, fills)
	if height == 0 {
		height = 1 // in the middle
	}
	bottom := least/2 + most/2 - height/2
	var b strings.Builder
	for _, v := range levels {
		at := (v - bottom) / height * float64(len(bars))
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case !(at < float64(len(bars))):
			b.WriteRune(bars[len(bars)-1])
		default:
			b.WriteRune(bars[max(0, int(at))])
		}
	}
	return b.String()
}
