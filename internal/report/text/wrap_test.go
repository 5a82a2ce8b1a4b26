package text

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/compare"
	"netdelta/internal/labtest"
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

// The program's own names of levels are never cut, and each stands over the side
// of its column where the figures are.
func TestHeadsAreNotCut(t *testing.T) {
	for _, c := range []struct{ baseline, variant string }{
		{"softirq", "kthread"}, {"napi", "napi-threaded"}, {"napi-threaded", "napi-threaded-again"}, {"napi-threaded-again", "napi-threaded"},
	} {
		x := table{head: []string{"", "unit", c.baseline, c.variant, "change", "verdict"}, right: []bool{false, false, true, true, false, false}}
		x.add("  retransmits", "Mbit/s", "0.0430", "2.66", "+50300% (-12.5 to 73715.2)", "unsure >9999")
		lines := x.lines(fit([]*table{&x}))
		body := lines[len(lines)-1]
		ends := map[string]int{c.baseline: strings.Index(body, "0.0430") + 6, c.variant: strings.Index(body, "2.66") + 4}
		for name, end := range ends {
			found := false
			for _, line := range lines[:len(lines)-1] {
				at := end - len(name)
				found = found || at >= 0 && end <= len(line) && line[at:end] == name && (end == len(line) || line[end] == ' ') && (at == 0 || line[at-1] == ' ')
			}
			if !found {
				t.Errorf("%s does not end over its figures:\n%s", name, strings.Join(lines, "\n"))
			}
		}
		for _, line := range lines {
			if len(line) > Width {
				t.Errorf("%d columns: %q", len(line), line)
			}
		}
		for _, word := range []string{"unit", "change", "verdict", "unsure >9999", "(-12.5 to 73715.2)"} {
			if !strings.Contains(strings.Join(lines, "\n"), word) {
				t.Errorf("%q is cut:\n%s", word, strings.Join(lines, "\n"))
			}
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
		{"netdelta show ' ", []string{"$ netdelta show '"}},
		{"netdelta lab --levels " + x, []string{`$ netdelta lab --levels \`, "  " + x}},
		{x + x, []string{"$ " + x + x[:8] + `\`, x[:52]}},
		{"netdelta lab --tests '" + x + "," + x + "' --seed 3", []string{`$ netdelta lab --tests \`, "  '" + x + ",xxxxxx'\\", "'" + x[:54] + "' --seed 3"}},
	} {
		r := compare.Report{Command: c.command}
		if d := cmp.Diff(c.want, command(&r)); d != "" {
			t.Errorf("%q:\n%s", c.command, d)
		}
	}
}

// Whatever is quoted, a shell reads what was typed.
func TestCommandCanBePasted(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		labtest.Skip(t, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var words, quoted []string
		for range rapid.IntRange(1, 3).Draw(t, "words") {
			w := rapid.StringMatching(`[a-z' ,=\\]{1,150}`).Draw(t, "word")
			words = append(words, w)
			quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		r := compare.Report{Command: "printf %s\\\\n " + strings.Join(quoted, " ")}
		lines := command(&r)
		for _, l := range lines {
			if len(l) > Width {
				t.Fatalf("%d columns: %q", len(l), l)
			}
		}
		out, err := exec.Command(shell, "-c", strings.TrimPrefix(strings.Join(lines, "\n"), "$ ")).CombinedOutput()
		if want := strings.Join(words, "\n") + "\n"; err != nil || string(out) != want {
			t.Fatalf("%v: the shell reads %q, want %q, from\n%s", err, out, want, strings.Join(lines, "\n"))
		}
	})
}

// What gives way in a table that is too wide is its labels, and then what stands
// behind the verdicts: never a change's interval.
func TestChangesAreNeverCut(t *testing.T) {
	tb := table{head: []string{"", "unit", "1500", "1400", "change", "verdict"}, right: []bool{false, false, true, true, false, false}}
	tb.add("! bytes_per_packet remote", "B/packet", "123.4", "123.4", "x24.8 (x18.5 to x31.2)", "unsure >9999")
	tb.add("! cpu remote", "us/op", "1.00", "1.20", "+20% (-19.2 to 121.3)", "worse")
	lines := tb.lines(fit([]*table{&tb}))
	for _, want := range []string{"x24.8 (x18.5 to x31.2)", "remote", "unsure", "+20% (-19.2 to 121.3)", "worse"} {
		if !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("%q is cut:\n%s", want, strings.Join(lines, "\n"))
		}
	}
	for _, l := range lines {
		if len(l) > Width || strings.HasSuffix(l, "~") {
			t.Errorf("%q is no line of a page", l)
		}
	}
}
