package term

import (
	"fmt"
	"math"
	"strings"

	"netdelta/internal/picture"
)

// Size of a plot in characters.
const (
	widestPlot  = 88
	highestPlot = 18
	leastPlot   = 10
	perTick     = 5 // rows from one value of the axis to the next
)

// marks are what the series are drawn with, so that they are told apart without
// colours.
var marks = [...]rune{'●', '○', '▲', '◆', '■', '△', '□', '◇'}

// canvas is a plot in the making. One series is drawn with dots of Braille patterns,
// eight in a character, several with a mark each.
type canvas struct {
	look       Look
	wide, high int
	cells      [][]rune
	of         [][]int // the series whose mark a cell has; -1 for none
	x, y       scale
	fine       bool
}

// canvasOf draws lines and points, with a legend where there are several.
func (p *page) canvasOf(f *picture.Figure) []string {
	var xs, ys [][]float64
	for _, s := range f.Series {
		xs, ys = append(xs, s.X), append(ys, s.Y, s.Lo, s.Hi)
	}
	x, there := scaleOf(f.X.Log, xs...)
	y, also := scaleOf(f.Y.Log, ys...)
	if !there || !also {
		return []string{"nothing to draw"}
	}
	labels := 0
	c := &canvas{look: p.look, x: x, y: y, fine: len(f.Series) == 1}
	c.high = highestPlot
	ticks := map[int]string{}
	for row := 0; row < c.high; row += perTick {
		at := c.high - 1 - row
		ticks[at] = figure(y.value((float64(row) + 0.5) / float64(c.high)))
		labels = max(labels, width(ticks[at]))
	}
	c.wide = max(leastPlot, min(widestPlot, p.look.Width-labels-3))
	for range c.high {
		c.cells = append(c.cells, []rune(strings.Repeat(" ", c.wide)))
		none := make([]int, c.wide)
		for i := range none {
			none[i] = -1
		}
		c.of = append(c.of, none)
	}
	for i := range f.Series {
		c.draw(&f.Series[i], i, f.Kind)
	}
	lines := []string{p.look.quiet(clip(p.named(f.Y), p.look.Width))}
	for row := range c.high {
		edge := "│"
		if ticks[row] != "" {
			edge = "┤"
		}
		lines = append(lines, fmt.Sprintf("%*s ", labels, ticks[row])+p.look.quiet(edge)+p.painted(c, row, f))
	}
	lines = append(lines, strings.Repeat(" ", labels+1)+p.look.quiet("└"+strings.Repeat("─", c.wide)))
	lines = append(lines, strings.Repeat(" ", labels+2)+c.ticks(f.X))
	if name := p.named(f.X); name != "" {
		name = clip(name, c.wide)
		lines = append(lines, strings.Repeat(" ", labels+2+(c.wide-width(name))/2)+p.look.quiet(name))
	}
	return append(lines, p.legend(f)...)
}

// legend names the series behind their marks.
func (p *page) legend(f *picture.Figure) []string {
	if len(f.Series) < 2 {
		return nil
	}
	var lines []string
	line, n := "", 0
	for i, s := range f.Series {
		name := clip(p.look.clean(s.Name), p.look.Width-4)
		if w := width(name) + 5; n > 0 && n+w > p.look.Width {
			lines, line, n = append(lines, line), "", 0
		}
		line += "  " + p.look.variant(s.Variant, string(marks[i%len(marks)])) + " " + name
		n += width(name) + 5
	}
	return append(lines, line)
}

// painted is a row with the colours of what it shows.
func (p *page) painted(c *canvas, row int, f *picture.Figure) string {
	var b strings.Builder
	for from := 0; from < c.wide; {
		to := from
		for to < c.wide && c.of[row][to] == c.of[row][from] {
			to++
		}
		part := string(c.cells[row][from:to])
		if i := c.of[row][from]; i >= 0 {
			part = p.look.variant(f.Series[i].Variant, part)
		}
		b.WriteString(part)
		from = to
	}
	return b.String()
}

