// Package qperf reads what qperf prints, with its units made readable and with -u, and
// with any of its verbose parts.
//
// A latency is half of the mean round trip (qperf's help, "Latency"). K, M and G are
// powers of 1000, of bytes per second too. tcp_bw is what the receiver got: qperf's
// server counts it; of udp_bw both ends are printed.
package qperf

import (
	"fmt"
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

var (
	titles   = regexp.MustCompile(`^\s*([a-z]+[a-z0-9_]*_(?:bw|lat|bi_bw|mr))\s*:\s*$|^\s*(conf|quit)\s*:\s*$`)
	values   = regexp.MustCompile(`^\s+([a-z][a-z0-9_]*)\s+=\s+(.*?)\s*$`)
	commands = regexp.MustCompile(`^\s*\S*.*[$#>%]?\s*\bqperf\s`)
	failed   = regexp.MustCompile(`^\s*(failed to (connect|receive|synchronize)|qperf: )`)
)

// Read finds the outputs in a file.
func Read(f *scan.File) scan.Found {
	var found scan.Found
	for at := 0; at < len(f.Lines); at++ {
		l := f.Lines[at]
		if failed.MatchString(l.Text) {
			one := scan.Span{From: l.No, To: l.No}
			found.Problems = append(found.Problems, scan.Problem{Span: one, Text: "qperf failed and has no result: " + strings.TrimSpace(l.Text)})
			found.Claimed = append(found.Claimed, one)
			continue
		}
		m := titles.FindStringSubmatch(l.Text)
		if m == nil || m[1] == "" {
			if commands.MatchString(l.Text) && strings.Contains(l.Text, "_") {
				found.Claimed = append(found.Claimed, scan.Span{From: l.No, To: l.No})
			}
			continue
		}
		at = test(f, at, m[1], &found)
	}
	repeated(&found)
	return found
}

// test reads the lines below a test's name, and returns the place of the last one.
func test(f *scan.File, at int, name string, found *scan.Found) int {
	t := scan.Test{}
	t.Tool, t.Name, t.Line, t.To = "qperf", name, f.Lines[at].No, f.Lines[at].No
	for at+1 < len(f.Lines) {
		m := values.FindStringSubmatch(f.Lines[at+1].Text)
		if m == nil {
			break
		}
		at++
		t.To = f.Lines[at].No
		if problem := value(&t, m[1], m[2], t.To); problem != "" {
			found.Problems = append(found.Problems, scan.Problem{Span: scan.Span{From: t.To, To: t.To}, Text: "qperf's " + name + ": " + problem})
		}
	}
	found.Claimed = append(found.Claimed, scan.Span{From: t.Line, To: t.To})
	if len(t.Figures) == 0 {
		found.Problems = append(found.Problems, scan.Problem{Span: scan.Span{From: t.Line, To: t.To}, Text: "qperf's " + name + " has no figure here"})
		return at
	}
	found.Tests = append(found.Tests, t)
	return at
}

// row says what a value of qperf's is.
type row struct {
	metric, end string
	kind        kind
}

type kind int

const (
	latency kind = iota
	rate
	bandwidth
	share
	cost
)

// figures are the values that are figures. Of a lat test the pace is told by its
// latency already, and msg_rate is messages one way.
var figures = map[string]row{
	"latency":        {result.HalfRTTMean, result.Local, latency},
	"bw":             {result.Goodput, result.Remote, bandwidth},
	"send_bw":        {result.Offered, result.Local, bandwidth},
	"recv_bw":        {result.Goodput, result.Remote, bandwidth},
	"msg_rate":       {result.Messages, result.Local, rate},
	"send_cost":      {result.CPUPerByte, result.Local, cost},
	"recv_cost":      {result.CPUPerByte, result.Remote, cost},
	"loc_cpus_used":  {result.CPU, result.Local, share},
	"rem_cpus_used":  {result.CPU, result.Remote, share},
	"send_cpus_used": {result.CPU, result.Local, share},
	"recv_cpus_used": {result.CPU, result.Remote, share},
}

// parameters set tests of one name apart, facts do not.
var parameters = map[string]bool{"msg_size": true, "affinity": true, "use_bits_per_sec": false}

// units are what a value is multiplied by, by what it is of. ms/GB is CPU time for 10^9
// bytes.
var units = map[kind]map[string]float64{
	latency: {"ns": 1, "us": 1e3, "ms": 1e6, "sec": 1e9},
	rate:    {"/sec": 1, "K/sec": 1e3, "M/sec": 1e6, "G/sec": 1e9},
	bandwidth: {"bytes/sec": 8, "KB/sec": 8e3, "MB/sec": 8e6, "GB/sec": 8e9, "TB/sec": 8e12,
		"bits/sec": 1, "Kb/sec": 1e3, "Mb/sec": 1e6, "Gb/sec": 1e9},
	share: {"% cpus": 0.01, "%": 0.01},
	cost:  {"ns/GB": 1e-18, "us/GB": 1e-15, "ms/GB": 1e-12, "sec/GB": 1e-9},
}

// value takes one value; the text says why it could not.
func value(t *scan.Test, name, text string, line int) string {
	number, unit, _ := strings.Cut(text, " ")
	unit = strings.TrimSpace(unit)
	of, known := figures[name]
	if !known {
		fact := result.Fact{Name: name, Value: text}
		if parameters[name] {
			t.Params = append(t.Params, fact)
		} else {
			t.Facts = append(t.Facts, fact)
		}
		return ""
	}
	v, ok := scan.Number(number)
	times, has := units[of.kind][unit]
	switch {
	case !ok:
		return name + " of " + text + " can't be"
	case !has:
		return fmt.Sprintf("%s has no unit that is known: %q", name, text)
	}
	t.Figures = append(t.Figures, result.ImportedMetric(of.metric, of.end, v*times, number+" "+unit, line))
	return ""
}

// repeated warns of tests that are there several times with nothing to tell them apart:
// without -v qperf does not print what a loop (-oo) varies.
func repeated(found *scan.Found) {
	n := map[string]int{}
	for i := range found.Tests {
		n[found.Tests[i].Imported.Test().Name]++
	}
	for i := range found.Tests {
		t := &found.Tests[i]
		if k := n[t.Imported.Test().Name]; k > 1 && len(t.Params) == 0 {
			t.Warnings = append(t.Warnings, result.Warning{Code: "unnamed-loop",
				Text:   fmt.Sprintf("qperf's %s is there %d times, and nothing says whether it was repeated or looped over a parameter", t.Name, k),
				Advice: "run qperf with -v, which prints what it loops over"})
		}
	}
}
