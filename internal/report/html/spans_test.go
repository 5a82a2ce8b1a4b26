package html

import (
	"strings"
	"testing"

	"netdelta/internal/picture"
)

// Every span is a bar with words, in its colour; one that is too short to be seen is
// there all the same, and a name can't become markup.
func TestSpans(t *testing.T) {
	f := picture.Figure{Kind: picture.Spans, Title: "Where", X: picture.Axis{Unit: "us"}, Y: picture.Axis{Categories: []string{"soft<irq>", "kthread"}},
		Spans: []picture.Span{{Row: 0, From: 0, To: 30, Color: 4, Name: "wake-up", Said: "wake-up: 30 us", Value: "30.0 us"},
			{Row: 1, From: 0, To: 0.0001, Color: 8, Name: "rest", Said: "rest: 0.1 ns", Value: "33.0 us"}, {Row: 1, From: 33, To: -3, Color: 1, Name: "more", Said: "back", Value: "33.0 us"}}}
	for _, at := range []spansLayout{wideSpans, narrowSpans} {
		got := string(spansSVG(&f, at))
		for _, want := range []string{`class="v4"`, `class="v8"`, `class="v1"`, "<title>wake-up: 30 us</title>", "<title>rest: 0.1 ns</title>", "soft&lt;irq&gt;", ">33.0 us<", " us</text>", `width="0.7"`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in\n%s", at.class, want, got)
			}
		}
		if strings.Contains(got, `width="-`) || strings.Contains(got, "NaN") {
			t.Errorf("%s: %s", at.class, got)
		}
	}
	none := string(spansSVG(&picture.Figure{Kind: picture.Spans, Title: "Nothing"}, wideSpans))
	if !strings.HasSuffix(none, "</svg>") || strings.Contains(none, "NaN") || strings.Contains(none, "Inf") {
		t.Error(none)
	}
}
