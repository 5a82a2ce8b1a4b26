// Package ntttcp reads the totals that ntttcp-for-linux prints. How many connections
// there were is a parameter: it opens 64 by default, which nothing else does.
package ntttcp

import (
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

var (
	begins  = regexp.MustCompile(`^\s*NTTTCP for Linux (\S+)`)
	log     = regexp.MustCompile(`^\s*(?:[0-9]{2}:[0-9]{2}:[0-9]{2}\s+)?(?:INFO|ERR|DBG|\*\*ERR):?\s*(.*)$`)
	flows   = regexp.MustCompile(`^([0-9]+) connections (?:tested|created)`)
	values  = regexp.MustCompile(`^\s*([a-z][a-z /()]*?)\s*:\s*([0-9.]+)\s*(\S*)`)
	command = regexp.MustCompile(`^\s*\S*.*\bntttcp\s+-`)
	rule    = regexp.MustCompile(`^\s*-{10,}\s*$`)
)

var rates = map[string]float64{"bps": 1, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}

// Read finds the outputs in a file.
func Read(f *scan.File) scan.Found {
	var found scan.Found
	for at := 0; at < len(f.Lines); at++ {
		m := begins.FindStringSubmatch(f.Lines[at].Text)
		if m == nil {
			if command.MatchString(f.Lines[at].Text) {
				found.Claimed = append(found.Claimed, scan.Span{From: f.Lines[at].No, To: f.Lines[at].No})
			}
			continue
		}
		at = test(f, at, m[1], &found)
	}
	return found
}

func test(f *scan.File, at int, version string, found *scan.Found) int {
	t := scan.Test{}
	t.Tool, t.Name, t.Version, t.Line, t.To = "ntttcp", "tcp", version, f.Lines[at].No, f.Lines[at].No
	totals := false
	for at+1 < len(f.Lines) {
		l := f.Lines[at+1]
		m := log.FindStringSubmatch(l.Text)
		if m == nil && !rule.MatchString(l.Text) {
			break
		}
		at++
		t.To = l.No
		if m == nil {
			continue
		}
		totals = totals || strings.Contains(m[1], "Totals")
		if x := flows.FindStringSubmatch(m[1]); x != nil && len(t.Params) == 0 {
			t.Params = []result.Fact{{Name: "connections", Value: x[1]}}
		}
		if v := values.FindStringSubmatch(m[1]); v != nil && totals {
			value(&t, v, l.No)
		}
	}
	span := scan.Span{From: t.Line, To: t.To}
	found.Claimed = append(found.Claimed, span)
	if len(t.Figures) == 0 {
		found.Problems = append(found.Problems, scan.Problem{Span: span, Text: "ntttcp's totals are not here, so there is no figure"})
		return at
	}
	found.Tests = append(found.Tests, t)
	return at
}

// value takes one of the totals. Those of the CPU are of the end that prints them, all
// of its CPUs together.
func value(t *scan.Test, m []string, line int) {
	v, ok := scan.Number(m[2])
	text := strings.TrimSpace(m[2] + " " + m[3])
	if !ok {
		return
	}
	switch m[1] {
	case "throughput":
		if times, known := rates[m[3]]; known {
			t.Figures = append(t.Figures, result.ImportedMetric(result.Throughput, "", v*times, text, line))
		}
	case "retrans segs":
		t.Figures = append(t.Figures, result.ImportedMetric(result.Retransmitted, result.Local, v, text, line))
	case "cpu busy (all)":
		t.Figures = append(t.Figures, result.ImportedMetric(result.CPU, result.Local, v/100, text, line))
	default:
		t.Facts = append(t.Facts, result.Fact{Name: m[1], Value: text})
	}
}
