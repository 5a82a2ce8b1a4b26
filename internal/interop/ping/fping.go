package ping

import (
	"regexp"
	"strconv"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

var (
	fpingReply   = regexp.MustCompile(`^\s*(\S+)\s*: \[([0-9]+)\], (?:([0-9]+) bytes, ([0-9.]+) ms|timed out)`)
	fpingSummary = regexp.MustCompile(`^\s*(\S+)\s*: xmt/rcv/%loss = ([0-9]+)/([0-9]+)/([0-9]+)%(?:, min/avg/max = ([0-9.]+)/([0-9.]+)/([0-9.]+))?`)
)

// fping reads fping's lines of one host: its replies and its summary, or that alone.
// Its times are in milliseconds, which it does not print in a summary.
func (r *reader) fping() bool {
	l := r.f.Lines[r.at]
	if strings.HasPrefix(strings.TrimSpace(l.Text), "#") && strings.Contains(l.Text, "fping ") {
		r.found.Claimed = append(r.found.Claimed, scan.Span{From: l.No, To: l.No})
		r.at++
		return true
	}
	if m := fpingReply.FindStringSubmatch(l.Text); m != nil {
		r.found.Claimed = append(r.found.Claimed, scan.Span{From: l.No, To: l.No})
		r.at++
		if !r.summarised(m[1]) {
			r.problem(l.No, "fping's summary of "+m[1]+" is missing: its single replies are not taken without it")
		}
		return true
	}
	m := fpingSummary.FindStringSubmatch(l.Text)
	if m == nil {
		return false
	}
	r.at++
	s := state{peer: m[1], from: l.No, to: l.No, counted: l.No}
	for _, x := range r.f.Lines[:r.at] {
		if y := fpingReply.FindStringSubmatch(x.Text); y != nil && y[1] == m[1] {
			s.from = min(s.from, x.No)
			if v, ok := scan.Number(y[4]); ok && y[4] != "" {
				if s.first == 0 {
					s.first = x.No
				}
				s.values = append(s.values, v*1e6)
				s.size = y[3]
			}
		}
	}
	s.sent, _ = scan.Number(m[2])
	s.received, _ = scan.Number(m[3])
	if m[5] != "" {
		s.summary(l.No, []string{"", "", m[5] + "/" + m[6] + "/" + m[7], "ms"})
	}
	before := len(r.found.Tests)
	r.add(&s)
	if len(r.found.Tests) > before {
		t := &r.found.Tests[before]
		t.Tool = "fping"
		// The replies' lines may have those of other hosts between them.
		t.Line, t.To = l.No, l.No
		t.Facts = append(t.Facts, result.Fact{Name: "lost", Value: "by fping's own timeout"})
		r.found.Claimed[len(r.found.Claimed)-1] = scan.Span{From: l.No, To: l.No}
	}
	return true
}

// summarised says that a host's summary follows.
func (r *reader) summarised(host string) bool {
	for _, l := range r.f.Lines[r.at:] {
		if m := fpingSummary.FindStringSubmatch(l.Text); m != nil && m[1] == host {
			return true
		}
	}
	return false
}

func word(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
