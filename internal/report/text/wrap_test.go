package text

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/compare"
)

func TestWrap(t *testing.T) {
	x := strings.Repeat("x", 70)
	for _, c := range []struct {
		text, first, rest string
		want              []string
	}{
		{"", "", "", []string{""}},
		{"  ", "- ", "  ", []string{"-"}},
		{"a b", "- ", "  ", []string{"- a b"}},
		{"a\tb\nc", "", "", []string{"a b c"}},
		{x + " yy", "", "  ", []string{x, "  yy"}},
		{x + " y", "", "  ", []string{x + " y"}},
		{x + x, "- ", "  ", []string{"- " + x, "  " + x}},
		{x + x + "z", "", " ", []string{x + "xx", " " + x[:68] + "z"}},
		{"5 \u00b5s \u2013 ok", "", "", []string{"5 ?s ? ok"}},
	} {
		if d := cmp.Diff(c.want, wrap(c.text, c.first, c.rest)); d != "" {
			t.Errorf("wrap(%q, %q, %q):\n%s", c.text, c.first, c.rest, d)
		}
	}
}

// No word is lost or put together with another.
func TestWrapKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-z]{1,60}`)).Draw(t, "words")
		lines := wrap(strings.Join(words, " "), "* ", "    ")
		got := strings.Fields(strings.Join(lines, " "))[1:]
		if strings.Join(got, " ") != strings.Join(words, " ") {
			t.Fatalf("%q gives %q", words, lines)
		}
	})
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{{"softirq", 7, "softirq"}, {"softirq", 6, "softi~"}, {"softirq", 1, "~"}, {"softirq", 0, ""}, {"", 3, ""}} {
		if got := clip(c.s, c.width); got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.s, c.width, got, c.want)
		}
	}
}

// Heads give way before figures do.
func TestFit(t *testing.T) {
	long := strings.Repeat("napi-threaded-", 4)
	a := table{head: []string{"", long, "change"}, right: make([]bool, 3)}
	a.add("udp_stream size=1KiB and a heading that is longer than any column")
	a.add("  goodput", "12345", strings.Repeat("y", 30))
	b := table{head: []string{"", "b", "change"}, right: make([]bool, 3)}
	b.add("  retransmits", "1", "n/a")
	if got := fit([]*table{&a, &b}); got.gap != 1 || !slices.Equal(got.widths, []int{13, 27, 30}) {
		t.Errorf("got %+v", got)
	}
	a.add("  goodput", strings.Repeat("1", 80), "n/a")
	if got := fit([]*table{&a, &b}); got.gap != 1 || got.widths[0]+got.widths[1]+got.widths[2]+2 != Width || got.widths[0] < 10 || got.widths[1] < 20 {
		t.Errorf("got %+v", got)
	}
}

// A command that takes more than a line can be pasted into a shell.
func TestCommand(t *testing.T) {
	x := strings.Repeat("x", 60)
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"", nil},
		{"netdelta lab", []string{"$ netdelta lab"}},
		{"netdelta lab --levels " + x, []string{`$ netdelta lab --levels \`, "  " + x}},
		{x + x, []string{"$ " + x + x[:9] + `\`, x[:51]}},
	} {
		r := compare.Report{Command: c.command}
		if d := cmp.Diff(c.want, command(&r)); d != "" {
			t.Errorf("%q:\n%s", c.command, d)
		}
	}
}
