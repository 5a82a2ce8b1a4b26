package markdown

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/summary"
)

var update = flag.Bool("update", false, "write the golden files anew")

func read(t testing.TB, into any, names ...string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, names...)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func kept(t testing.TB, name string) *compare.Document {
	t.Helper()
	d := &compare.Document{Report: new(compare.Report)}
	read(t, d.Report, "compare", "testdata", name+".json")
	return d
}

func single(t testing.TB, name string) *compare.Document {
	t.Helper()
	d := &compare.Document{Summary: new(summary.Report)}
	read(t, d.Summary, "summary", "testdata", name+".json")
	return d
}

func render(t testing.TB, d *compare.Document) string {
	t.Helper()
	var b strings.Builder
	if err := Render(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func num(v float64) *float64 { return &v }

// brief is a report whose own table stands for the rows, with checks.
func brief(t testing.TB) *compare.Document {
	d := kept(t, "rx-context")
	d.Report.Brief = true
	d.Report.Findings = []string{"Found: 3 of 4."}
	d.Report.Sections = []compare.Section{{Name: "s", Title: "A table", Notes: []string{"A note."},
		Columns: []compare.Column{{Name: "delay", Unit: "ns"}, {Name: "change", Percent: true}, {Name: "where"}},
		Rows: []compare.Line{
			{Label: "udp_rr", Cells: []compare.Datum{{Value: num(21e3), Lo: num(20e3), Hi: num(22e3)}, {Value: num(-3), Lo: num(-4), Hi: num(-2), Verdict: compare.Better}, {Text: "a text that is longer than a cell of a page in mail"}}},
			{Label: "tcp_rr", Cells: []compare.Datum{{Text: "n/a (no answer)"}, {}, {}}},
		}}}
	d.Report.Checks = []compare.Check{{Name: "delay 20us", Wanted: 20e3, Found: num(20.1e3), Lo: num(20e3), Hi: num(20.2e3), Unit: "ns", Within: 1e3, Pass: true},
		{Name: "loss", Wanted: 0.1, Found: num(0.2), Unit: "share", Within: 0.01, Text: "it is off"}}
	return d
}

func documents(t testing.TB) map[string]*compare.Document {
	all := map[string]*compare.Document{"brief": brief(t)}
	for _, name := range []string{"rx-context", "partial", "factorial", "conditions", "runs", "few"} {
		all[name] = kept(t, name)
	}
	for _, name := range []string{"run", "partial", "nothing"} {
		all["single-"+name] = single(t, name)
	}
	return all
}

func TestGolden(t *testing.T) {
	for name, d := range documents(t) {
		got := render(t, d)
		checkPage(t, got)
		path := filepath.Join("testdata", name+".md")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s (-golden +got; if it should differ, run with -update):\n%s", name, d)
		}
	}
}

// cellsOf are the cells of a table's row, cut at the bars that are not escaped.
func cellsOf(line string) []string {
	var cells []string
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			b.WriteString(line[i : i+2])
			i++
		case line[i] == '|':
			cells = append(cells, strings.TrimSpace(b.String()))
			b.Reset()
		default:
			b.WriteByte(line[i])
		}
	}
	if b.Len() > 0 {
		cells = append(cells, b.String()+" (no bar behind it)")
	}
	return cells
}

// bare is a line without what is escaped, and without code.
func bare(line string) string {
	line = regexp.MustCompile(`\\.`).ReplaceAllString(line, "")
	return regexp.MustCompile("`[^`]*`").ReplaceAllString(line, "")
}

