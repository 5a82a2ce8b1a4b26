package plot

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"netdelta/internal/picture"
)

func fields(text string) []string { return strings.Fields(text) }

// labelled is an axis' label with its unit.
func labelled(a picture.Axis) string {
	if a.Unit == "" {
		return a.Label
	}
	return a.Label + " (" + a.Unit + ")"
}

// charted draws lines, points and bars on two axes.
func charted(c draw.Canvas, p *plot.Plot, f *picture.Figure) error {
	c = legendOf(c, p, f)
	p.X.Label.Text, p.Y.Label.Text = labelled(f.X), labelled(f.Y)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font.Size, a.Tick.Label.Font.Size = 9, 8
		a.Label.TextStyle.Font.Variant, a.Tick.Label.Font.Variant = "Sans", "Sans"
		a.Label.TextStyle.Color, a.Tick.Label.Color, a.LineStyle.Color, a.Tick.LineStyle.Color = ink, ink, faint, faint
		a.Padding = 2
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridly, gridly
	p.Add(grid)
	var err error
	if f.Kind == picture.Bars {
		err = bars(p, f)
	} else {
		err = lines(p, f)
	}
	if err != nil {
		return err
	}
	axes(p, f)
	p.Draw(c)
	return nil
}

// axes sets scales and ticks.
func axes(p *plot.Plot, f *picture.Figure) {
	set := func(a *plot.Axis, of picture.Axis) {
		switch {
		case of.Log && a.Min > 0:
			a.Scale = plot.LogScale{}
			a.Tick.Marker = plot.TickerFunc(decades)
			if a.Min == a.Max {
				a.Min, a.Max = a.Min/1.5, a.Max*1.5
			}
		default:
			a.Tick.Marker = plot.TickerFunc(even)
			if a.Min > 0 && a.Min < a.Max/3 || f.Kind == picture.Bars && a == &p.Y {
				a.Min = 0
			}
			if a.Min == a.Max {
				a.Min, a.Max = a.Min-1, a.Max+1
			}
		}
		if len(of.Ticks) > 0 {
			named := make([]plot.Tick, len(of.Ticks))
			for i, at := range of.Ticks {
				named[i] = plot.Tick{Value: at, Label: of.Categories[i]}
			}
			a.Tick.Marker = plot.ConstantTicks(named)
		} else if len(of.Categories) > 0 {
			named := make([]plot.Tick, len(of.Categories))
			for i, name := range of.Categories {
				named[i] = plot.Tick{Value: float64(i), Label: cut(name)}
			}
			a.Tick.Marker = plot.ConstantTicks(named)
			a.Min, a.Max = -0.6, float64(len(of.Categories))-0.4
		}
	}
	set(&p.X, f.X)
	set(&p.Y, f.Y)
	if f.Kind == picture.Bars && longNames(f.X.Categories) {
		p.X.Tick.Label.Rotation = math.Pi / 7
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
}

// cut keeps a long name from taking the plot's room.
func cut(name string) string {
	if r := []rune(name); len(r) > 34 {
		return string(r[:31]) + "..."
	}
	return name
}

func longNames(names []string) bool {
	for _, n := range names {
		if len(n) > 14 {
			return true
		}
	}
	return false
}

// decades are ticks of an axis of logarithms: at the powers of ten, and where there are
// few of those at 2 and 5 of each.
func decades(lo, hi float64) []plot.Tick {
	var all []plot.Tick
	from, to := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi))
	few := math.Log10(hi/lo) < 2.5
	for e := from; e <= to; e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < lo*0.999 || v > hi*1.001 {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || few && (m == 2 || m == 5) || math.Log10(hi/lo) < 0.7 {
				t.Label = short(v)
			}
			all = append(all, t)
		}
	}
	return all
}

// even are ticks of an even axis.
func even(lo, hi float64) []plot.Tick {
	var all []plot.Tick
	for _, v := range picture.Ticks(lo, hi) {
		all = append(all, plot.Tick{Value: v, Label: short(v)})
	}
	return all
}

