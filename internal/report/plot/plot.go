// Package plot draws figures as SVG and PNG.
package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"netdelta/internal/picture"
)

// dpi is of a bitmap: two pixels for each of a page's at 96.
const dpi = 192

// SVG draws one figure as a vector image.
func SVG(w io.Writer, f *picture.Figure) error {
	width, height := size(f)
	c := vgsvg.New(width, height)
	if err := paint(draw.New(c), f); err != nil {
		return err
	}
	_, err := c.WriteTo(w)
	return err
}

// PNG draws one figure as a bitmap.
func PNG(w io.Writer, f *picture.Figure) error {
	width, height := size(f)
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
	if err := paint(draw.New(c), f); err != nil {
		return err
	}
	_, err := c.WriteTo(w)
	return err
}

// palette are the variants' colours, apart for those who see fewer of them (Okabe and
// Ito, 2008); dashes and glyphs tell them apart as well.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0x8a, 0x6d, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x55, 0x55, 0x55, 0xff}, {0x3b, 0x3b, 0x9e, 0xff}, {0xb0, 0xb0, 0xb0, 0xff},
}

var (
	ink    = color.RGBA{0x22, 0x22, 0x22, 0xff}
	faint  = color.RGBA{0x77, 0x77, 0x77, 0xff}
	gridly = color.RGBA{0xe4, 0xe4, 0xe4, 0xff}
	band   = color.RGBA{0xee, 0xee, 0xee, 0xff}
)

func colorOf(variant int) color.RGBA { return palette[variant%len(palette)] }

func dashesOf(variant int) []vg.Length {
	switch variant % 4 {
	case 1:
		return []vg.Length{6, 3}
	case 2:
		return []vg.Length{2, 2}
	case 3:
		return []vg.Length{8, 3, 2, 3}
	}
	return nil
}

func glyphOf(variant int) draw.GlyphDrawer {
	all := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}}
	return all[variant%len(all)]
}

// rowHeight is of a forest's rows.
const rowHeight = 15

// size is how large a figure is drawn.
func size(f *picture.Figure) (width, height vg.Length) {
	switch f.Kind {
	case picture.Forest:
		lines := 0
		last := ""
		for _, r := range f.Rows {
			if r.Group != last {
				last, lines = r.Group, lines+2
			}
			lines++
		}
		return 720, vg.Length(lines)*rowHeight + 92
	case picture.Spans:
		return 720, vg.Length(len(f.Y.Categories))*spanHeight + 130
	case picture.Bars:
		return max(560, vg.Length(90+len(f.X.Categories)*(24+16*len(f.Series)))), 420
	}
	return 640, 400
}

// style is text of a size.
func style(p *plot.Plot, points float64, c color.Color) draw.TextStyle {
	s := p.Title.TextStyle
	s.Font = font.From(s.Font, vg.Length(points))
	s.Font.Variant = "Sans"
	s.Color = c
	return s
}

// paint draws a figure: its title and what it is about above the plot.
func paint(c draw.Canvas, f *picture.Figure) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	p := plot.New()
	title := style(p, 12, ink)
	title.XAlign, title.YAlign = draw.XLeft, draw.YTop
	c.FillText(title, vg.Point{X: c.Min.X + 12, Y: c.Max.Y - 10}, f.Title)
	about := style(p, 8, faint)
	about.XAlign, about.YAlign = draw.XLeft, draw.YTop
	y := c.Max.Y - 27
	for _, line := range broken(f.About, about, c.Max.X-c.Min.X-24) {
		c.FillText(about, vg.Point{X: c.Min.X + 12, Y: y}, line)
		y -= 10
	}
	inner := draw.Crop(c, 10, -14, 10, -(c.Max.Y - y + 4))
	switch f.Kind {
	case picture.Forest:
		forest(inner, p, f)
		return nil
	case picture.Spans:
		spans(inner, p, f)
		return nil
	case picture.Lines, picture.Points, picture.Bars:
		return charted(inner, p, f)
	}
	return fmt.Errorf("draw %s: figures of the kind %q are not known here", f.Name, f.Kind)
}

// broken is a text in lines that are no wider than that.
func broken(text string, s draw.TextStyle, width vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range fields(text) {
		next := word
		if line != "" {
			next = line + " " + word
		}
		if line != "" && s.Width(next) > width {
			lines = append(lines, line)
			next = word
		}
		line = next
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// legendOf are the series' names with a stroke each, in a row above the plot.
func legendOf(c draw.Canvas, p *plot.Plot, f *picture.Figure) draw.Canvas {
	if len(f.Series) < 2 {
		return c
	}
	s := style(p, 9, ink)
	s.XAlign, s.YAlign = draw.XLeft, draw.YCenter
	x, y := c.Min.X+8, c.Max.Y-6
	for _, one := range f.Series {
		width := s.Width(one.Name) + 34
		if x+width > c.Max.X && x > c.Min.X+8 {
			x, y = c.Min.X+8, y-13
		}
		line := draw.LineStyle{Color: colorOf(one.Variant), Width: 2, Dashes: dashesOf(one.Variant)}
		if f.Kind == picture.Bars {
			line.Width, line.Dashes = 8, nil
		}
		if f.Kind != picture.Points {
			c.StrokeLine2(line, x, y, x+16, y)
		}
		if f.Kind != picture.Bars {
			c.DrawGlyph(draw.GlyphStyle{Color: colorOf(one.Variant), Radius: 2.5, Shape: glyphOf(one.Variant)}, vg.Point{X: x + 8, Y: y})
		}
		c.FillText(s, vg.Point{X: x + 21, Y: y}, one.Name)
		x += width
	}
	return draw.Crop(c, 0, 0, 0, -(c.Max.Y - y + 12))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
