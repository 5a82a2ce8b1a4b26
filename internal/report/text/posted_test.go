package text

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// imports makes runs of made-up outputs of other programs.
type imports struct{ n uint64 }

func (m *imports) file(name string, tests ...result.Imported) compare.Kept {
	m.n++
	k := compare.Kept{Run: result.Run{ID: result.RunID(m.n), State: result.Complete}}
	for i, t := range tests {
		t.Source = name
		x := result.ImportedTrial(t)
		x.Order = i
		k.Trials = append(k.Trials, x)
	}
	return k
}

func figure(metric, end string, values ...float64) result.ImportedFigure {
	f := result.ImportedMetric(metric, end, 0, "", 1)
	for _, v := range values {
		f.Value += v / float64(len(values))
	}
	if len(values) > 1 {
		f.Values = values
	}
	return f
}

func printed(tool, name, param, value string, figures ...result.ImportedFigure) result.Imported {
	m := result.Imported{Tool: tool, Name: name, Figures: figures}
	if param != "" {
		m.Params = []result.Fact{{Name: param, Value: value}}
	}
	return m
}

func scaled(by float64, values ...float64) []float64 {
	for i := range values {
		values[i] *= by
	}
	return values
}

// sci is a handler in a tasklet and in a kernel thread, 2001.
func sci(t *testing.T) (compare.Report, error) {
	var m imports
	const us, mib = 1e3, 8 << 20
	tcp := func(rate float64, elapsed string) result.Imported {
		x := printed("netperf", "TCP_STREAM", "message", "262144", figure(result.Goodput, result.Remote, rate*mib))
		x.Facts = []result.Fact{{Name: "sockets", Value: "262144 B"}, {Name: "elapsed", Value: elapsed}}
		return x
	}
	udp := func(sent, got float64) result.Imported {
		return printed("netperf", "UDP_STREAM", "message", "32768", figure(result.Goodput, result.Remote, got*mib), figure(result.Offered, result.Local, sent*mib))
	}
	return compare.Posted([]compare.PostedVariant{
		{Name: "tasklet", Kept: []compare.Kept{m.file("000-sci-tasklet.txt",
			printed("ping", "echo", "size", "56", figure(result.RTTMean, result.Local, scaled(us, 238, 176, 200, 177, 172, 156, 160, 177, 173)...)),
			udp(167.55, 167.55), tcp(116, "10.00 s"))}},
		{Name: "kthread", Kept: []compare.Kept{m.file("000-sci-kthread.txt",
			printed("ping", "echo", "size", "56", figure(result.RTTMean, result.Local, scaled(us, 4215, 5728, 3825, 6521, 5700, 5666, 6495, 5631, 6480)...)),
			udp(174.92, 174.82), tcp(16.24, "10.02 s"))}},
	}, compare.PostedOptions{Claims: []compare.Claim{
		{Says: "at least 100 times", Test: "ping echo", Metric: result.RTTMean, Level: "kthread", Against: "tasklet", Times: 100, AtLeast: true},
	}})
}

// mac is a driver's interrupt filter or its work loop on two releases, 2005.
func mac(t *testing.T) (compare.Report, error) {
	return crossed([]spec.Factor{{Name: "release", Levels: []string{"Panther", "Tiger"}}, {Name: "context", Levels: []string{"work-loop", "filter"}}},
		"a Myrinet driver on Mac OS X", []compare.Claim{
			{Says: "nearly 40% on Panther", Test: "short message", Metric: result.HalfRTTMean, Factor: "context", Level: "filter", Against: "work-loop", ChangePct: -40, WithinPct: 3},
			{Says: "roughly 20% on Tiger", Test: "short message", Metric: result.HalfRTTMean, Factor: "context", Level: "filter", Against: "work-loop", Under: spec.Variant{"release": "Tiger"}, ChangePct: -20},
		}, "short message", figure(result.HalfRTTMean, ""), scaled(1e3, 17.1, 9.9, 10, 8))
}

