package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/picture"
	"netdelta/internal/result"
)

// figures are those of a real run of a lab, and some that are made up: a sweep, a figure
// with one point, names that are long, and none.
func figures(t testing.TB) []picture.Figure {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "picture", "testdata", "lab.netdelta"))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := result.DecodeBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := compare.Build(*runs[0].Run.Plan, runs[0].Trials, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := picture.Of(&compare.Document{Report: &r, Kept: []compare.Kept{compare.Kept(runs[0])}})
	long := strings.Repeat("a name that is long ", 12)
	return append(all,
		picture.Figure{Name: "sweep", Kind: picture.Lines, Title: "Sweep", X: picture.Axis{Label: "size", Unit: "B", Log: true, Ticks: []float64{1, 1024}, Categories: []string{"1", "1KiB"}}, Y: picture.Axis{Log: true},
			Series: []picture.Series{{Name: "a", X: []float64{1, 64, 1024}, Y: []float64{1, 2, 30}, Lo: []float64{0.5, 1, 20}, Hi: []float64{2, 3, 40}}, {Name: "b", Variant: 9, X: []float64{1}, Y: []float64{3}}}},
		picture.Figure{Name: "stages", Kind: picture.Spans, Title: "Where the time goes", About: "A typical round trip.", X: picture.Axis{Label: "time", Unit: "us"}, Y: picture.Axis{Categories: []string{"softirq", "a variant with a long name"}},
			Spans: []picture.Span{{Row: 0, From: 0, To: 4, Name: "sending", Said: "softirq, > send: 4.00 us", Value: "30.0 us"}, {Row: 0, From: 4, To: 30, Color: 4, Name: "wake-up", Said: "softirq, > wake-up: 26.0 us", Value: "30.0 us"},
				{Row: 1, From: 0, To: 33, Color: 8, Name: "not attributed", Said: "all of it", Value: "33.0 us"}}},
		picture.Figure{Name: "waterfall", Kind: picture.Spans, Title: "From softirq to kthread", X: picture.Axis{Label: "change", Unit: "us"}, Y: picture.Axis{Categories: []string{"> wire", "> handler due", "whole"}},
			Spans: []picture.Span{{Row: 0, From: 0, To: -2, Color: 2, Name: "less", Value: "-2.00 us"}, {Row: 1, From: -2, To: 3, Color: 1, Name: "more", Value: "+5.00 us"}, {Row: 2, From: 0, To: 3, Color: 6, Name: "the whole", Value: "+3.00 us"}}},
		picture.Figure{Name: "one", Kind: picture.Points, Title: "One", Series: []picture.Series{{Name: "a", X: []float64{1}, Y: []float64{0}}}},
		picture.Figure{Name: "long", Kind: picture.Forest, Title: long, About: long, Rows: []picture.Row{{Group: long, Label: long, Est: 3000, Lo: math.NaN(), Hi: math.NaN(), Margin: 2, Change: long, Verdict: compare.Worse}}},
		picture.Figure{Name: "bars", Kind: picture.Bars, Title: "<&>", X: picture.Axis{Categories: []string{long, "b"}}, Series: []picture.Series{{Name: long, X: []float64{0, 1}, Y: []float64{1, 0}}}})
}

// Every figure is a drawing of its size that says its title, and the same each time.
func TestDraw(t *testing.T) {
	all := figures(t)
	if len(all) < 12 {
		t.Fatalf("%d figures", len(all))
	}
	for i := range all {
		f := &all[i]
		var svg, again, bitmap bytes.Buffer
		if err := errors.Join(SVG(&svg, f), SVG(&again, f), PNG(&bitmap, f)); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if svg.String() != again.String() {
			t.Errorf("%s: another time it is another drawing", f.Name)
		}
		d := xml.NewDecoder(bytes.NewReader(svg.Bytes()))
		d.Strict = true
		words, shapes := "", 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s is no XML: %v", f.Name, err)
			}
			switch x := token.(type) {
			case xml.CharData:
				words += string(x)
			case xml.StartElement:
				if x.Name.Local == "path" || x.Name.Local == "polygon" {
					shapes++
				}
			}
		}
		if !strings.Contains(words, f.Title) || shapes < 2 {
			t.Errorf("%s: %d shapes, and it says %.60q", f.Name, shapes, words)
		}
		if strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") {
			t.Errorf("%s has places that are none", f.Name)
		}
		image, err := png.Decode(&bitmap)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		wide, high := size(f)
		if b := image.Bounds(); math.Abs(float64(b.Dx())-float64(wide)*dpi/72) > 2 || math.Abs(float64(b.Dy())-float64(high)*dpi/72) > 2 {
			t.Errorf("%s is %v, want %v by %v points", f.Name, b, wide, high)
		}
	}
	if err := SVG(io.Discard, &picture.Figure{Name: "x", Kind: "pie"}); err == nil || !strings.Contains(err.Error(), "pie") {
		t.Errorf("a kind that there is not: %v", err)
	}
}

var errFull = errors.New("no space left on device")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFullDisk(t *testing.T) {
	f := figures(t)[0]
	if err := SVG(full{}, &f); !errors.Is(err, errFull) {
		t.Errorf("SVG: %v", err)
	}
	if err := PNG(full{}, &f); !errors.Is(err, errFull) {
		t.Errorf("PNG: %v", err)
	}
}

// Ticks lie within the axis, go up, and are few enough to be read.
func TestTicks(t *testing.T) {
	for _, r := range [][2]float64{{0, 1}, {-30, 70}, {1, 1000}, {0.001, 0.0012}, {48.3, 72.1}, {1e-9, 5e3}, {7, 7.5}} {
		for name, ticks := range map[string]func(a, b float64) int{
			"even": func(a, b float64) int {
				n := 0
				for i, x := range even(a, b) {
					if x.Value < a-1e-9 || x.Value > b*(1+1e-9)+1e-9 || i > 0 && x.Value <= even(a, b)[i-1].Value {
						t.Errorf("%v: tick %v", r, x)
					}
					n++
				}
				return n
			},
			"decades": func(a, b float64) int {
				if a <= 0 {
					return 5
				}
				n := 0
				for _, x := range decades(a, b) {
					if x.Label != "" {
						n++
					}
				}
				return n
			},
		} {
			if n := ticks(r[0], r[1]); n > 16 || name == "even" && n < 2 {
				t.Errorf("%s of %v: %d ticks", name, r, n)
			}
		}
	}
}