// checkPage holds what is true of every page: tables are whole, and there is no markup
// but ours.
func checkPage(t interface{ Fatalf(string, ...any) }, page string) {
	if !strings.HasSuffix(page, "\n") || strings.HasSuffix(page, "\n\n") || strings.HasPrefix(page, "\n") || strings.Contains(page, "\n\n\n") {
		t.Fatalf("blocks must be one empty line apart: %q", page)
	}
	delimiter := regexp.MustCompile(`^-+:?$`)
	columns, row := 0, 0
	fence := ""
	for i, line := range strings.Split(page, "\n") {
		if fence != "" {
			if line == fence {
				fence = ""
			}
			continue
		}
		if m := regexp.MustCompile("^(```+)sh$").FindStringSubmatch(line); m != nil {
			fence = m[1]
			continue
		}
		if regexp.MustCompile(`^(</?details>|<summary>[^<>]*</summary>)$`).MatchString(line) {
			continue
		}
		if strings.ContainsAny(bare(line), "<>[]~$&") {
			t.Fatalf("line %d has markup of somebody else: %q", i+1, line)
		}
		if !strings.HasPrefix(line, "|") {
			columns, row = 0, 0
			continue
		}
		cells := cellsOf(line)
		if columns == 0 {
			columns = len(cells)
		}
		if row++; len(cells) != columns {
			t.Fatalf("line %d has %d cells, the head has %d: %q", i+1, len(cells), columns, line)
		}
		for _, c := range cells {
			if row == 2 && !delimiter.MatchString(c) {
				t.Fatalf("line %d is no delimiter: %q", i+1, line)
			}
		}
	}
	if fence != "" {
		t.Fatalf("a block of code never ends: %q", page)
	}
}

// Whatever a user named something, it is no markup, and every table stays whole.
func TestNamesAreNoMarkup(t *testing.T) {
	parts := []string{"|", "<script>", "`", "```", "*", "**", "_", "[x](http://y)", "\n", "\r\n", "\x1b[31m", "\\", "# ", "- ", "1. ", "&lt;", "~~", "$x$", "é", "\u202e", "www.x.y", "a"}
	rapid.Check(t, func(t *rapid.T) {
		bad := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 6).Draw(t, "text"), "")
		v := 1.5
		r := compare.Report{Experiment: bad, Question: bad, Blocks: 6, Planned: 6, MarginPct: 2, Command: "netdelta " + bad, Version: bad,
			Environment: []result.Fact{{Name: bad, Value: bad}}, Findings: []string{bad},
			Warnings: []result.Warning{{Code: "x", Text: bad, Advice: bad}},
			Sections: []compare.Section{{Title: bad, Columns: []compare.Column{{Name: bad}}, Notes: []string{bad},
				Rows: []compare.Line{{Label: bad, Cells: []compare.Datum{{Text: bad}}}}}},
			Comparisons: []compare.Comparison{{Test: bad, Factor: bad, Baseline: bad, Variant: bad, Metric: bad, Under: bad, End: "local", Unit: "ns", Role: compare.RoleHeadline,
				Scale: compare.Percent, DeltaPct: &v, LoPct: &v, HiPct: &v, N: 6, Verdict: compare.Worse}}}
		var b strings.Builder
		if err := Render(&b, &compare.Document{Report: &r}); err != nil {
			t.Fatal(err)
		}
		checkPage(t, b.String())
		if strings.ContainsAny(b.String(), "\x1b\r\u202e") {
			t.Fatalf("control characters are left: %q", b.String())
		}
	})
}

func TestEscaped(t *testing.T) {
	for in, want := range map[string]string{
		"udp_rr size=1":   "udp_rr size=1",
		"_x_ a_ _b":       `\_x\_ a\_ \_b`,
		"a|b":             `a\|b`,
		"<b>&amp;":        `\<b\>\&amp;`,
		"http://x":        `http:\//x`,
		"www.x.y":         `www\.x.y`,
		"two\n lines\x07": "two lines",
		"+57% (52 to 60)": "+57% (52 to 60)",
	} {
		if got := escaped(in); got != want {
			t.Errorf("escaped(%q) is %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"# x": `\# x`, "1. x": `1\. x`, "12) x": `12\) x`, "- x": `\- x`, "---": `\---`, "1.5 x": `1\.5 x`, "x": "x", "": ""} {
		if got := paragraph(in); got != want {
			t.Errorf("paragraph(%q) is %q, want %q", in, got, want)
		}
	}
}
