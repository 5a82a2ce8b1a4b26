package compare

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// fig is a figure of the table of imports' metrics.
func fig(metric, end string, v float64) result.ImportedFigure {
	return result.ImportedFigure(result.ImportedMetric(metric, end, v, "", 1))
}

// posting is one test of a program.
func posting(tool, name string, params []result.Fact, figures ...result.ImportedFigure) result.Imported {
	return result.Imported{Tool: tool, Name: name, Params: params, Source: "x.txt", Figures: figures}
}

// file is a file with some tests.
func file(n uint64, tests ...result.Imported) Kept {
	k := Kept{Run: result.Run{ID: result.RunID(n), State: result.Complete}}
	times := map[string]int{}
	for i, m := range tests {
		x := result.ImportedTrial(m)
		x.Order, x.Block = i, times[x.Test.Name]
		times[x.Test.Name]++
		k.Trials = append(k.Trials, x)
	}
	return k
}

func variant(name string, files ...Kept) PostedVariant {
	return PostedVariant{Name: name, Kept: files}
}

func postedReport(t testing.TB, opts PostedOptions, variants ...PostedVariant) Report {
	t.Helper()
	r, err := Posted(variants, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rowOf is the row of a metric; the first one.
func rowOf(t testing.TB, r *Report, metric string) *Comparison {
	t.Helper()
	i := slices.IndexFunc(r.Comparisons, func(c Comparison) bool { return c.Metric == metric })
	if i < 0 {
		t.Fatalf("no row of %s", metric)
	}
	return &r.Comparisons[i]
}

func near(t testing.TB, what string, got *float64, want, within float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > within {
		t.Errorf("%s: got %v, want %v", what, value(got), want)
	}
}

func pingOf(us ...float64) result.ImportedFigure {
	f := fig(result.RTTMean, result.Local, 0)
	for _, v := range us {
		f.Values = append(f.Values, 1000*v)
		f.Value += 1000 * v / float64(len(us))
	}
	return f
}

var (
	tasklet = []float64{238, 176, 200, 177, 172, 156, 160, 177, 173}
	kthread = []float64{4215, 5728, 3825, 6521, 5700, 5666, 6495, 5631, 6480}
)

func sizes(name, value string) []result.Fact { return []result.Fact{{Name: name, Value: value}} }

// sci is the first post: a handler in a tasklet and in a kernel thread.
func sci(t testing.TB, claims ...Claim) Report {
	const mib = 8 << 20
	tcp := func(rate float64) result.Imported {
		m := posting("netperf", "TCP_STREAM", sizes("message", "262144"), fig(result.Goodput, result.Remote, rate*mib))
		m.Facts = []result.Fact{{Name: "sockets", Value: "262144 B"}}
		return m
	}
	udp := func(sent, got float64) result.Imported {
		return posting("netperf", "UDP_STREAM", sizes("message", "32768"), fig(result.Goodput, result.Remote, got*mib), fig(result.Offered, result.Local, sent*mib))
	}
	return postedReport(t, PostedOptions{Claims: claims},
		variant("tasklet", file(1, posting("ping", "ping", sizes("size", "56"), pingOf(tasklet...)), udp(167.55, 167.55), tcp(116))),
		variant("kthread", file(2, posting("ping", "ping", sizes("size", "56"), pingOf(kthread...)), udp(174.92, 174.82), tcp(16.24))))
}

func TestPostedOneRunEach(t *testing.T) {
	r := sci(t, Claim{Says: "at least 100 times", Test: "ping", Metric: result.RTTMean, Level: "kthread", Against: "tasklet", Times: 100, AtLeast: true})
	rtt := rowOf(t, &r, result.RTTMean)
	near(t, "latency", rtt.DeltaPct, 2985, 1)
	if rtt.P != nil || rtt.LoPct != nil || rtt.HiPct != nil || rtt.Verdict != Unsure || rtt.TrialsNeeded == 0 {
		t.Errorf("one run each has no p, no interval and no verdict: %+v", rtt)
	}
	if s := rtt.Single; s == nil || s.Overlap != 0 || s.Above != 1 || s.NA != 9 || s.NB != 9 || s.MedianA != 176e3 || s.MedianB != 5.7e6 {
		t.Errorf("single values: %+v", s)
	}
	var streams []float64
	for _, c := range r.Comparisons {
		if c.Metric == result.Goodput {
			streams = append(streams, *c.DeltaPct)
		}
	}
	if len(streams) != 2 || math.Abs(streams[0]-4.34) > 0.01 || math.Abs(streams[1]+86) > 0.01 {
		t.Errorf("streams: %v", streams)
	}
	if got := withCode(r.Warnings, "one-run"); len(got) != 1 {
		t.Errorf("one-run: %q", got)
	}
	if c := r.Checks[0]; c.Pass || math.Abs(*c.Found-30.85) > 0.01 {
		t.Errorf("100 times at least: %+v", c)
	}
	if got := strings.Join(r.Findings, " "); !strings.Contains(got, "262144 B can't pass more than 376 Mbit/s (44.8 MiB/s) at a round trip of 5.58 ms") {
		t.Errorf("findings: %q", got)
	}
	answer := strings.Join(r.Answer(), " ")
	for _, want := range []string{"One run each", "ping ping size=56 rtt_mean x30.9 (181 us to 5.58 ms), for the worse, and the two sets", "goodput +4.3%", "goodput -86%", "They go opposite ways"} {
		if !strings.Contains(answer, want) {
			t.Errorf("no %q in %q", want, answer)
		}
	}
}

// Several files of each are judged as separate runs are.
func TestPostedRepetitions(t *testing.T) {
	side := func(name string, from uint64, base float64) PostedVariant {
		v := PostedVariant{Name: name}
		for i := range uint64(8) {
			v.Kept = append(v.Kept, file(from+i, posting("netperf", "TCP_RR", nil, fig(result.Rate, result.Local, base+10*float64(i)))))
		}
		return v
	}
	r := postedReport(t, PostedOptions{}, side("old", 100, 22600), side("new", 200, 25000))
	c := rowOf(t, &r, result.Rate)
	if c.Verdict != Better || c.P == nil || c.LoPct == nil || c.NA != 8 || c.Spread != nil {
		t.Errorf("%+v", c)
	}
	if len(withCode(r.Warnings, "one-run")) > 0 || len(withCode(r.Warnings, "unpaired")) != 1 {
		t.Errorf("warnings: %v", r.Warnings)
	}
}

// Tests are in the order in which their names first came, and their sizes in that of
// numbers, whatever the order in the files.
func TestPostedOrder(t *testing.T) {
	stream := func(size string) result.Imported {
		return posting("netperf", "TCP_STREAM", sizes("message", size), fig(result.Goodput, result.Remote, 9e9))
	}
	rr := posting("netperf", "TCP_RR", nil, fig(result.Rate, result.Local, 20000))
	r := postedReport(t, PostedOptions{},
		variant("a", file(1, stream("4096"), stream("32768"), rr, stream("16384"))),
		variant("b", file(2, stream("65536"), rr, stream("16384"), stream("4096"), stream("32768"))))
	want := []string{"netperf TCP_STREAM message=4096", "netperf TCP_STREAM message=16384", "netperf TCP_STREAM message=32768", "netperf TCP_RR"}
	if got := rowsOf(&r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := withCode(r.Warnings, "unmatched"); len(got) != 1 || !strings.Contains(got[0], "message=65536") {
		t.Errorf("unmatched: %q", got)
	}
}

// macTable is the post on a driver with two factors.
func macTable(t testing.TB, claims ...Claim) Report {
	factors := []spec.Factor{{Name: "release", Levels: []string{"Panther", "Tiger"}}, {Name: "context", Levels: []string{"work-loop", "filter"}}}
	k := Kept{Run: result.Run{ID: result.RunID(7), State: result.Complete}}
	var variants []PostedVariant
	for i, c := range []struct {
		release, context string
		us               float64
	}{{"Panther", "work-loop", 17.1}, {"Panther", "filter", 9.9}, {"Tiger", "work-loop", 10}, {"Tiger", "filter", 8}} {
		x := result.ImportedTrial(posting(result.PostedTable, "short message", nil, fig(result.HalfRTTMean, "", 1000*c.us)))
		x.Order, x.Variant = i, spec.Variant{"release": c.release, "context": c.context}
		of := k
		of.Trials = []result.Trial{x}
		variants = append(variants, PostedVariant{Levels: x.Variant, Kept: []Kept{of}})
	}
	return postedReport(t, PostedOptions{Factors: factors, Claims: claims}, variants...)
}

func TestPostedFactors(t *testing.T) {
	r := macTable(t,
		Claim{Says: "nearly 40%", Test: "short message", Metric: result.HalfRTTMean, Factor: "context", Level: "filter", Against: "work-loop", Under: spec.Variant{"release": "Panther"}, ChangePct: -40, WithinPct: 3},
		Claim{Says: "roughly 20%", Test: "short message", Metric: result.HalfRTTMean, Factor: "context", Level: "filter", Against: "work-loop", Under: spec.Variant{"release": "Tiger"}, ChangePct: -20},
		Claim{Says: "half", Test: "nothing", Metric: result.HalfRTTMean, Factor: "context", Level: "filter", Against: "work-loop", Times: 0.5})
	type row struct{ factor, variant, under string }
	want := map[row]float64{
		{"release", "Tiger", "context=work-loop"}: -41.52, {"release", "Tiger", "context=filter"}: -19.19,
		{"context", "filter", "release=Panther"}: -42.11, {"context", "filter", "release=Tiger"}: -20,
	}
	for _, c := range r.Comparisons {
		near(t, c.Factor+" "+c.Under, c.DeltaPct, want[row{c.Factor, c.Variant, c.Under}], 0.01)
	}
	if len(r.Comparisons) != len(want) {
		t.Errorf("%d rows", len(r.Comparisons))
	}
	if len(r.Effects) != 1 {
		t.Fatalf("effects: %+v", r.Effects)
	}
	near(t, "interaction", r.Effects[0].DeltaPct, 100*((8/9.9)/(10/17.1)-1), 0.01)
	if e := r.Effects[0]; e.P != nil || e.LoPct != nil || e.Variant != "Tiger:filter" {
		t.Errorf("%+v", e)
	}
	if got := strings.Join(r.Findings, ""); !strings.Contains(got, "-7.10 us (-42%) with work-loop and -1.90 us (-19%) with filter") {
		t.Errorf("findings: %q", got)
	}
	if !r.Checks[0].Pass || !r.Checks[1].Pass || r.Checks[2].Found != nil || r.Checks[2].Text == "" {
		t.Errorf("checks: %+v", r.Checks)
	}
}

// A side that failed has no data, and no zero.
func TestPostedNoData(t *testing.T) {
	lost := posting("ping", "ping", nil, fig(result.Loss, result.Remote, 1))
	good := posting("ping", "ping", nil, fig(result.Loss, result.Remote, 0), fig(result.RTTMean, result.Local, 246e3))
	r := postedReport(t, PostedOptions{}, variant("host", file(1, lost)), variant("container", file(2, good)))
	c := rowOf(t, &r, result.RTTMean)
	if c.A.Median != nil || c.DeltaPct != nil || c.Change(1) != "n/a (no data)" {
		t.Errorf("%+v, %s", c, c.Change(1))
	}
	near(t, "loss", rowOf(t, &r, result.Loss).Delta, -1, 1e-9)
	if got := r.Answer()[0]; !strings.Contains(got, "rtt_mean no data against 246 us") {
		t.Errorf("answer: %q", got)
	}
	failed := file(3)
	failed.Run.Warnings = []result.Warning{{Code: "import-problem", Text: "x.txt:3: connection refused"}}
	_, err := Posted([]PostedVariant{variant("a", failed), variant("b", file(2, good))}, PostedOptions{})
	if !errors.Is(err, ErrNothingInCommon) || !strings.Contains(err.Error(), "a has no data: x.txt:3: connection refused") {
		t.Errorf("got %v", err)
	}
}

func TestPostedHazards(t *testing.T) {
	stream := func(mbit float64) result.Imported {
		return posting("netperf", "TCP_STREAM", nil, fig(result.Goodput, result.Remote, mbit*1e6))
	}
	wide := func(v, width float64) result.Imported {
		f := fig(result.Rate, result.Local, v)
		f.WidthPct, f.LevelPct = width, 99
		return posting("netperf", "TCP_RR", nil, f)
	}
	cpu := func(end string, v float64) result.Imported {
		return posting("netperf", "TCP_STREAM", nil, fig(result.Goodput, result.Remote, 4e6*v), fig(result.CPUUtil, end, v/10))
	}
	udp := func(loss float64) result.Imported {
		return posting("iperf3", "UDP", nil, fig(result.Offered, result.Local, 93.1e6), fig(result.Loss, result.Remote, loss))
	}
	tail := func(mean, p99, most, sd float64) result.Imported {
		return posting("sockperf", "ping-pong", nil, fig(result.HalfRTTMean, "", mean), fig(result.HalfRTTP50, "", mean), fig(result.HalfRTTP99, "", p99),
			fig(result.HalfRTTMax, "", most), fig(result.HalfRTTStddev, "", sd))
	}
	custom := func(u string) result.Imported {
		m := posting(result.PostedTable, "x", nil, result.ImportedFigure{Metric: "frames", Unit: "1/s", Better: result.Higher, Value: 3}, fig(result.Loss, "", 0))
		m.Figures[0].Unit = map[string]result.ImportedFigure{"1/s": m.Figures[0], "s": {Unit: "s"}}[u].Unit
		return m
	}
	for _, c := range []struct {
		name string
		a, b []result.Imported
		code string
		says string // "" for no such warning
	}{
		{"near a link's rate", []result.Imported{stream(9406)}, []result.Imported{stream(9407)}, "posted-line-rate", "10.0 Gbit/s"},
		{"one of them is not", []result.Imported{stream(88.03)}, []result.Imported{stream(3.28)}, "posted-line-rate", ""},
		{"above the link's rate", []result.Imported{stream(4680)}, []result.Imported{stream(5060)}, "posted-line-rate", ""},
		{"own interval", []result.Imported{wide(22596, 99)}, []result.Imported{wide(23498, 99)}, "within-spread", "99% and 99% wide at 99%"},
		{"narrow interval", []result.Imported{wide(22596, 2)}, []result.Imported{wide(23498, 2)}, "within-spread", ""},
		{"repetitions", []result.Imported{wide(100, 0), wide(200, 0)}, []result.Imported{wide(180, 0)}, "within-spread", "runs of one variant differ by 100 /s"},
		{"standard deviation", []result.Imported{tail(24571, 33390, 103294331, 93297)}, []result.Imported{tail(24965, 33482, 195841, 5934)}, "within-spread", "standard deviation of up to 93.3 us"},
		{"only the longest", []result.Imported{tail(24571, 33390, 103294331, 93297)}, []result.Imported{tail(24965, 33482, 195841, 5934)}, "tail-only", "at most 1.6%"},
		{"all moved", []result.Imported{tail(24571, 33390, 103294331, 93297)}, []result.Imported{tail(2496, 3348, 195841, 5934)}, "tail-only", ""},
		{"one end's CPU", []result.Imported{cpu(result.Local, 1)}, []result.Imported{cpu(result.Local, 2)}, "one-end-cpu", "the local end only"},
		{"UDP's sender", []result.Imported{udp(0)}, []result.Imported{udp(0.1024)}, "udp-at-sender", "93.1 Mbit/s in a and 83.6 Mbit/s in b"},
		{"another unit", []result.Imported{custom("1/s")}, []result.Imported{custom("s")}, "units-differ", "frames is in 1/s and in s"},
		{"half and whole", []result.Imported{tail(1, 2, 3, 4), stream(1)}, []result.Imported{posting("sockperf", "ping-pong", nil, fig(result.RTTMean, "", 2)), stream(1)}, "units-differ", "a has half_rtt_mean and b has rtt_mean"},
	} {
		r := postedReport(t, PostedOptions{}, variant("a", file(1, c.a...)), variant("b", file(2, c.b...)))
		all := withCode(r.Warnings, c.code)
		for _, row := range r.Comparisons {
			all = append(all, withCode(row.Warnings, c.code)...)
		}
		got := strings.Join(all, "; ")
		if c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.says)
		}
	}
}

// Figures of different programs, and of ours, are not compared.
func TestPostedMethodsDiffer(t *testing.T) {
	ping := file(1, posting("ping", "ping", nil, pingOf(tasklet...)))
	qperf := file(2, posting("qperf", "tcp_lat", nil, fig(result.HalfRTTMean, "", 1)))
	_, err := Posted([]PostedVariant{variant("a", ping), variant("b", qperf)}, PostedOptions{})
	if !errors.Is(err, ErrNothingInCommon) || !strings.Contains(err.Error(), "a has figures of ping, and b of qperf") {
		t.Errorf("got %v", err)
	}
	ours := Kept{Run: result.Run{ID: result.RunID(3), State: result.Complete}, Trials: []result.Trial{{Test: spec.Test{Name: "icmp_echo"}, Local: result.End{Role: result.Local}}}}
	_, err = Runs([]Kept{ping}, []Kept{ours}, RunsOptions{Old: "a", New: "b"})
	if !errors.Is(err, ErrNothingInCommon) || !strings.Contains(err.Error(), "and b of netdelta") {
		t.Errorf("got %v", err)
	}
	// Kept imports are compared like files.
	r, err := Runs([]Kept{ping}, []Kept{file(4, posting("ping", "ping", nil, pingOf(kthread...)))}, RunsOptions{Old: "a", New: "b"})
	if err != nil || !r.Posted || len(r.Comparisons) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestPostedFacts(t *testing.T) {
	with := func(version string, facts ...result.Fact) result.Imported {
		m := posting("netperf", "TCP_STREAM", nil, fig(result.Goodput, result.Remote, 5e6))
		m.Version, m.Facts = version, facts
		return m
	}
	r := postedReport(t, PostedOptions{},
		variant("a", file(1, with("2.6.0", result.Fact{Name: "elapsed", Value: "10.01 s"}, result.Fact{Name: "peer", Value: "h1"}))),
		variant("b", file(2, with("2.7.0", result.Fact{Name: "elapsed", Value: "10.03 s"}, result.Fact{Name: "peer", Value: "h2"}))))
	want := []FactChange{{End: "run", Name: "netperf version", Old: "2.6.0", New: "2.7.0"}, {End: "run", Name: "peer", Old: "h1", New: "h2"}}
	if !slices.Equal(r.EnvironmentDiff, want) {
		t.Errorf("got %+v", r.EnvironmentDiff)
	}
}

// The other way round, every change is the inverse; and the order of a side's files
// has no bearing.
func TestPostedSymmetry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := uint64(0)
		side := func(name string) PostedVariant {
			v := PostedVariant{Name: name}
			for range rapid.IntRange(1, 4).Draw(t, "files") {
				n++
				var tests []result.Imported
				for _, size := range []string{"1", "64", "1024"}[:rapid.IntRange(1, 3).Draw(t, "tests")] {
					tests = append(tests, posting("netperf", "TCP_RR", sizes("size", size),
						fig(result.Rate, result.Local, rapid.Float64Range(1, 1e6).Draw(t, "rate")), fig(result.Loss, result.Remote, rapid.Float64Range(0, 1).Draw(t, "loss"))))
				}
				v.Kept = append(v.Kept, file(n, tests...))
			}
			return v
		}
		a, b := side("a"), side("b")
		r, err := Posted([]PostedVariant{a, b}, PostedOptions{})
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(b.Kept)
		other, err := Posted([]PostedVariant{b, a}, PostedOptions{})
		if err != nil || len(other.Comparisons) != len(r.Comparisons) {
			t.Fatal(err, len(other.Comparisons), len(r.Comparisons))
		}
		for i, c := range r.Comparisons {
			o := other.Comparisons[i]
			x, _, _ := c.Shift()
			y, _, _ := o.Shift()
			if c.Scale == Percent {
				x, y = math.Log1p(x/100), math.Log1p(y/100)
			}
			if math.IsNaN(x) != math.IsNaN(y) || math.Abs(x+y) > 1e-9*math.Max(1, math.Abs(x)) {
				t.Fatalf("%s %s: %v and %v", c.Name(), c.Metric, x, y)
			}
		}
		slices.Reverse(a.Kept)
		slices.Reverse(b.Kept)
		again, err := Posted([]PostedVariant{a, b}, PostedOptions{})
		if err != nil || !slices.EqualFunc(again.Comparisons, r.Comparisons, func(x, y Comparison) bool {
			p, _, _ := x.Shift()
			q, _, _ := y.Shift()
			return x.Name() == y.Name() && x.Metric == y.Metric && math.Abs(p-q) <= 1e-9*math.Max(1, math.Abs(p))
		}) {
			t.Fatal("in another order it differs")
		}
	})
}

