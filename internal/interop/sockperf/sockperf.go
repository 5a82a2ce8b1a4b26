// Package sockperf reads what sockperf prints of ping-pong, under-load and throughput.
//
// avg-latency and avg-lat are half of the round trip, avg-rtt is all of it (sockperf's
// --full-rtt). Times are in microseconds. MBps is 2^20 bytes per second, counted at the
// sender.
package sockperf

import (
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

var (
	ours       = regexp.MustCompile(`^\s*(sockperf: |sockperf\[|\[ ?[0-9]+\] IP = )`)
	commands   = regexp.MustCompile(`^\s*\S*.*\bsockperf\s+(ping-pong|pp|under-load|ul|throughput|tp|playback|pb|server|sr)\b(.*)`)
	versions   = regexp.MustCompile(`== version #(\S+) ==`)
	peers      = regexp.MustCompile(`IP = (\S+)\s+PORT = ([0-9]+) # (\S+)`)
	averages   = regexp.MustCompile(`====> (avg-latency|avg-lat|avg-rtt)\s*=\s*([-0-9.na]+)(?:\s*\(std-dev=\s*([-0-9.na]+))?`)
	interval   = regexp.MustCompile(`([0-9.]+)% ci=\[([-0-9.]+), ?([-0-9.]+)\]`)
	percentile = regexp.MustCompile(`---> (?:percentile\s+([0-9.]+)|<(MIN|MAX)> observation)\s*=\s*([-0-9.na]+)`)
	dropped    = regexp.MustCompile(`# dropped messages = ([0-9]+); # duplicated messages = ([0-9]+); # out-of-order messages = ([0-9]+)`)
	valid      = regexp.MustCompile(`\[Valid Duration\] RunTime=([0-9.]+) sec; SentMessages=([0-9]+); ReceivedMessages=([0-9]+)`)
	messages   = regexp.MustCompile(`Summary: Message Rate is ([0-9.]+) \[msg/sec\]`)
	bandwidths = regexp.MustCompile(`Summary: BandWidth is ([0-9.]+) MBps`)
	size       = regexp.MustCompile(`(?:^|\s)(?:-m|--msg-size)[= ]([0-9]+)|msg-size=([0-9]+)\.`)
	observed   = regexp.MustCompile(`Total ([0-9]+) observations`)
)

// Read finds the outputs in a file.
func Read(f *scan.File) scan.Found {
	r := &reader{}
	for _, l := range f.Lines {
		r.line(l)
	}
	r.end()
	return r.found
}

type reader struct {
	found scan.Found
	test  scan.Test
	begun bool
	// full says that the times are of whole round trips.
	full   bool
	failed string
}

func (r *reader) problem(line int, text string) {
	r.found.Problems = append(r.found.Problems, scan.Problem{Span: scan.Span{From: line, To: line}, Text: "sockperf: " + text})
}

func (r *reader) line(l scan.Line) {
	text := l.Text
	if m := commands.FindStringSubmatch(text); m != nil && !strings.HasPrefix(strings.TrimSpace(text), "sockperf: ") {
		r.end()
		r.start(l.No)
		r.test.Name = longName(m[1])
		if s := size.FindStringSubmatch(m[2]); s != nil {
			r.param("message", s[1])
		}
		return
	}
	if !ours.MatchString(text) {
		return
	}
	if strings.Contains(text, "== version #") {
		if r.begun && len(r.test.Figures) > 0 {
			r.end()
		}
	}
	r.start(l.No)
	r.take(l)
}

func longName(name string) string {
	if long, ok := map[string]string{"pp": "ping-pong", "ul": "under-load", "tp": "throughput", "pb": "playback", "sr": "server"}[name]; ok {
		return long
	}
	return name
}

// start begins a test if none has begun.
func (r *reader) start(line int) {
	if !r.begun {
		r.begun = true
		r.test = scan.Test{}
		r.test.Tool, r.test.Line = "sockperf", line
	}
	r.test.To = line
}

func (r *reader) param(name, value string) {
	for _, p := range r.test.Params {
		if p.Name == name {
			return
		}
	}
	r.test.Params = append(r.test.Params, result.Fact{Name: name, Value: value})
}

func (r *reader) fact(name, value string) {
	r.test.Facts = append(r.test.Facts, result.Fact{Name: name, Value: value})
}

// take takes what a line has.
func (r *reader) take(l scan.Line) {
	text := l.Text
	switch {
	case strings.Contains(text, "ERROR") || strings.Contains(text, "errno="):
		r.failed = strings.TrimSpace(text)
	case versions.MatchString(text):
		r.test.Version = versions.FindStringSubmatch(text)[1]
	case peers.MatchString(text):
		m := peers.FindStringSubmatch(text)
		r.fact("target", m[1])
		r.fact("protocol", m[3])
	case averages.MatchString(text):
		r.average(l.No, averages.FindStringSubmatch(text), text)
	case percentile.MatchString(text):
		r.percentile(l.No, percentile.FindStringSubmatch(text))
	case dropped.MatchString(text):
		m := dropped.FindStringSubmatch(text)
		r.fact("dropped", m[1])
		r.fact("duplicated", m[2])
		r.fact("out of order", m[3])
	case valid.MatchString(text):
		r.fact("elapsed", valid.FindStringSubmatch(text)[1]+" s")
	case observed.MatchString(text):
		r.fact("observations", observed.FindStringSubmatch(text)[1])
	case messages.MatchString(text):
		r.add(result.Messages, messages.FindStringSubmatch(text)[1], 1, "msg/sec", l.No)
		r.name("throughput")
	case bandwidths.MatchString(text):
		r.add(result.Offered, bandwidths.FindStringSubmatch(text)[1], 8<<20, "MBps", l.No)
		r.name("throughput")
		r.test.Warnings = append(r.test.Warnings, result.Warning{Code: "udp-at-sender",
			Text:   "sockperf's throughput is what the sender handed over, whatever was lost",
			Advice: "count at the receiver (its server's messages), or use a tool that does"})
	case strings.Contains(text, "msg-size="):
		if s := size.FindStringSubmatch(text); s != nil {
			r.param("message", s[1]+s[2])
		}
	}
}

// name names a test that no command line did.
func (r *reader) name(name string) {
	if r.test.Name == "" {
		r.test.Name = name
	}
}

func (r *reader) add(metric, number string, times float64, unit string, line int) *result.ImportedFigure {
	v, ok := scan.Number(number)
	if !ok {
		r.problem(line, metric+" of "+number+" can't be")
		return nil
	}
	f := result.ImportedMetric(metric, result.Local, v*times, strings.TrimSpace(number+" "+unit), line)
	if r.test.Figure(f.Taken()) != nil {
		r.problem(line, metric+" is there twice")
		return nil
	}
	r.test.Figures = append(r.test.Figures, f)
	return &r.test.Figures[len(r.test.Figures)-1]
}

func (r *reader) average(line int, m []string, text string) {
	r.full = m[1] == "avg-rtt"
	mean, dev := result.HalfRTTMean, result.HalfRTTStddev
	if r.full {
		mean, dev = result.RTTMean, result.RTTStddev
	}
	f := r.add(mean, m[2], 1e3, "us", line)
	if ci := interval.FindStringSubmatch(text); ci != nil && f != nil && f.Value > 0 {
		level, a := scan.Number(ci[1])
		lo, b := scan.Number(ci[2])
		hi, c := scan.Number(ci[3])
		if a && b && c && hi >= lo {
			f.LevelPct, f.WidthPct = level, 100*(hi-lo)*1e3/f.Value
		}
	}
	if m[3] != "" {
		r.add(dev, m[3], 1e3, "us", line)
	}
}

// places are the metrics of the percentiles, half and whole.
var places = map[string][2]string{
	"25.000": {result.HalfRTTP25, result.RTTP25}, "50.000": {result.HalfRTTP50, result.RTTP50}, "75.000": {result.HalfRTTP75, result.RTTP75},
	"90.000": {result.HalfRTTP90, result.RTTP90}, "99.000": {result.HalfRTTP99, result.RTTP99}, "99.900": {result.HalfRTTP999, result.RTTP999},
	"99.990": {result.HalfRTTP9999, result.RTTP9999}, "99.999": {result.HalfRTTP99999, result.RTTP99999},
	"MIN": {result.HalfRTTMin, result.RTTMin}, "MAX": {result.HalfRTTMax, result.RTTMax},
}

func (r *reader) percentile(line int, m []string) {
	names, known := places[m[1]+m[2]]
	if !known {
		r.problem(line, "percentile "+m[1]+" is not taken")
		return
	}
	metric := names[0]
	if r.full {
		metric = names[1]
	}
	r.add(metric, m[3], 1e3, "us", line)
}

// end ends the test that was begun.
func (r *reader) end() {
	if !r.begun {
		return
	}
	r.begun = false
	t := r.test
	failed := r.failed
	r.full, r.failed = false, ""
	span := scan.Span{From: t.Line, To: t.To}
	r.found.Claimed = append(r.found.Claimed, span)
	if t.Name == "" {
		t.Name = "latency"
	}
	if t.Name == "throughput" || t.Name == "latency" {
		// Which of its modes measured a latency, nothing says without the command line.
		t.Name = map[string]string{"throughput": "throughput", "latency": "ping-pong or under-load"}[t.Name]
	}
	switch {
	case len(t.Figures) > 0 && averageWithin(&t):
		r.found.Tests = append(r.found.Tests, t)
	case len(t.Figures) > 0:
		r.found.Problems = append(r.found.Problems, scan.Problem{Span: span, Text: "sockperf: the average is not between the shortest and the longest: none of it is taken"})
	case failed != "":
		r.found.Problems = append(r.found.Problems, scan.Problem{Span: span, Text: "sockperf failed and has no result: " + failed})
	default:
		r.found.Problems = append(r.found.Problems, scan.Problem{Span: span, Text: "sockperf printed no figure here"})
	}
}

// averageWithin says that the mean lies between the shortest and the longest, where
// those are there.
func averageWithin(t *scan.Test) bool {
	for _, n := range [][3]string{{result.HalfRTTMin, result.HalfRTTMean, result.HalfRTTMax}, {result.RTTMin, result.RTTMean, result.RTTMax}} {
		lo, mean, hi := t.Figure(result.Taken{Name: n[0], End: result.Local}), t.Figure(result.Taken{Name: n[1], End: result.Local}), t.Figure(result.Taken{Name: n[2], End: result.Local})
		if mean != nil && (lo != nil && mean.Value < lo.Value || hi != nil && mean.Value > hi.Value) {
			return false
		}
	}
	return true
}
