package text

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

var update = flag.Bool("update", false, "write the golden files anew")

// kept reads one of the made-up reports that package compare keeps.
func kept(t testing.TB, name string) compare.Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "compare", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r compare.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func render(t interface{ Fatal(...any) }, r compare.Report) string {
	var b strings.Builder
	if err := Render(&b, &r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	reports := map[string]compare.Report{"sizes": sizes(t), "send-path": sendPath(t), "mitigation": sweep(t), "truth": truth(t), "beside": besides(t)}
	for _, name := range []string{"rx-context", "partial", "factorial", "conditions", "runs", "few"} {
		reports[name] = kept(t, name)
	}
	for name, r := range reports {
		got := render(t, r)
		checkPage(t, got)
		path := filepath.Join("testdata", name+".golden")
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

// sizes is a report with what the others lack: many sizes of a test, levels
// with long names, retransmits, a row without figures, a difference that is
// real and too small to matter.
func sizes(t testing.TB) compare.Report {
	t.Helper()
	num := func(v float64) *float64 { return &v }
	side := func(v float64) compare.Summary {
		return compare.Summary{Median: num(v), Lo: num(v * 0.98), Hi: num(v * 1.02), Max: num(v * 1.1)}
	}
	r := compare.Report{Experiment: "rx-context", Blocks: 12, Planned: 12, Seed: 42, Trials: 168, MarginPct: 2,
		WarmupNS: 1e8, WindowNS: 1e9, Factors: []spec.Factor{{Name: "rx", Levels: []string{"backlog", "napi-threaded"}}},
		Command: "netdelta lab rx-context --link veth --levels backlog,napi-threaded --tests tcp_rr,tcp_stream --sizes 1,64,1KiB,16KiB,64KiB,1MiB --blocks 12 --time 1s --seed 42"}
	add := func(test string, size int, metric string, a, b, lo, est, hi float64, v compare.Verdict) *compare.Comparison {
		of, err := spec.NewTest(test, spec.Params{Size: size})
		if err != nil {
			t.Fatal(err)
		}
		all := result.Definitions(of)
		i := slices.IndexFunc(all, func(d result.Definition) bool { return d.Name == metric })
		if i < 0 {
			t.Fatalf("%s has no %s", test, metric)
		}
		d := all[i]
		c := compare.Comparison{Test: of.Name, Params: of.Params, Factor: "rx", Baseline: "backlog", Variant: "napi-threaded",
			Metric: metric, End: d.End, Unit: d.Unit, Better: d.Better, Scale: d.Scale, N: 12, Confidence: 0.958,
			A: side(a), B: side(b), Verdict: v, Margin: 2}
		if d.Scale == compare.Percent {
			c.DeltaPct, c.LoPct, c.HiPct = num(est), num(lo), num(hi)
		} else {
			c.Delta, c.Lo, c.Hi, c.Margin = num(est), num(lo), num(hi), 1
		}
		r.Comparisons = append(r.Comparisons, c)
		return &r.Comparisons[len(r.Comparisons)-1]
	}
	for i, size := range []int{1, 64, 1 << 10, 16 << 10, 64 << 10, 1 << 20} {
		f := float64(i)
		add("tcp_rr", size, "rtt_p50", 24e3*(1+f), 36e3*(1+f), 45-6*f, 50-6*f, 56-6*f, compare.Worse)
		add("tcp_rr", size, "rate", 41e3/(1+f), 27e3/(1+f), -36+3*f, -33+3*f, -30+3*f, compare.Worse)
	}
	add("tcp_stream", 0, "goodput", 23e9, 23.2e9, 0.5, 0.9, 1.3, compare.Same).Real = true
	add("tcp_stream", 0, "retransmits", 3, 1250, 1100, 1240, 1420, compare.Worse)
	c := add("tcp_stream", 1, "goodput", 5e6, 5e6, 0, 0, 0, compare.Unsure)
	c.DeltaPct, c.LoPct, c.HiPct, c.B, c.Confidence = nil, nil, nil, side(0), 0
	c.Warnings = []result.Warning{{Code: "zero-figure", Metric: "goodput", Advice: "look at why nothing came through",
		Text: "7 of 24 trials measured 0, so there is no relative change"}}
	add("tcp_stream", 1, "retransmits", 0, 0, 0, 0, 0, compare.Same).A.Max = num(0)
	return r
}

// checkPage holds what is true of every page: fit for mail.
func checkPage(t interface{ Fatalf(string, ...any) }, page string) {
	if !strings.HasSuffix(page, "\n") || strings.HasSuffix(page, "\n\n") || strings.HasPrefix(page, "\n") {
		t.Fatalf("the page must begin with a line and end with one line end: %q", page)
	}
	for i, line := range strings.Split(page, "\n") {
		if n := utf8.RuneCountInString(line); n > Width {
			t.Fatalf("line %d has %d columns: %q", i+1, n, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Fatalf("line %d ends with a blank: %q", i+1, line)
		}
		for _, r := range line {
			if (r < ' ' || r > '~') && !slices.Contains(bars, r) {
				t.Fatalf("line %d has %q: %q", i+1, r, line)
			}
		}
	}
}

// anyReport draws reports without sense: any names, any numbers.
func anyReport() *rapid.Generator[compare.Report] {
	name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9_-]{0,90}`), rapid.SampledFrom(spec.TestNames()))
	num := rapid.Custom(func(t *rapid.T) *float64 {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			return nil
		}
		v := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1000, 1000), rapid.SampledFrom([]float64{0, math.NaN(), math.Inf(1), -1e300})).Draw(t, "number")
		return &v
	})
	warnings := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) result.Warning {
		return result.Warning{Code: name.Draw(t, "code"), Text: name.Draw(t, "text"), Advice: name.Draw(t, "advice"), Metric: name.Draw(t, "metric")}
	}), 0, 2)
	side := rapid.Custom(func(t *rapid.T) compare.Summary {
		return compare.Summary{Median: num.Draw(t, "median"), Lo: num.Draw(t, "lo"), Hi: num.Draw(t, "hi"), Max: num.Draw(t, "max")}
	})
	row := rapid.Custom(func(t *rapid.T) compare.Comparison {
		return compare.Comparison{
			Test: rapid.OneOf(rapid.SampledFrom(spec.TestNames()), name).Draw(t, "test"), Params: spec.Params{Size: rapid.Int().Draw(t, "size")},
			Factor: name.Draw(t, "factor"), Baseline: name.Draw(t, "baseline"), Variant: name.Draw(t, "variant"),
			Metric: rapid.SampledFrom([]string{"rtt_p50", "rtt_p99", "rate", "loss", "goodput", "packets", "retransmits", "x"}).Draw(t, "metric"),
			End:    rapid.SampledFrom([]string{"local", "remote", ""}).Draw(t, "end"),
			Unit:   rapid.SampledFrom([]unit.Unit{unit.Nanoseconds, unit.Share, unit.PerSecond, "furlong"}).Draw(t, "unit"),
			Scale:  rapid.SampledFrom([]compare.Scale{compare.Percent, compare.Difference, ""}).Draw(t, "scale"),
			N:      rapid.Int().Draw(t, "n"), A: side.Draw(t, "a"), B: side.Draw(t, "b"),
			DeltaPct: num.Draw(t, "delta"), LoPct: num.Draw(t, "lo"), HiPct: num.Draw(t, "hi"),
			Delta: num.Draw(t, "delta"), Lo: num.Draw(t, "lo"), Hi: num.Draw(t, "hi"),
			Margin: rapid.Float64().Draw(t, "margin"), Confidence: rapid.Float64().Draw(t, "confidence"),
			Verdict: rapid.SampledFrom([]compare.Verdict{compare.Better, compare.Worse, compare.Same, compare.Unsure, ""}).Draw(t, "verdict"),
			Real:    rapid.Bool().Draw(t, "real"), BlocksNeeded: rapid.Int().Draw(t, "needed"), Warnings: warnings.Draw(t, "warnings"),
			Under: rapid.OneOf(rapid.Just(""), name).Draw(t, "under"), TrialsNeeded: rapid.Int().Draw(t, "trials needed"),
			Spread: rapid.Ptr(rapid.Custom(func(t *rapid.T) compare.Spread {
				return compare.Spread{BetweenA: num.Draw(t, "between"), WithinA: num.Draw(t, "within"), BetweenB: num.Draw(t, "between"), WithinB: num.Draw(t, "within")}
			}), true).Draw(t, "spread"),
		}
	})
	source := rapid.Custom(func(t *rapid.T) compare.Source {
		return compare.Source{Side: rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "side"), ID: name.Draw(t, "id"), Label: name.Draw(t, "label"),
			Start: time.Unix(rapid.Int64Range(0, 1e11).Draw(t, "start"), 0), Trials: rapid.Int().Draw(t, "trials")}
	})
	change := rapid.Custom(func(t *rapid.T) compare.FactChange {
		return compare.FactChange{End: name.Draw(t, "end"), Name: name.Draw(t, "name"), Old: name.Draw(t, "old"), New: name.Draw(t, "new")}
	})
	count := rapid.Custom(func(t *rapid.T) compare.Count {
		return compare.Count{Test: name.Draw(t, "test"), Variant: name.Draw(t, "variant"), Under: name.Draw(t, "under"),
			End:    rapid.SampledFrom([]string{"local", compare.PathEnd, ""}).Draw(t, "end"),
			Name:   rapid.OneOf(rapid.SampledFrom([]string{"wire.a_to_b.wakeups", "wire.b_to_a.frames_in"}), name).Draw(t, "name"),
			Median: rapid.Float64().Draw(t, "median")}
	})
	place := rapid.Custom(func(t *rapid.T) compare.Place {
		return compare.Place{End: rapid.SampledFrom([]string{"remote", compare.PathEnd, ""}).Draw(t, "end"),
			Name:  rapid.OneOf(rapid.SampledFrom([]string{"wire.a_to_b.drop_other", "wire", "a.tx_dropped", "b."}), name).Draw(t, "name"),
			Share: rapid.Float64().Draw(t, "share")}
	})
	loss := rapid.Custom(func(t *rapid.T) compare.Loss {
		return compare.Loss{Test: name.Draw(t, "test"), Variant: name.Draw(t, "variant"), Lost: rapid.Float64().Draw(t, "lost"),
			Places: rapid.SliceOfN(place, 0, 4).Draw(t, "places"), Unnamed: num.Draw(t, "unnamed"), Frames: rapid.Bool().Draw(t, "frames")}
	})
	series := rapid.Custom(func(t *rapid.T) compare.Drift {
		d := compare.Drift{Test: name.Draw(t, "test"), Metric: name.Draw(t, "metric"),
			Unit:  rapid.SampledFrom([]unit.Unit{unit.Nanoseconds, unit.PerSecond, "furlong"}).Draw(t, "unit"),
			Scale: rapid.SampledFrom([]compare.Scale{compare.Percent, compare.Difference}).Draw(t, "scale"),
			Swing: num.Draw(t, "swing"), Halves: num.Draw(t, "halves"), Margin: rapid.Float64().Draw(t, "margin")}
		for range rapid.IntRange(0, 99).Draw(t, "points") {
			d.Points = append(d.Points, compare.Point{Level: num.Draw(t, "level")})
		}
		return d
	})
	cell := rapid.Custom(func(t *rapid.T) compare.Cell {
		return compare.Cell{Test: name.Draw(t, "test"), Metric: name.Draw(t, "metric"), Unit: unit.Nanoseconds,
			Variant: spec.Variant{name.Draw(t, "factor"): name.Draw(t, "level")}, Summary: side.Draw(t, "cell")}
	})
	return rapid.Custom(func(t *rapid.T) compare.Report {
		r := compare.Report{Counts: rapid.SliceOfN(count, 0, 6).Draw(t, "counts"), Losses: rapid.SliceOfN(loss, 0, 3).Draw(t, "losses"),
			Drift: rapid.SliceOfN(series, 0, 3).Draw(t, "drift"), Cells: rapid.SliceOfN(cell, 0, 3).Draw(t, "cells"),
			Simple: rapid.SliceOfN(row, 0, 2).Draw(t, "simple"), Variants: rapid.Int().Draw(t, "variants"),
			Ended:    rapid.SampledFrom([]string{"", compare.EndedPrecision, compare.EndedTime}).Draw(t, "ended"),
			WidestOf: name.Draw(t, "widest"), WidestPct: rapid.Float64().Draw(t, "width"), PrecisionPct: rapid.Float64().Draw(t, "precision"),
			Families:   compare.Families{Main: rapid.Int().Draw(t, "main"), Detail: rapid.Int().Draw(t, "detail")},
			Experiment: name.Draw(t, "experiment"), Question: name.Draw(t, "question"), Seed: rapid.Uint64().Draw(t, "seed"),
			Blocks: rapid.Int().Draw(t, "blocks"), Planned: rapid.Int().Draw(t, "planned"), Partial: rapid.Bool().Draw(t, "partial"),
			WindowNS: rapid.Int64().Draw(t, "window"), MarginPct: rapid.Float64().Draw(t, "margin"), Trials: rapid.Int().Draw(t, "trials"),
			Comparisons: rapid.SliceOfN(row, 0, 6).Draw(t, "comparisons"), Effects: rapid.SliceOfN(row, 0, 2).Draw(t, "effects"),
			Pairing: rapid.SampledFrom([]compare.Pairing{compare.ByBlock, compare.Unpaired, ""}).Draw(t, "pairing"),
			Sources: rapid.SliceOfN(source, 0, 9).Draw(t, "runs"), EnvironmentDiff: rapid.SliceOfN(change, 0, 3).Draw(t, "changes"),
			Warnings: warnings.Draw(t, "warnings of the report"), Command: name.Draw(t, "command"), Version: name.Draw(t, "version")}
		for range rapid.IntRange(0, 3).Draw(t, "factors") {
			r.Factors = append(r.Factors, spec.Factor{Name: name.Draw(t, "factor"), Levels: rapid.SliceOfN(name, 0, 3).Draw(t, "levels"), Slow: rapid.Bool().Draw(t, "slow")})
		}
		for range rapid.IntRange(0, 3).Draw(t, "facts") {
			r.Environment = append(r.Environment, compare.Fact{Name: name.Draw(t, "name"), Value: name.Draw(t, "value")})
		}
		return r
	})
}

func TestEveryPageIsFitForMail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkPage(t, render(t, anyReport().Draw(t, "report")))
	})
}

func TestEmptyReport(t *testing.T) {
	page := render(t, compare.Report{})
	checkPage(t, page)
	if !strings.HasPrefix(page, "Nothing was compared.\n") {
		t.Errorf("got %q", page)
	}
}

// The first line is the answer, and all that the report knows is on the page.
func TestPageHasItAll(t *testing.T) {
	r := kept(t, "rx-context")
	page := render(t, r)
	if first, _, _ := strings.Cut(page, "\n"); !strings.HasPrefix(first, "inline against softirq: icmp_echo p50 -") {
		t.Errorf("the first line is %q", first)
	}
	flat := strings.Join(strings.Fields(page), " ")
	for _, want := range append([]string{"seed 1", "10 blocks", "200 trials", "200ms", r.Question, r.Version,
		"kthread against softirq", "uthread against softirq", r.Warnings[0].Text, r.Warnings[0].Advice}, environment(r)...) {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	// What holds for the whole run is told once, and not beside every row.
	if n := strings.Count(flat, "memory could not be locked"); n != 1 {
		t.Errorf("a warning about every trial stands %d times", n)
	}
}

// Of separate runs the page says first what else changed between them, and
// that they are not paired.
func TestPageOfSeparateRuns(t *testing.T) {
	page := render(t, kept(t, "runs"))
	paragraphs := strings.Split(page, "\n\n")
	if !strings.Contains(paragraphs[0], "new against old: ") || !strings.HasPrefix(paragraphs[1], "Between these runs, this changed as well\n") {
		t.Errorf("the page begins with %q", paragraphs[:2])
	}
	flat := strings.Join(strings.Fields(page), " ")
	for _, want := range []string{"separate runs, unpaired", "boot to boot", "netdelta ab", "remote kernel 6.18.0 -> 6.19.2", "local governor (none) -> powersave",
		"only old has tcp_stream", "trials, unpaired, with its 95% interval", "Spread (standard deviation) between runs"} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	for _, foreign := range []string{"blocks", "seed", "Machine"} {
		if strings.Contains(flat, foreign) {
			t.Errorf("%q is on a page that has none", foreign)
		}
	}

	r := kept(t, "runs")
	r.EnvironmentDiff = nil
	if page := render(t, r); !strings.Contains(page, "\n\nNothing that is kept about either end changed between these runs.\n\n") {
		t.Error("no word that nothing changed")
	}
	r.Warnings = append(r.Warnings, result.Warning{Code: "environment-unknown", Text: "nothing is kept"})
	if page := render(t, r); strings.Contains(page, "Nothing that is kept") {
		t.Error("what is not known is said to be the same")
	}
}

func TestRounded(t *testing.T) {
	for _, c := range [][2]string{
		{"ended after 97.719063ms of a window of 100ms", "ended after 97.7ms of a window of 100ms"},
		{"1.234567891s, 12.345678ms (1.5µs) and 99.9999ms.", "1.23s, 12.3ms (1.5us) and 100ms."},
		{"999.9999ms", "1s"}, {"1.000000001s", "1s"}, {"2h3m4.567891s", "2h3m5s"}, {"1m23.456s", "1m23s"},
		{"150ms", "150ms"}, {"0.5ns", "0s"}, {"9.99999999999999999999999999h", "9.99999999999999999999999999h"},
		{"release 6.18.2s1 and 1.25 Gbit/s", "release 6.18.2s1 and 1.25 Gbit/s"}, {"kernel 6.18.44-fc", "kernel 6.18.44-fc"},
		{"99999999999999999999.5s", "99999999999999999999.5s"}, {"", ""},
	} {
		if got := rounded(c[0]); got != c[1] {
			t.Errorf("%q gives %q, want %q", c[0], got, c[1])
		}
	}
}

func environment(r compare.Report) []string {
	var all []string
	for _, f := range r.Environment {
		all = append(all, f.Name+" "+f.Value)
	}
	return all
}

func TestWriteErrorIsTold(t *testing.T) {
	r := kept(t, "partial")
	if err := Render(fullDisk{}, &r); err == nil {
		t.Error("no error from a full disk")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left on device") }