func TestPostedRefuses(t *testing.T) {
	one := file(1, posting("ping", "ping", nil, pingOf(1)))
	for want, variants := range map[string][]PostedVariant{
		"1 variant: two or more are needed": {variant("a", one)},
		"x.txt is given twice, as b":        {variant("a", one), variant("b", one)},
		"two variants are called \"a\"":     {variant("a", one), variant("a", file(2, posting("ping", "ping", nil, pingOf(1))))},
	} {
		if _, err := Posted(variants, PostedOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := Posted([]PostedVariant{variant("a", one), variant("b", one)}, PostedOptions{Margin: 2}); err == nil {
		t.Error("a margin of 200%")
	}
}

// A report of anything can be written as JSON, and its document knows every trial.
func TestPostedAnyFigures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := uint64(0)
		names := []string{result.Goodput, result.Throughput, result.Offered, result.RTTMean, result.HalfRTTMean, result.RTTStddev, result.RTTMax, result.RTTP50, result.Loss, result.CPUUtil, result.Jitter}
		var variants []PostedVariant
		trials := 0
		for i := range rapid.IntRange(2, 4).Draw(t, "variants") {
			v := PostedVariant{Name: string(rune('p' + i))}
			for range rapid.IntRange(0, 2).Draw(t, "files") {
				var tests []result.Imported
				for range rapid.IntRange(0, 3).Draw(t, "tests") {
					m := posting("t", rapid.SampledFrom([]string{"udp", "tcp sock=1"}).Draw(t, "test"), nil)
					for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "metrics") {
						f := fig(name, rapid.SampledFrom([]string{"", result.Local, result.Remote}).Draw(t, "end"), rapid.SampledFrom([]float64{0, 1e-300, 1, 9.4e9, 9.9e9, 1e300}).Draw(t, "value"))
						f.Values = rapid.SliceOfN(rapid.Float64Range(0, 1e300), 0, 3).Draw(t, "values")
						f.WidthPct = rapid.SampledFrom([]float64{0, 10, 1e9}).Draw(t, "width")
						m.Figures = append(m.Figures, f)
					}
					tests = append(tests, m)
				}
				n++
				trials += len(tests)
				v.Kept = append(v.Kept, file(n, tests...))
			}
			variants = append(variants, v)
		}
		r, err := Posted(variants, PostedOptions{Claims: []Claim{{Says: "x", Test: "t udp", Metric: result.Goodput, Level: "q", Against: "p", Times: 2}}})
		if err != nil {
			if !errors.Is(err, ErrNothingInCommon) {
				t.Fatal(err)
			}
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		if len(r.Answer()) == 0 {
			t.Fatal("no answer")
		}
		d := Document{Report: &r}
		for _, v := range variants {
			d.Kept = append(d.Kept, v.Kept...)
		}
		all := d.Trials()
		if len(all) != trials || r.Trials != trials {
			t.Fatalf("%d of %d trials", len(all), trials)
		}
		for _, o := range all {
			if r.Factors[0].Levels[o.At] != o.Variant {
				t.Fatalf("%q at %d", o.Variant, o.At)
			}
		}
	})
}
