// Package ping reads what the ping programs print: iputils, of today and of 2001,
// busybox, macOS and the BSDs; and fping.
//
// Every round trip that is printed is kept. Losses are counted from packets sent and
// received, never taken from the printed percentage, which some round down.
package ping

import (
	"regexp"
	"slices"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

// Read finds the outputs in a file.
func Read(f *scan.File) scan.Found {
	r := &reader{f: f, replies: map[string][]fpinged{}}
	for r.at < len(f.Lines) {
		if !r.fping() && !r.ping() {
			r.at++
		}
	}
	r.unsummarised()
	return r.found
}

type reader struct {
	f     *scan.File
	at    int
	found scan.Found
	// replies are fping's, by host, until its summary comes.
	replies map[string][]fpinged
}

var (
	heads   = regexp.MustCompile(`\bPING6?\s+(\S+)\s+(?:\(([0-9a-fA-F.:%]+)\))?.*?\b([0-9]+)(?:\([0-9]+\))?\s+(?:data )?bytes`)
	replies = regexp.MustCompile(`\b[0-9]+ bytes from .*?\btime[=<]\s*([0-9.,]+)\s*(msec|usec|ms|us|s)\b`)
	silent  = regexp.MustCompile(`(?i)request timeout for icmp_seq|no answer yet|Destination (Host|Net|Port) Unreachable|Time to live exceeded|Packet filtered|\(DUP!\)`)
	rules   = regexp.MustCompile(`^\s*-{2,}.*ping6? statistics`)
	counts  = regexp.MustCompile(`([0-9]+) packets transmitted, ([0-9]+) (?:packets )?received(?:, \+?([0-9]+) duplicates)?`)
	summary = regexp.MustCompile(`(?:rtt|round-trip)\s+min/avg/max(/mdev|/stddev|/std-dev)?\s*=\s*([0-9./nan-]+)\s*(ms|us|s|msec|usec)?`)
	command = regexp.MustCompile(`^\S*.*[$#>%]\s.*\bping6?\s`)
)

// nsPer is a unit of time in nanoseconds.
var nsPer = map[string]float64{"us": 1e3, "usec": 1e3, "ms": 1e6, "msec": 1e6, "s": 1e9}

// state is one ping in the making.
type state struct {
	peer, size     string
	from, to       int
	values         []float64
	texts          []string
	first          int // line of the first reply
	sent, received float64
	counted        int // line of the packets' numbers, 0 for none
	dups           float64
	min, avg, max  cell
	dev            cell
	devName        string
	summed         int // line of the round trips' summary
}

type cell struct {
	text string
	v    float64
	ok   bool
}

// ping reads one ping from its first line on.
func (r *reader) ping() bool {
	l := r.f.Lines[r.at]
	m := heads.FindStringSubmatch(l.Text)
	reply := replies.MatchString(l.Text)
	if m == nil && !reply && !rules.MatchString(l.Text) && !counts.MatchString(l.Text) {
		if command.MatchString(l.Text) {
			r.found.Claimed = append(r.found.Claimed, scan.Span{From: l.No, To: l.No})
		}
		return false
	}
	s := state{from: l.No, to: l.No}
	if m != nil {
		s.peer, s.size = m[1], m[3]
		r.at++
	}
	for ; r.at < len(r.f.Lines); r.at++ {
		l := r.f.Lines[r.at]
		if !r.line(&s, l) {
			break
		}
	}
	r.add(&s)
	return true
}

// line takes what a line has of a ping; false if it is none of it.
func (r *reader) line(s *state, l scan.Line) bool {
	text := l.Text
	switch {
	case strings.TrimSpace(text) == "":
		return s.summed == 0
	case heads.MatchString(text):
		return false
	case rules.MatchString(text):
		if s.counted > 0 {
			return false
		}
	case silent.MatchString(text) && !replies.MatchString(text):
	case replies.MatchString(text):
		if s.counted > 0 {
			return false
		}
		m := replies.FindStringSubmatch(text)
		v, ok := scan.Number(m[1])
		if !ok {
			r.problem(l.No, "a round trip of "+m[1]+" can't be")
			break
		}
		if strings.Contains(text, "(DUP!)") {
			break
		}
		if s.first == 0 {
			s.first = l.No
		}
		s.values = append(s.values, v*nsPer[m[2]])
		s.texts = append(s.texts, m[1]+" "+m[2])
	case counts.MatchString(text):
		if s.counted > 0 {
			return false
		}
		m := counts.FindStringSubmatch(text)
		s.sent, _ = scan.Number(m[1])
		s.received, _ = scan.Number(m[2])
		s.dups, _ = scan.Number(m[3])
		s.counted = l.No
	case summary.MatchString(text):
		if s.summed > 0 {
			return false
		}
		s.summary(l.No, summary.FindStringSubmatch(text))
	default:
		return false
	}
	s.to = l.No
	return true
}

func (s *state) summary(line int, m []string) {
	unit := m[3]
	if unit == "" {
		unit = "ms"
	}
	cells := make([]cell, 0, 4)
	for _, w := range strings.Split(strings.Trim(m[2], "/"), "/") {
		v, ok := scan.Number(w)
		cells = append(cells, cell{w + " " + unit, v * nsPer[unit], ok})
	}
	if len(cells) < 3 {
		return
	}
	s.summed, s.min, s.avg, s.max = line, cells[0], cells[1], cells[2]
	if len(cells) > 3 && m[1] != "" {
		s.dev, s.devName = cells[3], strings.TrimPrefix(m[1], "/")
	}
}

func (r *reader) problem(line int, text string) {
	r.found.Problems = append(r.found.Problems, scan.Problem{Span: scan.Span{From: line, To: line}, Text: "ping: " + text})
}

// add makes a test of what was read.
func (r *reader) add(s *state) {
	r.found.Claimed = append(r.found.Claimed, scan.Span{From: s.from, To: s.to})
	t := scan.Test{}
	t.Tool, t.Name, t.Line, t.To = "ping", "icmp_echo", s.from, s.to
	if s.size != "" {
		t.Params = []result.Fact{{Name: "size", Value: s.size}}
	}
	if s.peer != "" {
		t.Facts = append(t.Facts, result.Fact{Name: "target", Value: s.peer})
	}
	r.roundTrips(&t, s)
	switch {
	case s.counted > 0 && (s.sent == 0 || s.received > s.sent):
		r.problem(s.counted, "more packets are received than were sent, or none was sent: no loss can be told")
	case s.counted > 0:
		t.Figures = append(t.Figures, result.ImportedMetric(result.Loss, result.Local, 1-s.received/s.sent, lossText(s), s.counted))
		t.Facts = append(t.Facts, result.Fact{Name: "packets", Value: word(s.sent)})
		if s.dups > 0 && s.received > 0 {
			t.Figures = append(t.Figures, result.ImportedMetric(result.Duplicates, result.Local, s.dups/s.received, word(s.dups)+" duplicates", s.counted))
		}
	case len(s.values) > 0 && s.peer != "":
		t.Warnings = append(t.Warnings, result.Warning{Code: "cut-off", Text: "ping's own count of packets is missing: what was lost is not known, and there may have been more round trips", Advice: "paste all of it"})
	}
	if len(t.Figures) == 0 {
		r.problem(s.from, "nothing but its beginning is here, so there is no figure")
		return
	}
	r.found.Tests = append(r.found.Tests, t)
}

func lossText(s *state) string { return word(s.received) + " of " + word(s.sent) + " received" }

// roundTrips adds the figures of the round trips: by the summary, or else by the single
// ones.
func (r *reader) roundTrips(t *scan.Test, s *state) {
	if s.summed > 0 {
		switch {
		case !s.min.ok || !s.avg.ok || !s.max.ok:
			r.problem(s.summed, "its summary of round trips is not of numbers")
			s.summed = 0
		case s.avg.v < s.min.v || s.avg.v > s.max.v:
			r.problem(s.summed, "its average is not between its shortest and its longest round trip")
			s.summed = 0
		}
	}
	add := func(metric string, v float64, text string, line int) *result.ImportedFigure {
		t.Figures = append(t.Figures, result.ImportedMetric(metric, result.Local, v, text, line))
		return &t.Figures[len(t.Figures)-1]
	}
	n := len(s.values)
	switch {
	case s.summed > 0:
		add(result.RTTMean, s.avg.v, s.avg.text, s.summed).Values = s.values
		add(result.RTTMin, s.min.v, s.min.text, s.summed)
		add(result.RTTMax, s.max.v, s.max.text, s.summed)
		if s.dev.ok {
			add(result.RTTStddev, s.dev.v, s.dev.text+" "+s.devName, s.summed)
		}
	case n > 0:
		sum := 0.0
		for _, v := range s.values {
			sum += v
		}
		add(result.RTTMean, sum/float64(n), "", s.first).Values = s.values
		add(result.RTTMin, slices.Min(s.values), "", s.first)
		add(result.RTTMax, slices.Max(s.values), "", s.first)
	}
	if n > 0 {
		add(result.RTTP50, median(s.values), "", s.first)
	}
}

func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