// short writes a tick's value without needless digits.
func short(v float64) string {
	if math.Abs(v) < 1e-12 {
		return "0"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// points are a series as gonum wants it; steps are drawn out.
func points(s picture.Series) plotter.XYs {
	var xy plotter.XYs
	for i := range s.X {
		if !finite(s.X[i]) || !finite(s.Y[i]) {
			continue
		}
		if s.Step && len(xy) > 0 {
			xy = append(xy, plotter.XY{X: s.X[i], Y: xy[len(xy)-1].Y})
		}
		xy = append(xy, plotter.XY{X: s.X[i], Y: s.Y[i]})
	}
	return xy
}

func lines(p *plot.Plot, f *picture.Figure) error {
	for _, s := range f.Series {
		xy := points(s)
		if f.Kind == picture.Lines {
			l, err := plotter.NewLine(xy)
			if err != nil {
				return err
			}
			l.LineStyle = draw.LineStyle{Color: colorOf(s.Variant), Width: 1.6, Dashes: dashesOf(s.Variant)}
			p.Add(l)
		}
		if f.Kind == picture.Points || !s.Step && len(s.X) <= 40 {
			g, err := plotter.NewScatter(xy)
			if err != nil {
				return err
			}
			g.GlyphStyle = draw.GlyphStyle{Color: colorOf(s.Variant), Radius: 2.5, Shape: glyphOf(s.Variant)}
			p.Add(g)
		}
		if s.Lo != nil {
			p.Add(&whiskers{s, 0, colorOf(s.Variant)})
		}
	}
	return nil
}

// bars are groups of bars with their intervals.
func bars(p *plot.Plot, f *picture.Figure) error {
	width := 0.8 / float64(len(f.Series))
	for i, s := range f.Series {
		off := (float64(i) - float64(len(f.Series)-1)/2) * width
		p.Add(&block{s, off, width * 0.9, colorOf(s.Variant), f.Y.Log})
		if s.Lo != nil {
			p.Add(&whiskers{s, off, ink})
		}
	}
	return nil
}

// block draws the bars of a series.
type block struct {
	s          picture.Series
	off, width float64
	color      color.Color
	log        bool
}

// Plot implements plot.Plotter.
func (b *block) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for i := range b.s.X {
		foot := p.Y.Min
		x0, x1 := tx(b.s.X[i]+b.off-b.width/2), tx(b.s.X[i]+b.off+b.width/2)
		c.FillPolygon(b.color, []vg.Point{{X: x0, Y: ty(foot)}, {X: x0, Y: ty(b.s.Y[i])}, {X: x1, Y: ty(b.s.Y[i])}, {X: x1, Y: ty(foot)}})
	}
}

// DataRange implements plot.DataRanger. Bars of an axis of logarithms begin below the
// lowest of them.
func (b *block) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), 0
	for i := range b.s.X {
		xmin, xmax = min(xmin, b.s.X[i]-0.5), max(xmax, b.s.X[i]+0.5)
		ymin, ymax = min(ymin, b.s.Y[i]/2), max(ymax, b.s.Y[i])
	}
	if !b.log {
		ymin = 0
	}
	return xmin, xmax, ymin, ymax
}

// whiskers draws the intervals of a series.
type whiskers struct {
	s     picture.Series
	off   float64
	color color.Color
}

// Plot implements plot.Plotter.
func (b *whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	line := draw.LineStyle{Color: b.color, Width: 0.8}
	for i := range b.s.X {
		lo, hi := b.s.Lo[i], b.s.Hi[i]
		if !finite(lo) || !finite(hi) || p.Y.Min > lo {
			lo = max(lo, p.Y.Min)
		}
		x := tx(b.s.X[i] + b.off)
		c.StrokeLine2(line, x, ty(lo), x, ty(hi))
		for _, y := range []float64{lo, hi} {
			c.StrokeLine2(line, x-2.5, ty(y), x+2.5, ty(y))
		}
	}
}

// DataRange implements plot.DataRanger.
func (b *whiskers) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i := range b.s.X {
		xmin, xmax = min(xmin, b.s.X[i]), max(xmax, b.s.X[i])
		if finite(b.s.Lo[i]) && finite(b.s.Hi[i]) {
			ymin, ymax = min(ymin, b.s.Lo[i]), max(ymax, b.s.Hi[i])
		}
	}
	return xmin, xmax, ymin, ymax
}
