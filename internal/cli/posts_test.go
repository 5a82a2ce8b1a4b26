package cli

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/result"
)

// postedRow is a change that a comparison of posts must give.
type postedRow struct {
	test    string // what the test's name contains
	metric  string
	variant string // empty for the only one
	// pct is the change in percent, or of a figure that can be zero the difference.
	pct, within float64
}

// posts are real posts, and what they bear.
var posts = []struct {
	name  string
	files []string
	rows  []postedRow
	codes []string // of warnings that have to be there
	says  []string // in the answer
}{
	{"sci", []string{"000-sci-tasklet.txt", "000-sci-kthread.txt"}, []postedRow{
		{"", result.RTTMean, "", 2985, 2}, {"message=32768", result.Goodput, "", 4.34, 0.02}, {"262144", result.Goodput, "", -86, 0.02},
	}, []string{"one-run"}, []string{"x30.9", "do not overlap", "can't pass more than 376 Mbit/s"}},
	{"filters", []string{"case01-netperf-variantA.txt", "case01-netperf-variantB.txt", "case01-netperf-variantC.txt"}, []postedRow{
		{"TCP_STREAM", result.Goodput, "variantB", -96.3, 0.05}, {"TCP_STREAM", result.Goodput, "variantC", -2.56, 0.05},
	}, []string{"one-run"}, nil},
	{"poll", []string{"case02-netperf-variantA.txt", "case02-netperf-variantB.txt"}, []postedRow{
		{"TCP_RR", result.Rate, "", 3.77, 0.02}, {"TCP_STREAM", result.Goodput, "", -0.03, 0.05},
	}, []string{"posted-line-rate", "within-spread"}, []string{"near a link's rate"}},
	{"tail", []string{"case03-sockperf-variantA.txt", "case03-sockperf-variantB.txt"}, []postedRow{
		{"", result.HalfRTTMean, "", 1.6, 0.05}, {"", result.HalfRTTP50, "", 0.44, 0.05}, {"", result.HalfRTTMax, "", -99.81, 0.01},
	}, []string{"tail-only", "within-spread"}, nil},
	{"guest iperf3", []string{"case04-iperf3-variantA.txt", "case04-iperf3-variantB.txt"}, []postedRow{
		{"", result.Goodput, "", -24.6, 0.1}, {"", result.Retransmitted, "", 3860, 0},
	}, []string{"one-run"}, nil},
	{"guest sockperf", []string{"case04-sockperf-variantA.txt", "case04-sockperf-variantB.txt"}, []postedRow{
		{"", result.HalfRTTMean, "", -28.5, 0.1}, {"", result.HalfRTTP50, "", -26.6, 0.1},
	}, []string{"one-run"}, nil},
	{"pods iperf3", []string{"case05-iperf3-variantA.txt", "case05-iperf3-variantB.txt"}, []postedRow{{"", result.Goodput, "", -54.1, 0.1}}, nil, nil},
	{"pods qperf", []string{"case05-qperf-variantA.txt", "case05-qperf-variantB.txt"}, []postedRow{
		{"tcp_lat", result.HalfRTTMean, "", 129.6, 0.2}, {"tcp_bw", result.Goodput, "", -48.9, 0.1},
	}, nil, nil},
	{"netem loss", []string{"case06-iperf3-variantA.txt", "case06-iperf3-variantB.txt"}, []postedRow{
		{"", result.Offered, "", 0.107, 0.01}, {"", result.Loss, "", 0.1024, 0.0001},
	}, []string{"udp-at-sender"}, nil},
	{"one thing twice", []string{"case07-netpipe-variantA.txt,case07-netpipe-variantA2.txt", "case07-netpipe-variantB.txt"}, nil, []string{"within-spread"}, nil},
	{"no answer", []string{"case08-ping-variantA.txt", "case08-ping-variantB.txt"}, []postedRow{{"", result.Loss, "", -1, 0}}, []string{"no-data"}, []string{"no data"}},
	{"overlay", []string{"case09-qperf-variantA.txt", "case09-qperf-variantB.txt"}, []postedRow{
		{"tcp_bw", result.Goodput, "", -77.9, 0.1}, {"tcp_lat", result.HalfRTTMean, "", 6.2, 0.05},
	}, []string{"one-run"}, nil},
	{"netem delay", []string{"case10-fping-variantA.txt", "case10-fping-variantB.txt", "case10-fping-variantC.txt", "case10-fping-variantD.txt"}, []postedRow{
		{"", result.Loss, "variantB", 0, 0}, {"", result.Loss, "variantC", 0.125, 0}, {"", result.Loss, "variantD", 0.25, 0},
	}, nil, nil},
	{"uclamp", []string{"case12-table-all.txt"}, []postedRow{
		{"message=64", "", "uclamp", -2.82, 0.01}, {"message=64", "", "uclamp-static-key", 0.59, 0.01}, {"message=1024", "", "uclamp", -3.05, 0.01}, {"message=16384", "", "uclamp", -2.40, 0.01}, {"message=16384", "", "uclamp-static-key", 1.47, 0.01},
	}, nil, nil},
	{"addresses", []string{"case14-netperf-variantA.txt", "case14-netperf-variantB.txt"}, []postedRow{
		{"TCP_RR", result.Rate, "", 206.5, 0.1}, {"TCP_CRR", result.Rate, "", 209.7, 0.1}, {"UDP_RR", result.Rate, "", 212.5, 0.1},
	}, nil, nil},
	{"offload", []string{"case15-netperf-variantA.txt", "case15-netperf-variantB.txt"}, []postedRow{
		{"=4096", result.Goodput, "", 0.43, 0.02}, {"=8192", result.Goodput, "", 6.92, 0.02}, {"=16384", result.Goodput, "", 4.51, 0.02}, {"=32768", result.Goodput, "", 2.55, 0.02}, {"=65536", result.Goodput, "", 3.93, 0.02},
		{"=32768", result.CPUPerByte, "", -20.9, 0.1},
	}, []string{"posted-line-rate"}, []string{"can't tell them apart"}},
	{"router", []string{"case16-netperf-variantA.txt", "case16-netperf-variantB.txt", "case16-netperf-variantC.txt"}, []postedRow{
		{"TCP_STREAM", result.Goodput, "variantB", 2.43, 0.05}, {"TCP_STREAM", result.Goodput, "variantC", 2.92, 0.05},
	}, nil, nil},
}