// zerocopy is sendfile and read+write on three kernels, 2001.
func zerocopy(t *testing.T) (compare.Report, error) {
	f := figure(result.CPUUtil, result.Local)
	return crossed([]spec.Factor{{Name: "kernel", Levels: []string{"plain", "zero-copy", "zero-copy-nocsum"}}, {Name: "send", Levels: []string{"read+write", "sendfile"}}},
		"zero-copy sendfile at 11.5 MB/s", []compare.Claim{
			{Says: "sendfile is 10% cheaper on the plain kernel", Test: "serve", Metric: result.CPUUtil, Factor: "send", Level: "sendfile", Against: "read+write", ChangePct: -10},
			{Says: "the patch makes sendfile 40% cheaper", Test: "serve", Metric: result.CPUUtil, Factor: "kernel", Level: "zero-copy", Against: "plain", Under: spec.Variant{"send": "sendfile"}, ChangePct: -40, WithinPct: 2},
		}, "serve", f, scaled(0.01, 34.5, 29.6, 38.1, 18.2, 39.2, 22.9))
}

// crossed is a table of two factors, the second one's levels side by side.
func crossed(factors []spec.Factor, title string, claims []compare.Claim, test string, f result.ImportedFigure, values []float64) (compare.Report, error) {
	var m imports
	k := m.file("post.yaml")
	var variants []compare.PostedVariant
	for i, v := range values {
		f.Value = v
		x := result.ImportedTrial(printed(result.PostedTable, test, "", "", f))
		x.Imported.Source, x.Order = "post.yaml", i
		n := len(factors[1].Levels)
		x.Variant = spec.Variant{factors[0].Name: factors[0].Levels[i/n], factors[1].Name: factors[1].Levels[i%n]}
		of := k
		of.Trials = []result.Trial{x}
		variants = append(variants, compare.PostedVariant{Levels: x.Variant, Kept: []compare.Kept{of}})
	}
	return compare.Posted(variants, compare.PostedOptions{Title: title, Factors: factors, Claims: claims})
}

// tun is a driver that hands its packets straight to the stack, 2014.
func tun(t *testing.T) (compare.Report, error) {
	var m imports
	var tests [2][]result.Imported
	for _, row := range []struct {
		test, metric string
		by           float64
		at           []string
		values       [2][]float64
	}{
		{"udp_lat", result.HalfRTTMean, 1e3, []string{"64", "256", "512", "1460"}, [2][]float64{{44, 47, 48, 66}, {38, 41, 42, 66}}},
		{"tcp_lat", result.HalfRTTMean, 1e3, []string{"64", "256", "512", "1460"}, [2][]float64{{52, 55, 70, 117}, {45, 48, 61, 114}}},
		{"UDP_STREAM", result.Throughput, 1e9, []string{"64", "512", "1024", "1460"}, [2][]float64{{0.42, 2.02, 3.75, 4.68}, {0.45, 2.14, 3.77, 5.06}}},
	} {
		for side, values := range row.values {
			for i, v := range values {
				tests[side] = append(tests[side], printed(result.PostedTable, row.test, "length", row.at[i], figure(row.metric, "", v*row.by)))
			}
		}
	}
	return compare.Posted([]compare.PostedVariant{
		{Name: "old", Kept: []compare.Kept{m.file("old.csv", tests[0]...)}}, {Name: "new", Kept: []compare.Kept{m.file("new.csv", tests[1]...)}},
	}, compare.PostedOptions{})
}

// What the four posts that this program began with bear.
func TestPosted(t *testing.T) {
	for name, make := range map[string]func(*testing.T) (compare.Report, error){"sci": sci, "mac": mac, "zerocopy": zerocopy, "tun": tun} {
		t.Run(name, func(t *testing.T) {
			r, err := make(t)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := Render(&b, &r); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "posted-"+name+".txt")
			if *update {
				if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Errorf("(-kept +got; if it should differ, run with -update):\n%s", d)
			}
			for _, line := range strings.Split(b.String(), "\n") {
				if len(line) > Width {
					t.Errorf("%d columns: %s", len(line), line)
				}
			}
		})
	}
}

func TestClaimText(t *testing.T) {
	found := 0.385
	for _, c := range []struct {
		check compare.Check
		want  string
	}{
		{compare.Check{Name: "x", Wanted: 0.4, Found: &found, Unit: unit.Share, Pass: true}, `says "x"; bears +38.5%: borne`},
		{compare.Check{Name: "x", Wanted: 4, Found: &found}, `says "x"; bears x0.385: not borne`},
		{compare.Check{Name: "x", Wanted: 4, Text: "not checked: there is no y"}, `says "x"; not checked: there is no y`},
	} {
		if got := claimText(&c.check); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
