// Package nuttcp reads what nuttcp prints: a line for each interval, and one for the
// whole test, which alone has the CPUs' shares (%TX, %RX).
//
// MB is 2^20 bytes and Mbps 10^6 bits per second, on one line (nuttcp.c). The rate of
// UDP is the receiver's.
package nuttcp

import (
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

var (
	rows     = regexp.MustCompile(`^\s*([0-9.]+) (KB|MB|GB) /\s+([0-9.]+) sec =\s+([0-9.]+) (Kbps|Mbps|Gbps)\b(.*)$`)
	shares   = regexp.MustCompile(`([0-9]+) %TX\s+([0-9]+) %RX`)
	retrans  = regexp.MustCompile(`\b([0-9]+) retrans\b`)
	rtts     = regexp.MustCompile(`([0-9.]+) msRTT\b`)
	drops    = regexp.MustCompile(`([0-9]+) /\s*([0-9]+) drop/pkt`)
	commands = regexp.MustCompile(`^\s*\S*.*\bnuttcp\s`)
)

var rates = map[string]float64{"Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}

// Read finds the outputs in a file.
func Read(f *scan.File) scan.Found {
	var found scan.Found
	began, last := 0, 0
	for _, l := range f.Lines {
		one := scan.Span{From: l.No, To: l.No}
		m := rows.FindStringSubmatch(joined(f, l.No))
		if m == nil {
			if commands.MatchString(l.Text) {
				found.Claimed = append(found.Claimed, one)
			}
			continue
		}
		found.Claimed = append(found.Claimed, one)
		if began == 0 {
			began = l.No
		}
		last = l.No
		if !shares.MatchString(m[6]) {
			continue // an interval of a test
		}
		test(&found, m, began, l.No)
		began = 0
	}
	if began > 0 {
		found.Problems = append(found.Problems, scan.Problem{Span: scan.Span{From: began, To: last}, Text: "nuttcp's intervals have no total (the line with %TX): none of them is the result"})
	}
	return found
}

// joined is a line with the next one behind it, where a mail has broken it before the
// round trip.
func joined(f *scan.File, no int) string {
	text := f.Lines[no-1].Text
	if no < len(f.Lines) && rows.MatchString(text) && !strings.Contains(text, "msRTT") {
		if next := strings.TrimSpace(f.Lines[no].Text); rtts.MatchString(next) && !rows.MatchString(next) && len(next) < 20 {
			return text + " " + next
		}
	}
	return text
}

func test(found *scan.Found, m []string, from, line int) {
	t := scan.Test{}
	t.Tool, t.Name, t.Line, t.To = "nuttcp", "tcp", from, line
	t.Facts = []result.Fact{{Name: "elapsed", Value: m[3] + " s"}}
	problem := func(text string) {
		found.Problems = append(found.Problems, scan.Problem{Span: scan.Span{From: line, To: line}, Text: "nuttcp's " + text + " can't be"})
	}
	add := func(metric, end, number string, times float64, unit string) {
		v, ok := scan.Number(number)
		if !ok || metric == result.CPUUtil && v > 100 {
			problem(metric + " of " + number)
			return
		}
		t.Figures = append(t.Figures, result.ImportedMetric(metric, end, v*times, strings.TrimSpace(number+" "+unit), line))
	}
	add(result.Goodput, result.Remote, m[4], rates[m[5]], m[5])
	if s := shares.FindStringSubmatch(m[6]); s != nil {
		// The transmitter is the local end unless -r was given, which is not printed.
		add(result.CPUUtil, result.Local, s[1], 0.01, "%TX")
		add(result.CPUUtil, result.Remote, s[2], 0.01, "%RX")
	}
	if s := retrans.FindStringSubmatch(m[6]); s != nil {
		add(result.Retransmitted, result.Local, s[1], 1, "retrans")
	}
	if s := rtts.FindStringSubmatch(m[6]); s != nil {
		add(result.RTTMean, result.Local, s[1], 1e6, "msRTT")
	}
	if s := drops.FindStringSubmatch(m[6]); s != nil {
		t.Name = "udp"
		lost, a := scan.Number(s[1])
		all, b := scan.Number(s[2])
		if a && b && all > 0 && lost <= all {
			t.Figures = append(t.Figures, result.ImportedMetric(result.Loss, result.Remote, lost/all, s[1]+" of "+s[2]+" packets", line))
		} else {
			problem("loss of " + s[1] + " of " + s[2])
		}
	}
	if len(t.Figures) > 0 {
		found.Tests = append(found.Tests, t)
	}
}
