package text

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

func num(v float64) *float64 { return &v }

// of is a cell with a figure, changed one with a change, and none one without.
func of(v float64) compare.Datum { return compare.Datum{Value: num(v)} }

func ranged(v, lo, hi float64) compare.Datum {
	return compare.Datum{Value: num(v), Lo: num(lo), Hi: num(hi)}
}

func changed(v float64, verdict compare.Verdict) compare.Datum {
	return compare.Datum{Value: num(v), Lo: num(v - 1 - math.Abs(v)/10), Hi: num(v + 1 + math.Abs(v)/10), Verdict: verdict}
}

func none(why string) compare.Datum { return compare.Datum{Text: "n/a (" + why + ")"} }

func newTest(t testing.TB, name string, p spec.Params) spec.Test {
	t.Helper()
	of, err := spec.NewTest(name, p)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// compared is a report with some comparisons, of which an experiment's text has none.
func compared(t testing.TB, name string, factors ...spec.Factor) compare.Report {
	r := kept(t, "conditions")
	r.Experiment, r.Question, r.Factors, r.Command, r.Drift, r.Losses, r.Counts = name, "", factors, "netdelta lab "+name, nil, nil, nil
	r.Brief, r.Variants = true, 0
	return r
}

// sendPath is six ways to send at three rates.
func sendPath(t testing.TB) compare.Report {
	methods := []string{"read+write", "write", "sendfile", "splice", "zerocopy", "uring-zc"}
	r := compared(t, "send-path", spec.Factor{Name: "send", Levels: methods}, spec.Factor{Name: "tx", Levels: []string{"csum+sg", "csum", "none"}},
		spec.Factor{Name: "rate", Levels: []string{"100Mbit/s", "1Gbit/s", "full"}, Condition: true})
	r.Variants, r.Trials = 54, 432
	r.Findings = []string{"sendfile against read+write at 100Mbit/s: sender's CPU (soak) -38% (-41 to -35), better; receiver's CPU (soak) +0.4% (-1.1 to 1.9), same; goodput +0.0% (-0.1 to 0.1), same.",
		"zerocopy: the kernel copied 100% of it all the same: what goes by veth or a TAP, and so stays on the machine, is always copied."}
	for i, rate := range []string{"100Mbit/s", "1Gbit/s", "full speed"} {
		f := math.Pow(10, float64(i))
		cpu := compare.Section{Name: "send-cpu", Title: "goodput, and CPU time in percent of one CPU at " + rate,
			Columns: []compare.Column{{Name: "goodput", Unit: unit.BitsPerSecond}, {Name: "sender", Percent: true}, {Name: "sender soak", Percent: true},
				{Name: "receiver", Percent: true}, {Name: "recv soak", Percent: true}}}
		change := compare.Section{Name: "send-change", Title: "change of goodput and CPU time against read+write at " + rate,
			Columns: append([]compare.Column{{Name: "goodput", Percent: true}}, cpu.Columns[1:]...)}
		packets := compare.Section{Name: "send-packets", Title: "packets and interrupts at " + rate,
			Notes: []string{"copied is the share of sends without copying that the kernel copied all the same."},
			Columns: []compare.Column{{Name: "packets", Unit: unit.PerSecond}, {Name: "B/packet", Unit: unit.BytesPerPacket}, {Name: "irq send", Unit: unit.PerSecond},
				{Name: "irq recv", Unit: unit.PerSecond}, {Name: "irq/p send", Unit: unit.PerPacket}, {Name: "irq/p recv", Unit: unit.PerPacket}, {Name: "copied", Unit: unit.Share}}}
		for j, m := range methods {
			g := float64(j)
			cpu.Rows = append(cpu.Rows, compare.Line{Label: m, Cells: []compare.Datum{of(94.1e6 * f), of(38.1 - 4*g), of(37.9 - 4*g), of(12.3), of(11.9)}})
			copied := none("copies always")
			switch {
			case j > 3:
				copied = of(1)
			case j > 1:
				copied = none("not told")
			}
			packets.Rows = append(packets.Rows, compare.Line{Label: m, Cells: []compare.Datum{of(8120 * f), of(1506), of(4510 * f), of(8100 * f), of(0.55), of(1), copied}})
			if j > 0 {
				verdict := []compare.Verdict{compare.Same, compare.Better, compare.Unsure, compare.Worse}[j%4]
				change.Rows = append(change.Rows, compare.Line{Label: m, Cells: []compare.Datum{changed(0.1, compare.Same), changed(-38+20*g, verdict), changed(-36+20*g, verdict), changed(-0.3, compare.Unsure), none("not measured")}})
			}
		}
		r.Sections = append(r.Sections, cpu, change, packets)
	}
	return r
}

// sweep is nine levels by six columns.
func sweep(t testing.TB) compare.Report {
	levels := []string{"off", "1/20us", "1/50us", "4/20us", "4/50us", "16/50us", "16/100us", "64/100us", "64/200us"}
	r := compared(t, "mitigation", spec.Factor{Name: "mitigation", Levels: levels})
	r.Findings = []string{"The knee is at 4/50us: up to there interrupts fall from 1.00 to 0.27 a packet and latency rises by 52 us; beyond, 100 us more buy 0.11."}
	s := compare.Section{Name: "mitigation", Title: "latency, interrupts and CPU time by mitigation (frames/wait)",
		Notes: []string{"An interrupt is a run of the wire's handler; CPU time is the receiver's for each byte."},
		Columns: []compare.Column{{Name: "rtt p50", Unit: unit.Nanoseconds}, {Name: "rtt p99", Unit: unit.Nanoseconds}, {Name: "irq/packet", Unit: unit.PerPacket},
			{Name: "softirq/packet", Unit: unit.PerPacket}, {Name: "CPU", Unit: unit.SecondsPerByte}, {Name: "TCP", Unit: unit.BitsPerSecond}}}
	for i, level := range levels {
		f := float64(i)
		s.Rows = append(s.Rows, compare.Line{Label: level, Cells: []compare.Datum{ranged(26100+21000*f, 25900+20000*f, 26800+22000*f), ranged(66100+21000*f, 59000+20000*f, 71000+22000*f),
			of(1 / (1 + f)), of(0.94 / (1 + f)), ranged(1.9e-9/(1+f/9), 1.8e-9/(1+f/9), 2.02e-9/(1+f/9)), of(1.21e9 + 9e7*f)}})
	}
	r.Sections = []compare.Section{s}
	return r
}

// truth is sixteen checks.
func truth(t testing.TB) compare.Report {
	r := compared(t, "truth", spec.Factor{Name: "put-in", Levels: []string{"none", "delay-10us", "loss-1/100"}})
	check := func(name string, u unit.Unit, wanted, found, within float64) {
		lo, hi := found-within/4, found+within/4
		r.Checks = append(r.Checks, compare.Check{Name: name, Wanted: wanted, Found: &found, Lo: &lo, Hi: &hi, Unit: u, Within: within, Pass: math.Abs(found-wanted) <= within})
	}
	for i := range 10 {
		d := float64(10e3 * (i + 1))
		check(fmt.Sprintf("delay %.0fus each way", d/1e3), unit.Nanoseconds, d, d+430, max(2000, d/10))
	}
	for _, x := range []struct {
		name          string
		wanted, found float64
	}{{"loss 1/100: lost", 12844, 12844}, {"duplicate 1/50: twice", 25601, 25601}, {"reorder 1/50: late", 25599, 25570}} {
		r.Checks = append(r.Checks, compare.Check{Name: x.name, Wanted: x.wanted, Found: num(x.found), Unit: "frames", Pass: x.wanted == x.found})
	}
	r.Checks[12].Text = "29 frames had nothing behind them that could come first"
	check("rate 100Mbit/s", unit.BitsPerSecond, 100e6, 99.7e6, 1e6)
	check("rate 1Gbit/s", unit.BitsPerSecond, 1e9, 0.981e9, 1e7)
	r.Checks[14].Text = "cpu-contended in 3 of 8 trials"
	r.Checks = append(r.Checks, compare.Check{Name: "rate 10Gbit/s", Wanted: 1e10, Unit: unit.BitsPerSecond, Within: 1e8, Text: "the wire itself passes 3.1 Gbit/s"})
	r.Findings = []string{"13 of 16 found."}
	r.Sections = []compare.Section{{Name: "wire-times", Title: "how the wire kept its times, both directions",
		Columns: []compare.Column{{Name: "held, mean", Unit: unit.Nanoseconds}, {Name: "late, median"}, {Name: "late, 99%"}, {Name: "late, 99.9%"}},
		Rows: []compare.Line{{Label: "delay-10us", Cells: []compare.Datum{of(10210), {Text: "up to 1 us"}, {Text: "up to 10 us"}, {Text: "more than 100 us"}}},
			{Label: "delay-20us", Cells: []compare.Datum{of(20180), {Text: "up to 1 us"}, {Text: "up to 10 us"}, {Text: "not counted"}}}}}}
	return r
}

// besides is an experiment with full tables, sixteen tests beside, and round trips.
func besides(t testing.TB) compare.Report {
	r := kept(t, "few")
	r.Findings = []string{"kthread wakes a thread for each frame: two wake-ups of 7.9 us (7.4 to 8.6) are 71% of what a round trip takes longer."}
	i := 0.0
	for _, by := range []string{"futex", "eventfd", "pipe", "cond"} {
		for _, at := range []string{"same", "other"} {
			for _, busy := range []string{"", "awake"} {
				test := newTest(t, "wake", spec.Params{By: by, At: at, Busy: busy})
				for _, m := range []string{result.RTTP50, result.RTTP99} {
					v := 3100 + 1700*i
					r.Beside = append(r.Beside, compare.Beside{Test: test.Name, Params: test.Params, Metric: m, Unit: unit.Nanoseconds, N: 6,
						Summary: compare.Summary{Median: num(v), Lo: num(v * 0.94), Hi: num(v * 1.12)}})
					i++
				}
			}
		}
	}
	r.Beside[3].Median = nil
	rr := newTest(t, "udp_rr", spec.Params{Size: 1})
	for b := range 3 {
		for _, level := range []string{"kthread", "softirq"} {
			e := compare.Each{Test: rr.Name, Params: rr.Params, Variant: level, Block: 2 - b, Of: 31000}
			for n := range int64(80) {
				e.RTT = append(e.RTT, 21000+n*977%9000+int64(len(level)))
			}
			e.RTT[3] = -1
			r.Each = append(r.Each, e)
		}
	}
	r.Factors = []spec.Factor{{Name: "rx", Levels: []string{"softirq", "kthread"}}}
	return r
}

// Nothing that a report has of its own is lost on the page, and each thing leads that
// is to lead.
func TestExperimentPages(t *testing.T) {
	for _, c := range []struct {
		name  string
		r     compare.Report
		first string
		have  []string
		not   []string
	}{
		{"truth", truth(t), "2 of 16 checks failed: reorder 1/50: late, rate 1Gbit/s.",
			[]string{"12844 12844 exact pass", "25570 exact FAIL", "2 of 16 checks failed: reorder 1/50", "reorder 1/50: late: 29 frames had nothing behind them",
				"rows in full: --format json, or --full.", "more than 100 us"}, []string{"Nothing was compared", "sendfile against write"}},
		{"send-path", sendPath(t), "sendfile against read+write at 100Mbit/s: sender's CPU (soak) -38%",
			[]string{"n/a: copies always (copied); not told (copied).", "better or worse for sure", "the same: the interval lies inside", "within rate (100Mbit/s, 1Gbit/s, full).", "Intervals: --format json."},
			[]string{"+38.1", "both changes together"}},
		{"mitigation", sweep(t), "The knee is at 4/50us", []string{"1/20us", "An interrupt is a run"}, []string{"no mark"}},
		{"beside", besides(t), "kthread wakes a thread for each frame",
			[]string{"Beside: what a thread's wake-up costs here (there and back)", "by=futex at=other busy=awake 13.3 (12.5 to 14.9)", "softirq, block 1: ", " lost ", "kthread: 40 more, all in --format json"}, []string{"--full"}},
	} {
		page := render(t, c.r)
		checkPage(t, page)
		flat := strings.Join(strings.Fields(page), " ")
		if !strings.HasPrefix(flat, c.first) {
			t.Errorf("%s begins with %q", c.name, page[:80])
		}
		for _, want := range c.have {
			if !strings.Contains(flat, want) {
				t.Errorf("%s: %q is not on the page:\n%s", c.name, want, page)
			}
		}
		for _, foreign := range c.not {
			if strings.Contains(flat, foreign) {
				t.Errorf("%s: %q is on the page", c.name, foreign)
			}
		}
		for _, s := range c.r.Sections {
			for _, row := range s.Rows {
				if !strings.Contains(page, "\n  "+row.Label+" ") {
					t.Errorf("%s: no row %s", c.name, row.Label)
				}
			}
		}
	}
}

// A report that is not whole says so first, whatever leads; one whose own tables are
// empty has those of all rows; and a table of wakes stands for that of tests beside.
func TestWhatLeads(t *testing.T) {
	r := truth(t)
	r.Partial, r.Blocks, r.Planned = true, 3, 8
	if page := render(t, r); !strings.HasPrefix(page, "Partial, 3 of 8 blocks complete. 2 of 16 checks failed: ") {
		t.Errorf("got %q", page[:80])
	}
	r.Checks, r.Findings = r.Checks[:2], nil
	if page := render(t, r); !strings.HasPrefix(page, "Partial, 3 of 8 blocks complete. All 2 checks passed.\n") || !strings.Contains(page, "\n  all 2 passed\n") {
		t.Errorf("got %q", page[:80])
	}
	r.Checks[1].Pass, r.Checks[1].Unsure = false, true
	if page := render(t, r); !strings.HasPrefix(page, "Partial, 3 of 8 blocks complete. 1 of 2 checks unsure.\n") || !strings.Contains(page, " unsure\n") || strings.Contains(page, "FAIL") {
		t.Errorf("got %q", page)
	}
	r.Checks[1].Pass, r.Checks[1].Unsure = true, false
	r.Findings = []string{"Both found."}
	if page := render(t, r); !strings.HasPrefix(page, "Partial, 3 of 8 blocks complete. Both found.\n") || strings.Contains(page, "All 2") {
		t.Errorf("what passed is said twice: %q", page[:80])
	}
	r.Checks, r.Sections, r.Findings = nil, nil, nil
	if page := render(t, r); strings.Contains(page, "--full") || !strings.HasPrefix(page, "Partial, 3 of 8 blocks complete. sendfile against write: ") {
		t.Errorf("an empty experiment has no tables: %q", page)
	}
	b := besides(t)
	b.Sections = []compare.Section{{Name: "wake", Title: "wakes", Columns: []compare.Column{{Name: "p50"}}, Rows: []compare.Line{{Label: "futex", Cells: []compare.Datum{of(1)}}}}}
	if page := render(t, b); strings.Contains(page, "\nBeside: ") {
		t.Error("two tables tell of one thing")
	}
	full := sendPath(t)
	full.Brief = false
	if page := render(t, full); !strings.Contains(page, "sendfile against write: tcp_stream goodput ") || strings.Contains(page, "--full") {
		t.Error("all rows were asked for")
	}
}

// Whatever labels, names and texts there are, a page is fit for mail, and no figure
// is cut.
func TestAnyExperimentIsFitForMail(t *testing.T) {
	name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9_-]{0,90}`), rapid.StringMatching(`([a-z]{1,12} ){0,9}`))
	figure := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1000, 1000), rapid.SampledFrom([]float64{0, 1e300, -1e300, math.NaN(), math.Inf(1), 5e-324}))
	verdict := rapid.SampledFrom([]compare.Verdict{"", compare.Better, compare.Worse, compare.Same, compare.Unsure})
	units := rapid.SampledFrom([]unit.Unit{"", unit.Nanoseconds, unit.Share, unit.PerPacket, unit.BitsPerSecond, "frames", "furlongs-a-fortnight-and-more"})
	rapid.Check(t, func(t *rapid.T) {
		var r compare.Report
		datum := rapid.Custom(func(t *rapid.T) compare.Datum {
			return compare.Datum{Value: rapid.Ptr(figure, true).Draw(t, "value"), Lo: rapid.Ptr(figure, true).Draw(t, "lo"), Hi: rapid.Ptr(figure, true).Draw(t, "hi"),
				Text: rapid.OneOf(name, rapid.Map(name, func(s string) string { return "n/a (" + s + ")" })).Draw(t, "text"), Verdict: verdict.Draw(t, "verdict")}
		})
		r.Brief = rapid.Bool().Draw(t, "brief")
		r.Findings = rapid.SliceOfN(name, 0, 2).Draw(t, "findings")
		for range rapid.IntRange(0, 2).Draw(t, "sections") {
			s := compare.Section{Name: rapid.SampledFrom([]string{"wake", "x"}).Draw(t, "name"), Title: name.Draw(t, "title"), Notes: rapid.SliceOfN(name, 0, 2).Draw(t, "notes")}
			for range rapid.IntRange(0, 12).Draw(t, "columns") {
				s.Columns = append(s.Columns, compare.Column{Name: name.Draw(t, "column"), Unit: units.Draw(t, "unit"), Percent: rapid.Bool().Draw(t, "percent")})
			}
			for range rapid.IntRange(0, 4).Draw(t, "rows") {
				s.Rows = append(s.Rows, compare.Line{Label: name.Draw(t, "label"), Cells: rapid.SliceOfN(datum, 0, 13).Draw(t, "cells")})
			}
			r.Sections = append(r.Sections, s)
		}
		for range rapid.IntRange(0, 4).Draw(t, "checks") {
			r.Checks = append(r.Checks, compare.Check{Name: name.Draw(t, "check"), Wanted: figure.Draw(t, "wanted"), Found: rapid.Ptr(figure, true).Draw(t, "found"),
				Lo: rapid.Ptr(figure, true).Draw(t, "lo"), Hi: rapid.Ptr(figure, true).Draw(t, "hi"), Unit: units.Draw(t, "unit"),
				Within: figure.Draw(t, "within"), Pass: rapid.Bool().Draw(t, "pass"), Text: name.Draw(t, "text")})
		}
		for range rapid.IntRange(0, 4).Draw(t, "beside") {
			r.Beside = append(r.Beside, compare.Beside{Test: name.Draw(t, "test"), Metric: rapid.SampledFrom([]string{result.RTTP50, result.RTTP99}).Draw(t, "metric"),
				Summary: compare.Summary{Median: rapid.Ptr(figure, true).Draw(t, "median"), Lo: rapid.Ptr(figure, true).Draw(t, "lo"), Hi: rapid.Ptr(figure, true).Draw(t, "hi")}})
		}
		for range rapid.IntRange(0, 3).Draw(t, "each") {
			r.Each = append(r.Each, compare.Each{Test: name.Draw(t, "test"), Variant: name.Draw(t, "variant"), Block: rapid.Int().Draw(t, "block"),
				RTT: rapid.SliceOfN(rapid.Int64(), 0, 300).Draw(t, "rtt")})
		}
		checkPage(t, render(t, r))
	})
}

// What gives way where there is no room are intervals, then heads, then labels; then
// the columns that do not fit stand below. No figure is cut.
func TestWide(t *testing.T) {
	w := wide{labels: []string{strings.Repeat("label-", 9), "b"}}
	for i := range 9 {
		w.columns = append(w.columns, wideColumn{name: "a head of several words", unit: "Gbit/s",
			cells: []string{fmt.Sprintf("%d.00 (1.00 to 9.00)", i), "n/a"}, short: []string{fmt.Sprintf("%d.00", i), "n/a"}})
	}
	lines, less := w.lines()
	page := strings.Join(lines, "\n")
	for i := range 9 {
		if !less || !strings.Contains(page, fmt.Sprintf(" %d.00", i)) {
			t.Errorf("figure %d is cut, or its interval is not left out (%v)", i, less)
		}
	}
	if n := strings.Count(page, "\n  label-"); n != 2 {
		t.Errorf("the table is in %d parts:\n%s", n, page)
	}
	w.columns = w.columns[:2]
	if lines, less = w.lines(); less || !strings.Contains(strings.Join(lines, "\n"), "1.00 (1.00 to 9.00)") {
		t.Errorf("an interval is left out that there is room for:\n%s", strings.Join(lines, "\n"))
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > Width {
			t.Errorf("%d columns: %q", len(l), l)
		}
	}
}

// All numbers of a column share a scale, and changes in percent have a sign where
// levels have none.
func TestColumns(t *testing.T) {
	for _, c := range []struct {
		column compare.Column
		data   []compare.Datum
		unit   string
		cells  []string
	}{
		{compare.Column{Unit: unit.Nanoseconds}, []compare.Datum{of(900), ranged(2.1e6, 2e6, 2.2e6), none("why")}, "ns", []string{"900", "2100000 (2000000 to 2200000)", "n/a"}},
		{compare.Column{Percent: true}, []compare.Datum{of(38.1), of(100)}, "%", []string{"38.1", "100"}},
		{compare.Column{Percent: true}, []compare.Datum{{Value: num(12), Lo: num(8), Hi: num(15), Verdict: compare.Worse}, {Value: num(0.1), Verdict: compare.Same}, {Value: num(-3), Verdict: compare.Unsure}}, "",
			[]string{"+12% (8.0 to 15)*", "+0.1%=", "-3.0% "}},
		{compare.Column{Unit: unit.Share}, []compare.Datum{of(0.5), of(1)}, "%", []string{"50.0", "100"}},
		{compare.Column{}, []compare.Datum{{Text: "window"}, {}}, "", []string{"window", "n/a"}},
	} {
		got := columnOf(c.column, c.data)
		if got.unit != c.unit || !slices.Equal(got.cells, c.cells) {
			t.Errorf("%v gives %q, %q; want %q, %q", c.column, got.unit, got.cells, c.unit, c.cells)
		}
	}
}
