package ping

import (
	"maps"
	"regexp"
	"slices"
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
		if v, ok := scan.Number(m[4]); ok {
			r.replies[m[1]] = append(r.replies[m[1]], fpinged{l.No, v * 1e6, m[3]})
		}
		return true
	}
	m := fpingSummary.FindStringSubmatch(l.Text)
	if m == nil {
		return false
	}
	r.at++
	s := state{peer: m[1], from: l.No, to: l.No, counted: l.No}
	for _, y := range r.replies[m[1]] {
		if s.first == 0 {
			s.first = y.line
		}
		s.values, s.size = append(s.values, y.ns), y.size
	}
	delete(r.replies, m[1]) // of another fping, those that follow
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

// fpinged is one reply.
type fpinged struct {
	line int
	ns   float64
	size string
}

// unsummarised says of replies that no summary followed.
func (r *reader) unsummarised() {
	for _, host := range slices.Sorted(maps.Keys(r.replies)) {
		r.problem(r.replies[host][0].line, "fping's summary of "+host+" is missing: its single replies are not taken without it")
	}
}

func word(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
