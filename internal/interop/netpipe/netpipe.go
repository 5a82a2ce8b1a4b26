// Package netpipe reads the table that NetPIPE's NPtcp prints.
//
// Its times are half of a round trip, in seconds, and its Mbps are 2^20 bits per second
// (NetPIPE's TCP.c and netpipe.c).
package netpipe

import (
	"regexp"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

var (
	latency = regexp.MustCompile(`^\s*Latency:\s*([0-9.]+)\s*$`)
	begins  = regexp.MustCompile(`^\s*Now starting (the )?main loop`)
	rows    = regexp.MustCompile(`^\s*([0-9]+):\s+([0-9]+) bytes\s+([0-9]+) times -->\s+([0-9.]+) Mbps in\s+([0-9.]+) (sec|usec)`)
)

// Read finds the outputs in a file: a test for each size of message, and one for the
// latency that is printed above the table.
func Read(f *scan.File) scan.Found {
	var found scan.Found
	add := func(line int, size string, figures ...result.ImportedFigure) {
		t := scan.Test{}
		t.Tool, t.Name, t.Line, t.To, t.Figures = "NetPIPE", "NPtcp", line, line, figures
		if size != "" {
			t.Params = []result.Fact{{Name: "message", Value: size}}
		} else {
			t.Name = "NPtcp latency"
		}
		found.Tests = append(found.Tests, t)
	}
	for i, l := range f.Lines {
		one := scan.Span{From: l.No, To: l.No}
		switch {
		case latency.MatchString(l.Text) && i+1 < len(f.Lines) && (begins.MatchString(f.Lines[i+1].Text) || rows.MatchString(f.Lines[i+1].Text)):
			text := latency.FindStringSubmatch(l.Text)[1]
			if v, ok := scan.Number(text); ok {
				add(l.No, "", result.ImportedMetric(result.HalfRTTMean, result.Local, v*1e9, text+" s", l.No))
			}
		case begins.MatchString(l.Text):
		case rows.MatchString(l.Text):
			m := rows.FindStringSubmatch(l.Text)
			bits, ok := scan.Number(m[4])
			took, also := scan.Number(m[5])
			if !ok || !also {
				found.Problems = append(found.Problems, scan.Problem{Span: one, Text: "NetPIPE's row has a number that can't be"})
				break
			}
			per := map[string]float64{"sec": 1e9, "usec": 1e3}[m[6]]
			add(l.No, m[2], result.ImportedMetric(result.Throughput, "", bits*(1<<20), m[4]+" Mbps", l.No),
				result.ImportedMetric(result.HalfRTTMean, result.Local, took*per, m[5]+" "+m[6], l.No))
		default:
			continue
		}
		found.Claimed = append(found.Claimed, one)
	}
	return found
}
