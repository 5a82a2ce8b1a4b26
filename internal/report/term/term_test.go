package term

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/compare"
	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
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

// around is round trips around us microseconds, each as often as a triangle is high.
func around(us int64) *hist.Hist {
	h := hist.New()
	for i := range int64(40) {
		for range 40 - i {
			h.Record(us * (900 + 5*i))
		}
	}
	return h
}

// measured is a document with trials behind it.
func measured(t testing.TB) *compare.Document {
	x, err := spec.NewTest("udp_rr", spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	plan := spec.Plan{Experiment: "rx-context", Factors: []spec.Factor{{Name: "rx", Levels: []string{"softirq", "kthread"}}}, Baseline: spec.Variant{"rx": "softirq"},
		Tests: []spec.Test{x}, Blocks: 6, Warmup: time.Second / 4, Window: time.Second, Seed: 1, Margin: 0.02}
	var trials []result.Trial
	for block := range 6 {
		for i, level := range plan.Factors[0].Levels {
			h := around(int64(20 + 30*i + block%3))
			trials = append(trials, result.Trial{Block: block, Order: len(trials), Attempt: 1, Test: x, Variant: spec.Variant{"rx": level}, Warmup: plan.Warmup, Window: plan.Window,
				Local:  result.End{Role: result.Local, Elapsed: time.Second, Messages: h.Count(), Bytes: 2 * h.Count(), RTT: h, Counts: map[string]int64{"sent": h.Count(), "lost": 0, "late": 0, "stale": 0}},
				Remote: &result.End{Role: result.Remote, Elapsed: time.Second, Messages: h.Count(), Bytes: 2 * h.Count()}})
		}
	}
	r, err := compare.Build(plan, trials, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := result.Run{ID: result.RunID(7), State: result.Complete, Start: time.Unix(1e9, 0).UTC(), Plan: &plan}
	return &compare.Document{Report: &r, Kept: []compare.Kept{{Run: run, Trials: trials}}}
}

func documents(t testing.TB) map[string]*compare.Document {
	all := map[string]*compare.Document{"measured": measured(t)}
	for _, name := range []string{"rx-context", "partial", "factorial", "conditions", "runs", "few"} {
		all[name] = kept(t, name)
	}
	for _, name := range []string{"run", "partial", "nothing"} {
		all["single-"+name] = single(t, name)
	}
	return all
}

func render(t interface{ Fatal(...any) }, d *compare.Document, look Look) string {
	var b strings.Builder
	if err := Render(&b, d, look, Options{Machines: true, Next: "Next: go on."}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// check holds what is true of every page: lines within the width but for the command,
// no blanks at their ends, and no escapes but colours, none of which stays on.
func check(t interface{ Fatalf(string, ...any) }, page string, look Look) {
	if !look.Color && strings.Contains(page, "\x1b") {
		t.Fatalf("colours nobody asked for: %q", page)
	}
	for i, line := range strings.Split(page, "\n") {
		bare := plain(line)
		if strings.ContainsFunc(bare, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e }) {
			t.Fatalf("line %d steers the terminal: %q", i+1, line)
		}
		if n := width(bare); n > max(look.Width, leastWidth) && !strings.HasPrefix(bare, "$ ") {
			t.Fatalf("line %d has %d columns: %q", i+1, n, line)
		}
		if strings.HasSuffix(bare, " ") && !look.Color {
			t.Fatalf("line %d ends with a blank: %q", i+1, line)
		}
		if all := sgr.FindAllString(line, -1); len(all) > 0 && all[len(all)-1] != "\x1b[m" && all[len(all)-1] != "\x1b[0m" {
			t.Fatalf("line %d leaves a colour on: %q", i+1, line)
		}
		if look.ASCII && strings.ContainsFunc(bare, func(r rune) bool { return r > '~' }) {
			t.Fatalf("line %d has other characters than ASCII: %q", i+1, line)
		}
	}
}

func TestGolden(t *testing.T) {
	for name, d := range documents(t) {
		for _, look := range []Look{{Width: 100}, {Width: 72}, {Width: 44, ASCII: true}} {
			got := render(t, d, look)
			check(t, got, look)
			golden(t, fmt.Sprintf("%s-%d.txt", name, look.Width), got)
		}
	}
	wide := Look{Width: 150}
	golden(t, "measured-150.txt", render(t, measured(t), wide))
	look := Look{Width: 100, Color: true, Dark: true}
	got := render(t, measured(t), look)
	check(t, got, look)
	golden(t, "measured-color.txt", got)
}

// Colours say nothing that the page does not say without them.
func TestColoursAreNoMore(t *testing.T) {
	trailing := regexp.MustCompile(`(?m) +$`)
	for name, d := range documents(t) {
		for _, look := range []Look{{Width: 100}, {Width: 50}, {Width: 80, Dark: true}} {
			bare := render(t, d, look)
			look.Color = true
			colored := render(t, d, look)
			check(t, colored, look)
			if diff := cmp.Diff(bare, trailing.ReplaceAllString(plain(colored), "")); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// Every width has every figure's verdict.
func TestEveryWidth(t *testing.T) {
	d := kept(t, "rx-context")
	for n := 20; n <= 140; n += 3 {
		look := Look{Width: n}
		got := render(t, d, look)
		check(t, got, look)
		if worse, better := strings.Count(got, "- worse"), strings.Count(got, "+ better"); worse < 20 || better < 10 {
			t.Errorf("at %d columns there are %d verdicts of worse and %d of better", n, worse, better)
		}
	}
}

// Whatever a user named something, it does not steer the terminal.
func TestNamesDoNotSteer(t *testing.T) {
	parts := []string{"\x1b[31m", "\x1b]0;x\a", "\r", "\n", "\u009b", "\u202e", "\x00", "é", "漢字", "\t", "a", strings.Repeat("w", 50), "\u200b", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		bad := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 6).Draw(t, "text"), "")
		v := 1.5
		r := compare.Report{Experiment: bad, Question: bad, Blocks: 6, Planned: 6, MarginPct: 2, Command: "netdelta " + bad, Version: bad,
			Environment: []result.Fact{{Name: bad, Value: bad}}, Findings: []string{bad},
			Warnings: []result.Warning{{Code: "x", Text: bad, Advice: bad}},
			Checks:   []compare.Check{{Name: bad, Wanted: 1, Found: &v, Text: bad}},
			Sections: []compare.Section{{Title: bad, Columns: []compare.Column{{Name: bad}, {Name: bad, Unit: "ns"}}, Notes: []string{bad},
				Rows: []compare.Line{{Label: bad, Cells: []compare.Datum{{Text: bad}, {Value: &v, Lo: &v, Hi: &v}}}}}},
			Comparisons: []compare.Comparison{{Test: bad, Factor: bad, Baseline: bad, Variant: bad, Metric: bad, Under: bad, End: "local", Unit: "ns", Role: compare.RoleHeadline,
				Scale: compare.Percent, DeltaPct: &v, LoPct: &v, HiPct: &v, N: 6, Verdict: compare.Worse}}}
		look := Look{Width: rapid.IntRange(20, 120).Draw(t, "width"), Color: rapid.Bool().Draw(t, "color"), ASCII: rapid.Bool().Draw(t, "ascii")}
		var b strings.Builder
		if err := Render(&b, &compare.Document{Report: &r}, look, Options{}); err != nil {
			t.Fatal(err)
		}
		check(t, b.String(), look)
	})
}

var errFull = errors.New("no space left on device")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestFullDisk(t *testing.T) {
	if err := Render(fullDisk{}, measured(t), Look{Width: 80}, Options{}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}
