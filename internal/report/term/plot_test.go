package term

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"netdelta/internal/compare"
	"netdelta/internal/hist"
	"netdelta/internal/picture"
)

// figures are one of each kind, made by hand.
func figures() []picture.Figure {
	nan := math.NaN()
	ecdf := func(at int, from float64) picture.Series {
		s := picture.Series{Name: []string{"softirq", "kthread"}[at], Variant: at, Step: true}
		for i := range 20 {
			s.X, s.Y = append(s.X, from*(1+0.05*float64(i))), append(s.Y, float64(i+1)/20)
		}
		return s
	}
	curve := picture.Series{Name: "udp_rr"}
	for i := range 60 {
		curve.X, curve.Y = append(curve.X, float64(i)), append(curve.Y, 50+40*math.Sin(float64(i)/8))
	}
	return []picture.Figure{
		{Name: "forest", Kind: picture.Forest, Title: "Changes", About: "Each row is a change with its interval.", Rows: []picture.Row{
			{Group: "udp_rr size=1", Label: "rtt_p50", Est: 57, Lo: 52, Hi: 60, Margin: 2, Change: "+57% (52 to 60)", Verdict: compare.Worse, Better: "lower"},
			{Group: "udp_rr size=1", Label: "rate", Est: 0.2, Lo: -1, Hi: 1.5, Margin: 2, Change: "+0.2% (-1.0 to 1.5)", Verdict: compare.Same, Better: "higher"},
			{Group: "tcp_stream", Label: "goodput", Est: 30, Lo: -80, Hi: 5000, Margin: 2, Change: "+30% (-80 to x51)", Verdict: compare.Unsure, Better: "higher"},
			{Group: "tcp_stream", Label: "nothing", Est: nan, Lo: nan, Hi: nan, Margin: 2, Change: "n/a (no block)", Verdict: compare.Unsure, Better: "higher"}}},
		{Name: "ecdf", Kind: picture.Lines, Title: "Round trips", X: picture.Axis{Label: "round trip", Unit: "us", Log: true}, Y: picture.Axis{Label: "share"},
			Series: []picture.Series{ecdf(0, 20), ecdf(1, 30)}},
		{Name: "one", Kind: picture.Lines, Title: "One curve", X: picture.Axis{Label: "block"}, Y: picture.Axis{Label: "rate", Unit: "k/s"}, Series: []picture.Series{curve}},
		{Name: "blocks", Kind: picture.Points, Title: "Blocks", X: picture.Axis{Label: "size", Categories: []string{"1", "64", "1KiB"}}, Y: picture.Axis{Label: "p50", Unit: "us"},
			Series: []picture.Series{{Name: "softirq", X: []float64{0, 1, 2}, Y: []float64{10, 12, nan}, Lo: []float64{8, 11, nan}, Hi: []float64{12, 16, nan}}, {Name: "kthread", Variant: 1, X: []float64{0, 1, 2}, Y: []float64{20, 22, 40}}}},
		{Name: "cost", Kind: picture.Bars, Title: "Cost", X: picture.Axis{Categories: []string{"udp_rr", "tcp_rr"}}, Y: picture.Axis{Label: "CPU time", Unit: "us/op"},
			Series: []picture.Series{{Name: "softirq", X: []float64{0, 1}, Y: []float64{3.5, 7}}, {Name: "kthread", Variant: 1, X: []float64{0, 1}, Y: []float64{0, nan}}}},
		{Name: "stages", Kind: picture.Spans, Title: "Where the time goes", About: "A typical round trip.", X: picture.Axis{Label: "time", Unit: "us"}, Y: picture.Axis{Categories: []string{"softirq", "a variant with a long name"}},
			Spans: []picture.Span{{Row: 0, From: 0, To: 4, Name: "sending", Mark: "s", Said: "softirq, > send: 4.00 us", Value: "30.0 us"}, {Row: 0, From: 4, To: 30, Color: 4, Name: "wake-up", Mark: "W", Said: "softirq, > wake-up: 26.0 us", Value: "30.0 us"},
				{Row: 1, From: 0, To: 33, Color: 8, Name: "not attributed", Mark: "?", Said: "all of it", Value: "33.0 us"}}},
		{Name: "waterfall", Kind: picture.Spans, Title: "From softirq to kthread", X: picture.Axis{Label: "change", Unit: "us"}, Y: picture.Axis{Categories: []string{"> wire", "> handler due", "whole"}},
			Spans: []picture.Span{{Row: 0, From: 0, To: -2, Color: 2, Name: "less", Mark: "-", Value: "-2.00 us"}, {Row: 1, From: -2, To: 3, Color: 1, Name: "more", Mark: "+", Value: "+5.00 us"}, {Row: 2, From: 0, To: 3, Color: 6, Name: "the whole", Mark: "#", Value: "+3.00 us"}}},
		{Name: "empty", Kind: picture.Lines, Title: "Nothing", Series: []picture.Series{{Name: "x"}}},
	}
}

func TestPlotGolden(t *testing.T) {
	for _, look := range []Look{{Width: 90}, {Width: 60, ASCII: true}, {Width: 90, Color: true, Dark: true}} {
		var all strings.Builder
		for _, f := range figures() {
			var b strings.Builder
			if err := Plot(&b, &f, look); err != nil {
				t.Fatal(err)
			}
			check(t, b.String(), look)
			all.WriteString(b.String() + "\n")
		}
		name := fmt.Sprintf("plots-%d.txt", look.Width)
		if look.Color {
			name = "plots-color.txt"
		}
		golden(t, name, all.String())
	}
}

