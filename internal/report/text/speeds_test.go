package text

import (
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
)

// Both reports name at which speed each test ran, and what is compared then.
func TestSpeeds(t *testing.T) {
	link, rate := &result.Held{By: result.HeldByLink, Limit: 1e9}, &result.Held{By: result.HeldByRate, Limit: 1e8}
	one := 1.0
	for _, c := range []struct {
		test, metric string
		held         *result.Held
		compared     string
		single       string
	}{
		{"udp_stream", result.Goodput, nil, "At full speed, nothing held, so throughput is compared: udp_stream.", "At full speed, nothing held: udp_stream."},
		{"tcp_stream", result.Goodput, link, "Held by the link, so cost is compared: tcp_stream.", "Held by the link: tcp_stream."},
		{"tcp_stream rate=100Mbit/s", result.Goodput, rate, "Held at a fixed rate, so cost is compared: tcp_stream rate=100Mbit/s.", "Held at a fixed rate: tcp_stream rate=100Mbit/s."},
		{"tcp_stream pacing=1Mbit/s", result.Goodput, nil, "At a fixed rate that was not always kept, so throughput is compared: tcp_stream pacing=1Mbit/s.", "At a fixed rate that was not always kept: tcp_stream pacing=1Mbit/s."},
		{"udp_rr rate=1000", result.Rate, nil, "Requests at a fixed rate: udp_rr rate=1000.", "Requests at a fixed rate: udp_rr rate=1000."},
		{"udp_rr", result.Rate, nil, "", ""},
	} {
		tests, err := spec.ParseTests(c.test, nil)
		if err != nil {
			t.Fatal(err)
		}
		row := compare.Comparison{Test: tests[0].Name, Params: tests[0].Params, Metric: c.metric, Held: c.held, A: compare.Summary{Median: &one}}
		got := unwrapped(lay(comparedSpeeds(&compare.Report{Comparisons: []compare.Comparison{row, row}})))
		if got != c.compared {
			t.Errorf("%s: a comparison says %q, want %q", c.test, got, c.compared)
		}
		figure := summary.Figure{Test: tests[0].Name, Params: tests[0].Params, Metric: c.metric, Held: c.held, Median: &one}
		if got := unwrapped(lay(runSpeeds(&summary.Report{Figures: []summary.Figure{figure}}))); got != c.single {
			t.Errorf("%s: a run says %q, want %q", c.test, got, c.single)
		}
	}
}

// unwrapped is the lines of a paragraph as one.
func unwrapped(lines []string) string {
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}