func postedSides(t *testing.T, args []string) []side {
	t.Helper()
	l := library{path: filepath.Join(t.TempDir(), "none.db")}
	var sides []side
	for _, arg := range args {
		s, err := l.operand(t.Context(), "../interop/testdata/posts/"+strings.ReplaceAll(arg, ",", ",../interop/testdata/posts/"))
		if err != nil {
			t.Fatal(err)
		}
		sides = append(sides, s)
	}
	return sides
}

func TestPosts(t *testing.T) {
	for _, c := range posts {
		t.Run(c.name, func(t *testing.T) {
			r, err := compared(postedSides(t, c.files), nil, compare.RunsOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.rows {
				i := slices.IndexFunc(r.Comparisons, func(o compare.Comparison) bool {
					return strings.Contains(o.Test, want.test) && (want.metric == "" || o.Metric == want.metric) && (want.variant == "" || o.Variant == want.variant)
				})
				if i < 0 {
					t.Errorf("no %s of %s, %s", want.metric, want.test, want.variant)
					continue
				}
				if est, _, _ := r.Comparisons[i].Shift(); !(math.Abs(est-want.pct) <= want.within+1e-9) {
					t.Errorf("%s of %s, %s: got %v, want %v", want.metric, want.test, want.variant, est, want.pct)
				}
			}
			all := slices.Clone(r.Warnings)
			for _, row := range r.Comparisons {
				all = append(all, row.Warnings...)
			}
			for _, code := range c.codes {
				if !slices.ContainsFunc(all, func(w result.Warning) bool { return w.Code == code }) {
					t.Errorf("no warning %s", code)
				}
			}
			answer := strings.Join(append(r.Answer(), r.Findings...), " ")
			for _, want := range c.says {
				if !strings.Contains(answer, want) {
					t.Errorf("no %q in %q", want, answer)
				}
			}
		})
	}
}

// What failed has no data, and what different programs measured is not compared.
func TestPostsThatBearNothing(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"case13-iperf3-variantA.txt", "case13-iperf2-variantB.txt"}, "no data"},
		{[]string{"case05-iperf3-variantA.txt", "case05-ntttcp-extra.txt"}, "different programs"},
	} {
		_, err := compared(postedSides(t, c.files), nil, compare.RunsOptions{})
		if !errors.Is(err, compare.ErrNothingInCommon) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v", c.files, err)
		}
	}
}
