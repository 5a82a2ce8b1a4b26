package iperf

import (
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

// stamped is a line of iperf2's CSV (-y C): a time of 14 digits, maybe with a fraction
// and a zone, then addresses, the stream, the interval, bytes and bits per second; of
// UDP at the receiver also jitter, datagrams lost and all of them, a share, and those
// out of order.
var stamped = regexp.MustCompile(`^\s*[0-9]{14}(\.[0-9]+)?([+-][0-9:]+)?,`)

// csv reads iperf2's CSV. Each line is an interval or a total; a total begins at 0 and
// is the longest of its stream.
func (r *reader) csv() {
	type total struct {
		line  int
		to    float64
		f     []string
		whole bool
	}
	last := map[string]total{}
	var order []string
	for _, l := range r.f.Lines {
		if r.inside[l.No] || !stamped.MatchString(l.Text) {
			continue
		}
		f := strings.Split(strings.TrimSpace(l.Text), ",")
		r.claim(l.No, l.No)
		if len(f) != 9 && len(f) != 14 {
			r.problem(l.No, l.No, "iperf2's CSV has 9 or 14 fields a line, and this one another number")
			continue
		}
		from, to, ok := strings.Cut(f[6], "-")
		a, b := scan.Number(from)
		e, g := scan.Number(to)
		if !ok || !b || !g {
			r.problem(l.No, l.No, "iperf2's CSV has an interval of "+f[6]+", which can't be")
			continue
		}
		key := f[5] + " " + f[1] + " " + f[3]
		t, known := last[key]
		if !known {
			order = append(order, key)
		}
		if a == 0 && (!known || e >= t.to) {
			last[key] = total{l.No, e, f, true}
		} else if !known {
			last[key] = total{line: l.No}
		}
	}
	summed := ""
	for _, k := range order {
		if strings.HasPrefix(k, "-1 ") {
			summed = k
		}
	}
	for _, k := range order {
		if t := last[k]; t.whole && (summed == "" || k == summed) && (summed != "" || len(order) == 1) {
			r.csvTest(t.line, t.f)
		}
	}
	if summed == "" && len(order) > 1 {
		r.problem(last[order[0]].line, last[order[len(order)-1]].line, "iperf2's CSV has several streams and no line of their sum (stream -1)")
	}
}

func (r *reader) csvTest(line int, f []string) {
	t := scan.Test{}
	t.Tool, t.Name, t.Line, t.To = "iperf2", "tcp", line, line
	t.Facts = []result.Fact{fact("target", f[3])}
	bits, ok := scan.Number(f[8])
	if !ok {
		r.problem(line, line, "iperf2's CSV has a rate of "+f[8]+", which can't be")
		return
	}
	if len(f) == 9 {
		t.Figures = []result.ImportedFigure{result.ImportedMetric(result.Offered, result.Local, bits, f[8]+" bits/sec", line)}
		r.found.Tests = append(r.found.Tests, t)
		return
	}
	t.Name = "udp"
	t.Figures = []result.ImportedFigure{result.ImportedMetric(result.Goodput, result.Remote, bits, f[8]+" bits/sec", line)}
	if ms, ok := scan.Number(f[9]); ok {
		r.jitterOf(&t, result.Remote, ms, f[9]+" ms", line)
	}
	lost, a := scan.Number(f[10])
	total, b := scan.Number(f[11])
	if a && b {
		r.lossOf(&t, result.Remote, lost, total, f[10]+" of "+f[11]+" datagrams", line)
	} else {
		r.problem(line, line, "iperf2's CSV has a loss of "+f[10]+" of "+f[11]+", which can't be")
	}
	r.found.Tests = append(r.found.Tests, t)
}
