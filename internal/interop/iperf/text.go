package iperf

import (
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
)

var (
	rows = regexp.MustCompile(`\[ *(SUM|[0-9]+|\*[0-9]+) *\](?:\[(TX|RX)-([CS])\])?\s+([0-9.]+)- ?([0-9.]+)\s+sec\s+([0-9.]+) ([KMGT]?Bytes)\s+([0-9.]+) ([KMGT]?(?:bits|Bytes)/sec)(.*)$`)
	// heads are lines that belong to an output and have no figure.
	heads    = regexp.MustCompile(`^\s*(\[ *ID *\]|- -|-{20,}|Connecting to host|Reverse mode|iperf Done|Client connecting to|Server listening|TCP window size|UDP buffer size|(Sending|Receiving) [0-9]+ byte|Accepted connection|Starting Test|Time: |Cookie:|TCP MSS|Test Complete|CPU Utilization|(snd|rcv)_tcp_congestion|Control connection MSS|\[ *[0-9]+ *\] (local|Sent|WARNING|Server Report)|Linux \S+ [0-9]|iperf [0-9]+\.|Iperf Done)`)
	dashes   = regexp.MustCompile(`^\s*-{20,}\s*$`)
	command  = regexp.MustCompile(`^\s*\S*.*?\b(iperf3?)\s+(-[A-Za-z-].*)$`)
	datagram = regexp.MustCompile(`([0-9.a-z+-]+) ms\s+([0-9-]+)\s*/\s*([0-9-]+)\s+\(`)
	retrans  = regexp.MustCompile(`^\s+([0-9]+)\s`)
	errors3  = regexp.MustCompile(`iperf3: (error|interrupt)|connect failed:|write failed:|read failed:`)
	peers    = regexp.MustCompile(`(?:Connecting to host|Client connecting to|connected (?:to|with)) ([^ ,]+)`)
	sent     = regexp.MustCompile(`Sent [0-9]+ datagrams`)
)

// row is one line of figures.
type row struct {
	line           int
	id, way        string
	from, to       float64
	number, unit   string
	bits           float64
	rest           string
	sender, recver bool
	omitted        bool
}

// output is one run of a client in the making.
type output struct {
	first, last int
	tool        string
	udp         bool
	reverse     bool
	bidir       bool
	server      bool
	parallel    bool // there are several streams, as the command says
	version     string
	peer        string
	length      string
	rows        []row
	headed      bool // its final head was seen
	failed      string
	failedAt    int
}

// texts reads the outputs that are text, one after another.
func (r *reader) texts() {
	var o output
	for _, l := range r.f.Lines {
		if r.inside[l.No] {
			continue
		}
		text := l.Text
		cmd := command.FindStringSubmatch(text)
		m := rows.FindStringSubmatch(text)
		starts := cmd != nil && !errors3.MatchString(text) && !strings.Contains(text, " sec ") || strings.HasPrefix(strings.TrimSpace(text), "Connecting to host") || strings.Contains(text, "Client connecting to")
		if starts && (len(o.rows) > 0 || o.failed != "" || cmd != nil && o.first > 0) {
			r.end(&o)
			o = output{}
		}
		foreign := m == nil && cmd == nil && strings.TrimSpace(text) != "" && !heads.MatchString(text) && !sent.MatchString(text) && !errors3.MatchString(text)
		if (foreign || dashes.MatchString(text)) && o.total() {
			// What follows the totals is not of this output.
			r.end(&o)
			o = output{}
		} else if foreign && o.tool == "" && len(o.rows) == 0 {
			o = output{} // a rule alone was another's
		}
		switch {
		case m != nil:
			x := rowOf(l.No, m)
			if x.from == 0 && len(o.rows) > 0 && o.over(&x) {
				r.end(&o)
				o = output{}
			}
			o.rows = append(o.rows, x)
		case errors3.MatchString(text):
			o.failed, o.failedAt = strings.TrimSpace(text), l.No
		case cmd != nil:
			o.command(cmd[1], cmd[2])
		case heads.MatchString(text) || sent.MatchString(text):
			o.head(text)
		default:
			continue
		}
		if o.first == 0 {
			o.first = l.No
		}
		o.last = l.No
	}
	r.end(&o)
}

// over says that a row that begins at 0 is of another output than the rows so far: the
// final totals of this one are there already, and are not of other streams.
func (o *output) over(x *row) bool {
	if !o.headed {
		return false
	}
	for _, y := range o.rows {
		if y.id == x.id && y.way == x.way && y.from == 0 && y.to >= x.to && y.line < x.line && (y.sender && x.sender || y.recver && x.recver) {
			return true
		}
	}
	return false
}