// Any figure can be drawn at any width, and none steers the terminal.
func TestPlotOfAnything(t *testing.T) {
	value := rapid.OneOf(rapid.Float64Range(-1e6, 1e6), rapid.SampledFrom([]float64{0, math.NaN(), 1e-300, 1e300, -1e300, 1}))
	rapid.Check(t, func(t *rapid.T) {
		list := func(name string) []float64 { return rapid.SliceOfN(value, 0, 8).Draw(t, name) }
		text := func(name string) string { return rapid.String().Draw(t, name) }
		f := picture.Figure{Kind: rapid.SampledFrom([]picture.Kind{picture.Forest, picture.Lines, picture.Points, picture.Bars, picture.Spans}).Draw(t, "kind"), Title: text("title"), About: text("about"),
			X: picture.Axis{Label: text("x"), Unit: text("unit"), Log: rapid.Bool().Draw(t, "log x"), Ticks: list("ticks"), Categories: []string{text("category")}},
			Y: picture.Axis{Label: text("y"), Log: rapid.Bool().Draw(t, "log y")}}
		for range rapid.IntRange(0, 3).Draw(t, "series") {
			f.Series = append(f.Series, picture.Series{Name: text("name"), Variant: rapid.IntRange(0, 20).Draw(t, "variant"), X: list("xs"), Y: list("ys"), Lo: list("lo"), Hi: list("hi"), Step: rapid.Bool().Draw(t, "step")})
			f.Rows = append(f.Rows, picture.Row{Group: text("group"), Label: text("label"), Est: value.Draw(t, "est"), Lo: value.Draw(t, "lo"), Hi: value.Draw(t, "hi"), Margin: 2, Change: text("change"), Verdict: compare.Better})
		}
		f.Y.Categories = []string{text("row"), text("row")}
		for range rapid.IntRange(0, 4).Draw(t, "spans") {
			f.Spans = append(f.Spans, picture.Span{Row: rapid.IntRange(0, 2).Draw(t, "row"), From: value.Draw(t, "from"), To: value.Draw(t, "to"), Color: rapid.IntRange(0, 20).Draw(t, "color"),
				Name: text("name"), Mark: rapid.SampledFrom([]string{"", "s", "long"}).Draw(t, "mark"), Value: text("value")})
		}
		look := Look{Width: rapid.IntRange(40, 120).Draw(t, "width"), Color: rapid.Bool().Draw(t, "color"), ASCII: rapid.Bool().Draw(t, "ascii")}
		var b strings.Builder
		if err := Plot(&b, &f, look); err != nil {
			t.Fatal(err)
		}
		check(t, b.String(), look)
	})
}

func TestForestRow(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		lo, est, hi, margin, span float64
		want                      string
	}{
		{2, 4, 6, 2, 10, "        ··┊·━━●━━    "},
		{-1, 0, 1, 2, 10, "        ·━●━·        "},
		{-20, 3, 20, 2, 10, "◀━━━━━━━━━╂━━●━━━━━━▶"},
		{15, 20, 30, 2, 10, "        ··┊··       ▶"},
		{-30, -20, -15, 0, 10, "◀         ┊          "},
		{nan, -5, nan, 2, 10, "     ●  ··┊··        "},
		{nan, nan, nan, 2, 10, "        ··┊··        "},
		{-inf, 1, inf, 0, 10, "◀━━━━━━━━━╂●━━━━━━━━▶"},
	} {
		if got := ForestRow(c.lo, c.est, c.hi, c.margin, c.span, 21); got != c.want {
			t.Errorf("%+v is\n%q, want\n%q", c, got, c.want)
		}
	}
	value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{nan, inf, -inf, 0}))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(-1, 60).Draw(t, "width")
		got := ForestRow(value.Draw(t, "lo"), value.Draw(t, "est"), value.Draw(t, "hi"), value.Draw(t, "margin"), value.Draw(t, "span"), n)
		if utf8.RuneCountInString(got) != max(n, 0) {
			t.Fatalf("%q is not %d wide", got, n)
		}
	})
}

func TestDistributions(t *testing.T) {
	h := hist.New()
	for range 8 {
		h.Record(100)
	}
	for range 2 {
		h.Record(1000)
	}
	if got := Histogram(h, 10, 10000, 6); got != "  █ ▂ " {
		t.Errorf("histogram %q", got)
	}
	if got := ECDF(h, 10, 10000, 6); got != "  ▇▇██" {
		t.Errorf("ecdf %q", got)
	}
	if got := Histogram(h, 200, 400, 4); got != "    " {
		t.Errorf("nothing there, but %q", got)
	}
	for _, bad := range []string{Histogram(nil, 1, 2, 3), ECDF(hist.New(), 1, 2, 3), Histogram(h, 0, 2, 3), ECDF(h, 2, 2, 3)} {
		if bad != "   " {
			t.Errorf("got %q", bad)
		}
	}
	if got := Sparkline([]float64{1, 2, math.NaN(), 3}, 8); got != "▁▅ █" {
		t.Errorf("sparkline %q", got)
	}
	if got := Sparkline([]float64{5, 5}, 8); got != "▅▅" {
		t.Errorf("a flat sparkline %q", got)
	}
	if got := Sparkline([]float64{1, 1, 2, 2, 3}, 3); utf8.RuneCountInString(got) != 3 {
		t.Errorf("three in all, got %q", got)
	}
}
