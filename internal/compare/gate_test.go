package compare

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

func TestParseGates(t *testing.T) {
	for _, text := range []string{
		"worse", "better,unsure", "different:rtt_p50", "worse:udp_rr/rtt_p50:5%", "worse::0.5%", "unsure:loss:10%", "worse:zerocopy_copied", "worse:tcp_stream/zerocopy_copied",
	} {
		gates, err := ParseGates(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var again []string
		for _, g := range gates {
			again = append(again, g.String())
		}
		if got := strings.Join(again, ","); got != text {
			t.Errorf("%q is read as %q", text, got)
		}
	}
	if g, err := ParseGates(" worse , worse::10 "); err != nil || len(g) != 2 || g[1] != (Gate{Verdict: Worse, Size: 0.1}) {
		t.Errorf("%+v, %v", g, err)
	}
	for _, c := range []struct{ text, want string }{
		{"", "verdict"}, {"same", `verdict "same": valid are worse, better, unsure, different`}, {"worse,", "verdict"},
		{"worse:speed", `unknown metric "speed": valid are `}, {"worse:udp_rr/goodput", `unknown metric "goodput"`},
		{"worse:sctp_rr/rtt_p50", `unknown test "sctp_rr"`}, {"worse:udp_rr/", "no TEST/METRIC"}, {"worse:/rtt_p50", "no TEST/METRIC"},
		{"worse:rtt_p50:5%:1", "4 parts"}, {"worse:rtt_p50:", "no percentage"}, {"worse::0", "no percentage"}, {"worse::-5%", "no percentage"},
		{"worse::NaN", "no percentage"}, {"worse::1e300", "no percentage"},
	} {
		if g, err := ParseGates(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %+v, %v; want an error with %q", c.text, g, err, c.want)
		}
	}
}

func FuzzParseGates(f *testing.F) {
	f.Add("worse:udp_rr/rtt_p50:5%,unsure")
	f.Fuzz(func(t *testing.T, text string) {
		gates, err := ParseGates(text)
		for _, g := range gates {
			again, err := ParseGates(g.String())
			if err != nil || len(again) != 1 || again[0].Verdict != g.Verdict || again[0].Metric != g.Metric || (again[0].Size > 0) != (g.Size > 0) {
				t.Errorf("%+v is written as %s and read as %+v, %v", g, g, again, err)
			}
		}
		if (err == nil) == (len(gates) == 0) {
			t.Errorf("%q: %v, %v", text, gates, err)
		}
	})
}

func TestGatesFitTests(t *testing.T) {
	of := tests(t, "udp_rr", "tcp_stream")
	for _, c := range []struct{ gate, want string }{
		{"worse", ""}, {"worse:rtt_p50", ""}, {"worse:tcp_stream/goodput", ""},
		{"worse:tcp_rr/rtt_p50", "tcp_rr is none of the tests"}, {"worse:tcp_stream/retransmits", ""},
		{"worse:duplicates", "none of the tests has the metric duplicates: they have"},
	} {
		gates, err := ParseGates(c.gate)
		if err != nil {
			t.Fatal(err)
		}
		if err := gates[0].FitsTests(of); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.gate, err, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	differ := func(test, metric, end string, u unit.Unit, better result.Better, a, est, lo, hi, margin float64, v Verdict) Comparison {
		return Comparison{Test: test, Metric: metric, End: end, Unit: u, Better: better, Scale: Difference, Baseline: "old", Variant: "new", N: 8,
			A: Summary{Median: &a}, Delta: &est, Lo: &lo, Hi: &hi, Margin: margin, Confidence: 0.95, Verdict: v}
	}
	ratio := func(test, metric string, est, lo, hi float64, v Verdict) Comparison {
		d, ok := result.DefinitionOf(spec.Test{Name: test}, metric, result.Local)
		if !ok {
			d, _ = result.DefinitionOf(spec.Test{Name: test}, metric, result.Remote)
		}
		return Comparison{Test: test, Metric: metric, End: d.End, Unit: d.Unit, Better: d.Better, Scale: Percent, Baseline: "old", Variant: "new", N: 8,
			DeltaPct: &est, LoPct: &lo, HiPct: &hi, Margin: 2, Confidence: 0.95, Verdict: v}
	}
	lossDef, _ := result.DefinitionOf(spec.Test{Name: "udp_rr"}, result.Loss, result.Local)
	rows := []Comparison{
		ratio("udp_rr", result.RTTP50, 8, 6, 10, Worse),
		ratio("udp_rr", result.RTTMean, 9, 7, 11, Worse), // a detail
		ratio("tcp_rr", result.RTTP50, 3, -4, 11, Unsure),
		ratio("tcp_rr", result.RTTP99, 1, -9, 11, Unsure),
		ratio("tcp_stream", result.Goodput, 20, 15, 25, Better),
		differ("udp_rr", result.Loss, lossDef.End, lossDef.Unit, lossDef.Better, 0, 0.03, 0.02, 0.04, 0.02, Worse),
		{Test: "udp_stream", Metric: result.Goodput, End: result.Remote, Scale: Percent, Baseline: "old", Variant: "new", Verdict: Unsure},
		{Test: "udp_stream", Metric: result.Packets, End: result.Remote, Scale: Percent, Baseline: "old", Variant: "new", Verdict: Unsure},
	}
	r := Report{Pairing: ByBlock, WindowNS: int64(time.Second), Comparisons: rows, Factors: []spec.Factor{{Name: "x"}}}
	measured := r
	measured.Comparisons = rows[:6]
	few := r
	few.Comparisons = []Comparison{rows[2]}
	few.Comparisons[0].Confidence = 0.6667
	for _, c := range []struct {
		gates        string
		of           *Report
		failed, open int
		err          string
	}{
		{"worse", &measured, 2, 1, ""},
		{"worse", &r, 2, 1, ""}, // what failed has failed, whatever else is missing
		{"better", &measured, 1, 1, ""},
		{"worse:rtt_p50", &measured, 1, 1, ""},
		{"worse:rtt_p50:8%", &measured, 1, 1, ""},
		{"worse:rtt_p50:8.5%", &measured, 0, 1, ""},
		{"worse:rtt_p50:12%", &measured, 0, 0, ""}, // no interval reaches it
		{"better:rtt_p50", &measured, 0, 1, ""},
		{"better:rtt_p50:5%", &measured, 0, 0, ""},
		{"worse:rtt_mean", &measured, 1, 0, ""},
		{"worse:udp_rr/loss:3%", &measured, 1, 0, ""}, // percentage points
		{"worse:udp_rr/loss:4%", &measured, 0, 0, ""},
		{"different", &measured, 3, 1, ""},
		{"different,worse", &measured, 3, 1, ""}, // each row once
		{"unsure", &measured, 2, 0, ""},
		{"unsure:rtt_p50:10%", &measured, 1, 0, ""},
		{"unsure:rtt_p50:15%", &measured, 0, 0, ""},
		{"worse:rtt_p50:50%", &few, 0, 1, ""}, // too few for an interval: all is open
		{"unsure:rtt_p50:50%", &few, 1, 0, ""},
		{"worse::50%", &r, 0, 0, "udp_stream goodput at the remote end has no figure"},
		{"worse:packets", &r, 0, 0, "worse:packets: udp_stream packets at the remote end has no figure: n/a"},
		{"worse:rtt_p999", &r, 0, 0, "the report has no such row"},
		{"worse:rate", &Report{}, 0, 0, "the report has no such row"},
		{"worse", &Report{}, 0, 0, "the report has no such row"},
	} {
		gates, err := ParseGates(c.gates)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.of.Judge(gates)
		if len(got.Failed) != c.failed || len(got.Open) != c.open {
			t.Errorf("%s: failed %q, open %q; want %d and %d", c.gates, got.Failed, got.Open, c.failed, c.open)
		}
		if (err == nil) != (c.err == "") || err != nil && (!errors.Is(err, ErrUngated) || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", c.gates, err, c.err)
		}
	}
	got, _ := measured.Judge([]Gate{{Verdict: Worse}})
	want := []string{"udp_rr rtt_p50 at the local end, new against old: +8.0% (6.0 to 10), worse", "udp_rr loss at the local end, new against old: +3.0 pp (2.0 to 4.0), worse"}
	if !slices.Equal(got.Failed, want) {
		t.Errorf("failed are\n%q, want\n%q", got.Failed, want)
	}
}