func rowOf(line int, m []string) row {
	x := row{line: line, id: m[1], way: m[2], number: m[8], unit: m[9], rest: m[10]}
	x.from, _ = scan.Number(m[4])
	x.to, _ = scan.Number(m[5])
	var ok bool
	if x.bits, ok = rateOf(m[8], m[9]); !ok {
		x.bits = -1
	}
	x.sender, x.recver = strings.Contains(m[10], "sender"), strings.Contains(m[10], "receiver")
	x.omitted = strings.Contains(m[10], "(omitted)")
	return x
}

func (o *output) command(tool, flags string) {
	o.tool = tool
	w := strings.Fields(flags)
	for i, f := range w {
		switch f {
		case "-u", "--udp":
			o.udp = true
		case "-R", "--reverse":
			o.reverse = true
		case "--bidir":
			o.bidir = true
		case "-s", "--server":
			o.server = true
		case "-P", "--parallel":
			o.parallel = i+1 < len(w) && w[i+1] != "1"
		case "-l", "--length":
			if i+1 < len(w) {
				o.length = w[i+1]
			}
		}
	}
}

func (o *output) head(text string) {
	if m := peers.FindStringSubmatch(text); m != nil && o.peer == "" {
		o.peer = m[1]
	}
	t := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(t, "iperf Done"):
		o.tool = "iperf3"
	case strings.HasPrefix(t, "iperf "):
		o.version = strings.TrimPrefix(t, "iperf ")
		o.tool = "iperf3"
	case strings.HasPrefix(t, "Connecting to host") || strings.HasPrefix(t, "iperf Done"):
		o.tool = "iperf3"
	case strings.HasPrefix(t, "Client connecting to") || strings.HasPrefix(t, "Server listening"):
		if o.tool == "" {
			o.tool = "iperf"
		}
		o.udp = o.udp || strings.Contains(t, "UDP")
	case strings.HasPrefix(t, "Reverse mode"):
		o.reverse = true
	}
	if strings.HasPrefix(t, "[ ID") {
		if strings.Contains(t, "Datagrams") || strings.Contains(t, "Jitter") {
			o.udp = true
		}
		if strings.Contains(t, "Bitrate") {
			o.tool = "iperf3"
		}
		if len(o.rows) > 0 {
			o.headed = true
		}
	}
}

// end makes a test of an output.
func (r *reader) end(o *output) {
	if o.first == 0 {
		return
	}
	if len(o.rows) == 0 && o.failed == "" && o.tool == "" {
		return
	}
	r.claim(o.first, o.last)
	if o.failed != "" {
		r.problem(o.failedAt, o.failedAt, "iperf failed: "+o.failed)
		if !o.total() {
			return
		}
	}
	if len(o.rows) == 0 {
		if o.failed == "" && o.last > o.first {
			r.problem(o.first, o.last, "iperf has no row of figures here")
		}
		return
	}
	finals, alone := o.finals()
	if len(finals) == 0 {
		r.problem(o.first, o.last, "iperf's totals are missing: these are intervals of a running test, and none is its result")
		return
	}
	t := scan.Test{}
	t.Tool, t.Line, t.To, t.Version = o.name(), o.first, o.last, o.version
	t.Name = o.testName()
	if n := o.streams(); n > 1 {
		t.Params = append(t.Params, fact("streams", word(n)))
	}
	if o.length != "" && o.udp {
		t.Params = append(t.Params, fact("message", o.length))
	}
	if o.peer != "" {
		t.Facts = append(t.Facts, fact("target", o.peer))
	}
	for _, x := range finals {
		t.Facts = append(t.Facts, fact("elapsed", word2(x.to-x.from)+" s"))
		break
	}
	r.figures(&t, o, finals, alone)
	if r.nothing(&t, o) {
		r.problem(o.first, o.last, "iperf's total is 0 over intervals that are not: it is no result")
		return
	}
	if len(t.Figures) == 0 {
		r.problem(o.first, o.last, "iperf has no figure here that can be")
		return
	}
	r.found.Tests = append(r.found.Tests, t)
}

// nothing says that a total of 0 stands over intervals that are not.
func (r *reader) nothing(t *scan.Test, o *output) bool {
	for i := range t.Figures {
		if f := &t.Figures[i]; f.Unit == "bit/s" && f.Value > 0 {
			return false
		}
	}
	for _, x := range o.rows {
		if x.bits > 0 {
			return true
		}
	}
	return false
}

func (o *output) name() string {
	if o.tool == "" || o.tool == "iperf3" {
		return "iperf3"
	}
	return "iperf2"
}

func (o *output) testName() string {
	name := "tcp"
	if o.udp {
		name = "udp"
	}
	if o.server {
		name += " server"
	}
	for _, x := range o.rows {
		o.bidir = o.bidir || x.way != ""
	}
	switch {
	case o.bidir:
		return name + " bidir"
	case o.reverse:
		return name + " reverse"
	}
	return name
}
