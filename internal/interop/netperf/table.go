package netperf

import (
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

// bitsPer are the units of throughput, in bits per second.
var bitsPer = map[string]float64{
	"10^3bits": 1e3, "10^6bits": 1e6, "10^9bits": 1e9,
	"KBytes": 8 << 10, "MBytes": 8 << 20, "GBytes": 8 << 30,
}

// throughputUnit is a unit's word, with either ending of "per second".
func throughputUnit(word string) (float64, bool) {
	for _, end := range []string{"/sec", "/s"} {
		if unit, ok := strings.CutSuffix(word, end); ok {
			bits, known := bitsPer[unit]
			return bits, known
		}
	}
	return 0, false
}

// columns are those of a table by the last line of its head, which has their units.
type columns struct {
	kind string // "stream", "udp" or "rr"
	bits float64
	unit string
	cpu  bool
}

// columnsOf reads the units' line. Blanks in it may have been lost.
func columnsOf(text string) (columns, bool) {
	w := strings.Fields(strings.ToLower(text))
	orig := strings.Fields(text)
	has := func(at int, want ...string) bool {
		if len(w) < at+len(want) {
			return false
		}
		for i, x := range want {
			if strings.TrimSuffix(w[at+i], ".") != x {
				return false
			}
		}
		return true
	}
	c := columns{cpu: strings.Contains(text, "us/KB") || strings.Contains(text, "us/Tr")}
	var at int
	switch {
	case has(0, "bytes", "bytes", "bytes", "bytes", "secs", "per", "sec"):
		c.kind = "rr"
		return c, true
	case has(0, "bytes", "bytes", "bytes", "secs"):
		c.kind, at = "stream", 4
	case has(0, "bytes", "bytes", "secs", "#", "#"):
		c.kind, at = "udp", 5
	default:
		return c, false
	}
	if len(orig) <= at {
		return c, false
	}
	var ok bool
	c.unit = orig[at]
	c.bits, ok = throughputUnit(orig[at])
	return c, ok
}

// table reads a classic table: the lines of its head, of which the last one has the
// units, and the row or rows of figures below.
func (r *reader) table() bool {
	c, ok := columnsOf(r.line(0).Text)
	if !ok {
		return false
	}
	first := r.line(0).No
	for i := r.at - 1; i >= 0 && r.at-i <= 8 && isHead(r.f.Lines[i].Text); i-- {
		first = r.f.Lines[i].No
	}
	if r.next.to > 0 && r.next.to >= first {
		first = r.next.to + 1
	}
	n := 1
	for n < 4 && r.line(n).Text == "" && r.at+n < len(r.f.Lines) {
		n++
	}
	row := numbers(r.line(n).Text)
	t := scan.Test{}
	var last int
	switch c.kind {
	case "stream":
		last = r.stream(&t, c, row, n)
	case "rr":
		last = r.rr(&t, c, row, n)
	case "udp":
		last = r.udp(&t, c, row, n)
	}
	if last == 0 {
		r.drop()
		r.problem(first, r.line(0).No, "netperf's table has no row of figures below its head")
		r.at++
		return true
	}
	from := first
	if r.next.from > 0 {
		from = r.next.from
	}
	r.add(t, from, last)
	for r.at < len(r.f.Lines) && r.f.Lines[r.at].No <= last {
		r.at++
	}
	return true
}

// headWords are those of a table's head alone.
var headWords = []string{"Recv", "Socket", "Size", "Local", "Send", "bytes", "Message", "Elapsed"}

func isHead(text string) bool {
	w := strings.Fields(text)
	if len(w) == 0 || strings.Contains(text, " TEST") || strings.Contains(text, "!!!") {
		return false
	}
	for _, h := range headWords {
		if w[0] == h {
			return true
		}
	}
	return false
}

// cell is a field of a row: its number, or why it has none.
type cell struct {
	text string
	v    float64
	ok   bool
}

// unmeasured is what netperf prints for what it was not asked to measure.
func (c cell) unmeasured() bool {
	return strings.HasPrefix(c.text, "-1") && strings.Trim(c.text, "-1.0") == ""
}

// numbers are the fields of a row, nil if the first one is no number.
func numbers(text string) []cell {
	var all []cell
	for _, w := range strings.Fields(text) {
		v, ok := scan.Number(w)
		c := cell{w, v, ok}
		if len(all) == 0 && !ok {
			return nil
		}
		if !ok && !strings.HasPrefix(w, "-") && w != "nan" && w != "inf" {
			break // something typed behind the row
		}
		all = append(all, c)
	}
	return all
}

func fact(name, value string) result.Fact { return result.Fact{Name: name, Value: value} }

// figure adds a figure if the field has one, and says so if it has none that can be.
func (r *reader) figure(t *scan.Test, metric, end string, c cell, times float64, unit string, line int) {
	switch {
	case c.ok && (metric != result.CPUUtil || c.v*times <= 1.0001):
		t.Figures = append(t.Figures, result.ImportedMetric(metric, end, c.v*times, strings.TrimSpace(c.text+" "+unit), line))
	case c.unmeasured():
	default:
		r.found.Problems = append(r.found.Problems, scan.Problem{Span: scan.Span{From: line, To: line}, Text: "netperf's " + metric + " of " + c.text + " can't be"})
	}
}

func (r *reader) stream(t *scan.Test, c columns, row []cell, n int) int {
	if len(row) < 5 || c.cpu && len(row) < 9 {
		return 0
	}
	line := r.line(n).No
	t.Name = "stream"
	t.Params = []result.Fact{fact("message", row[2].text)}
	t.Facts = []result.Fact{fact("receive socket", row[0].text+" B"), fact("send socket", row[1].text+" B"), fact("elapsed", row[3].text+" s")}
	end := result.Remote
	if r.next.name == "TCP_MAERTS" {
		end = result.Local
	}
	r.figure(t, result.Goodput, end, row[4], c.bits, c.unit, line)
	if c.cpu {
		r.figure(t, result.CPUUtil, result.Local, row[5], 0.01, "%", line)
		r.figure(t, result.CPUUtil, result.Remote, row[6], 0.01, "%", line)
		r.figure(t, result.CPUPerByte, result.Local, row[7], 1e-6/1024, "us/KB", line)
		r.figure(t, result.CPUPerByte, result.Remote, row[8], 1e-6/1024, "us/KB", line)
	}
	return line
}

func (r *reader) rr(t *scan.Test, c columns, row []cell, n int) int {
	if len(row) < 6 || c.cpu && len(row) < 10 {
		return 0
	}
	line := r.line(n).No
	t.Name = "rr"
	t.Params = []result.Fact{fact("request", row[2].text), fact("response", row[3].text)}
	t.Facts = []result.Fact{fact("send socket", row[0].text+" B"), fact("receive socket", row[1].text+" B"), fact("elapsed", row[4].text+" s")}
	r.figure(t, result.Rate, result.Local, row[5], 1, "Trans/s", line)
	if c.cpu {
		r.figure(t, result.CPUUtil, result.Local, row[6], 0.01, "%", line)
		r.figure(t, result.CPUUtil, result.Remote, row[7], 0.01, "%", line)
		r.figure(t, result.CPUPerOp, result.Local, row[8], 1e-6, "us/Tr", line)
		r.figure(t, result.CPUPerOp, result.Remote, row[9], 1e-6, "us/Tr", line)
	}
	if second := numbers(r.line(n + 1).Text); len(second) == 2 {
		t.Facts = append(t.Facts, fact("remote sockets", second[0].text+" and "+second[1].text+" B"))
		return r.line(n + 1).No
	}
	return line
}

// udp reads the sender's row, and the receiver's below it. Without that one it is not
// known what came through.
func (r *reader) udp(t *scan.Test, c columns, row []cell, n int) int {
	if len(row) < 6 {
		return 0
	}
	line := r.line(n).No
	t.Name = "UDP_STREAM"
	t.Params = []result.Fact{fact("message", row[1].text)}
	t.Facts = []result.Fact{fact("send socket", row[0].text+" B"), fact("elapsed", row[2].text+" s"), fact("send errors", row[4].text)}
	r.figure(t, result.Offered, result.Local, row[5], c.bits, c.unit, line)
	if c.cpu && len(row) >= 8 {
		r.figure(t, result.CPUUtil, result.Local, row[6], 0.01, "%", line)
		r.figure(t, result.CPUPerByte, result.Local, row[7], 1e-6/1024, "us/KB", line)
	}
	second := numbers(r.line(n + 1).Text)
	if len(second) < 4 {
		t.Warnings = append(t.Warnings, result.Warning{Code: "udp-at-sender",
			Text: "the receiver's row of netperf's UDP_STREAM is missing: what is there was counted at the sender, whatever was lost", Advice: "post both rows"})
		return line
	}
	at := r.line(n + 1).No
	t.Facts = append(t.Facts, fact("receive socket", second[0].text+" B"))
	r.figure(t, result.Goodput, result.Remote, second[3], c.bits, c.unit, at)
	if sent, got := row[3], second[2]; sent.ok && got.ok && sent.v > 0 && got.v <= sent.v {
		t.Figures = append(t.Figures, result.ImportedMetric(result.Loss, result.Remote, 1-got.v/sent.v, got.text+" of "+sent.text+" messages", at))
	}
	if c.cpu && len(second) >= 6 {
		r.figure(t, result.CPUUtil, result.Remote, second[4], 0.01, "%", at)
		r.figure(t, result.CPUPerByte, result.Remote, second[5], 1e-6/1024, "us/KB", at)
	}
	return at
}