// draw draws a series: its points, and for lines what is between them.
func (c *canvas) draw(s *picture.Series, i int, kind picture.Kind) {
	dotsX, dotsY := c.dots()
	lastX, lastY := math.NaN(), math.NaN()
	for n := range min(len(s.X), len(s.Y)) {
		x, y := c.x.at(s.X[n])*float64(dotsX-1), c.y.at(s.Y[n])*float64(dotsY-1)
		if math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || math.IsInf(y, 0) {
			lastX, lastY = math.NaN(), math.NaN()
			continue
		}
		switch joined := kind == picture.Lines && !math.IsNaN(lastX); {
		case joined && s.Step:
			c.line(lastX, lastY, x, lastY, i)
			c.line(x, lastY, x, y, i)
		case joined:
			c.line(lastX, lastY, x, y, i)
		}
		if n < len(s.Lo) && n < len(s.Hi) {
			lo, hi := c.y.at(s.Lo[n])*float64(dotsY-1), c.y.at(s.Hi[n])*float64(dotsY-1)
			if !math.IsNaN(lo) && !math.IsNaN(hi) {
				c.interval(x, lo, hi, i)
			}
		}
		c.set(x, y, i)
		lastX, lastY = x, y
	}
}

// dots are how many there are across and up.
func (c *canvas) dots() (across, up int) {
	if c.fine {
		return 2 * c.wide, 4 * c.high
	}
	return c.wide, c.high
}

// far is how many dots beyond the canvas a line may go: what is further is drawn no more
// than what is just outside, but each of its dots would take time.
const far = 100_000

func (c *canvas) line(x0, y0, x1, y1 float64, i int) {
	for _, at := range []*float64{&x0, &y0, &x1, &y1} {
		*at = max(-far, min(far, *at))
	}
	steps := int(max(math.Abs(x1-x0), math.Abs(y1-y0))) + 1
	for n := range steps + 1 {
		part := float64(n) / float64(steps)
		c.set(x0+part*(x1-x0), y0+part*(y1-y0), i)
	}
}

// interval is a bar up and down, behind the marks that are there.
func (c *canvas) interval(x, lo, hi float64, i int) {
	if c.fine {
		c.line(x, lo, x, hi, i)
		return
	}
	at := int(math.Round(x))
	lo, hi = max(lo, -1), min(hi, float64(c.high))
	for y := int(math.Round(lo)); y <= int(math.Round(hi)); y++ {
		row := c.high - 1 - y
		if row >= 0 && row < c.high && at >= 0 && at < c.wide && c.cells[row][at] == ' ' {
			c.cells[row][at], c.of[row][at] = '┊', i
		}
	}
}

// set draws one dot, counted from the lower left.
func (c *canvas) set(x, y float64, i int) {
	across, up := int(math.Round(x)), int(math.Round(y))
	mostX, mostY := c.dots()
	if across < 0 || across >= mostX || up < 0 || up >= mostY {
		return
	}
	down := mostY - 1 - up
	if !c.fine {
		c.cells[down][across], c.of[down][across] = marks[i%len(marks)], i
		return
	}
	row, at := down/4, across/2
	if c.cells[row][at] == ' ' {
		c.cells[row][at] = firstBraille
	}
	// The dots of a pattern are numbered 1 2 3 7 down on the left, 4 5 6 8 on the right.
	bit := [2][4]rune{{0, 1, 2, 6}, {3, 4, 5, 7}}[across%2][down%4]
	c.cells[row][at] |= 1 << bit
	c.of[row][at] = i
}

// ticks are the values of the lower axis, as many as there is room for.
func (c *canvas) ticks(a picture.Axis) string {
	row := []rune(strings.Repeat(" ", c.wide))
	free := 0
	write := func(at float64, text string) {
		from := int(math.Round(at*float64(c.wide-1))) - width(text)/2
		from = min(max(from, 0), c.wide-width(text))
		if from < free || from < 0 {
			return
		}
		copy(row[from:], []rune(text))
		free = from + width(text) + 2
	}
	switch {
	case len(a.Ticks) > 0:
		for i, v := range a.Ticks {
			text := figure(v)
			if i < len(a.Categories) {
				text = clip(c.look.clean(a.Categories[i]), c.wide)
			}
			if at := c.x.at(v); at >= 0 && at <= 1 {
				write(at, text)
			}
		}
	case len(a.Categories) > 0:
		for i, name := range a.Categories {
			if at := c.x.at(float64(i)); at >= 0 && at <= 1 {
				write(at, clip(c.look.clean(name), c.wide))
			}
		}
	default:
		const ticks = 5
		for i := range ticks {
			at := float64(i) / (ticks - 1)
			write(at, figure(c.x.value(at)))
		}
	}
	return string(row)
}
