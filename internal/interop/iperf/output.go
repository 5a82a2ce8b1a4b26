package iperf

import (
	"math"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

// output is one run of a client, or a test in a server's, in the making.
type output struct {
	options
	first, last int
	tool        string // "iperf" (2), "iperf3", or empty while it is not known
	said        bool   // its first lines are here, so that what they do not say is not so
	version     string
	peer        string
	connected   map[string]bool // streams whose connection is told of
	rows        []row
	flagged     bool // a row says whose it is
	reported    bool // the server's report (iperf2) was seen
	rtry        bool // iperf2's -e: there is a column of what was sent again
	headedAt    int  // line of the head of its totals
	cpu         [2]string
	cpuAt       int
	failed      string
	failedAt    int
}

// end makes a test of an output.
func (r *reader) end(o *output) {
	if o.first == 0 || len(o.rows) == 0 && o.failed == "" && o.tool == "" && !o.said {
		return
	}
	r.claim(o.first, o.last)
	finals := o.finals()
	if o.failed != "" {
		r.problem(o.failedAt, o.failedAt, "iperf failed: "+o.failed)
	}
	switch {
	case len(finals) > 0:
	case o.failed != "":
		return
	case len(o.rows) == 0:
		if o.last > o.first && !o.server {
			r.problem(o.first, o.last, "iperf has no row of figures here")
		}
		return
	case o.both:
		r.problem(o.first, o.last, "iperf2 measured the two directions here (-d or -r), and its rows do not say which is which")
		return
	default:
		r.problem(o.first, o.last, "iperf's totals are missing: these are intervals of a running test, or streams without their sum, and none is its result")
		return
	}
	t := scan.Test{}
	o.turn(finals)
	t.Tool, t.Line, t.To, t.Version = o.name(), o.first, o.last, o.version
	t.Name = o.testName()
	if n := o.count(); n > 1 {
		t.Params = append(t.Params, fact("streams", word(n)))
	}
	if o.length != "" {
		t.Params = append(t.Params, fact("message", o.length))
	}
	r.facts(&t, o, finals)
	empty := r.figures(&t, o, finals)
	if len(t.Figures) == 0 {
		if !empty {
			r.problem(o.first, o.last, "iperf has no figure here that can be")
		}
		return
	}
	r.cpu(&t, o)
	r.found.Tests = append(r.found.Tests, t)
}

func (r *reader) facts(t *scan.Test, o *output, finals []row) {
	asked := ""
	if o.asked != "" {
		asked = askedOf(o.tool, o.asked)
	}
	omitted := ""
	if o.omit != "" {
		omitted = o.omit + " s"
	}
	elapsed := word2(math.Round((finals[0].to-finals[0].from)*1e4)/1e4) + " s"
	for _, f := range []result.Fact{fact("target", o.peer), fact("congestion", o.congestion), fact("omitted", omitted), fact("rate asked for", asked), fact("elapsed", elapsed)} {
		if f.Value != "" {
			t.Facts = append(t.Facts, f)
		}
	}
}

// cpu adds the CPU time of the two processes, which iperf3 prints with -V: of the one
// that prints it first.
func (r *reader) cpu(t *scan.Test, o *output) {
	ends := [2]string{result.Local, result.Remote}
	if o.server {
		ends = [2]string{result.Remote, result.Local}
	}
	for i, text := range o.cpu {
		if v, ok := scan.Number(text); ok && v > 0 && v <= maxCPU {
			t.Figures = append(t.Figures, result.ImportedMetric(result.CPUProcess, ends[i], v/100, text+"%", o.cpuAt))
		}
	}
}

// turn finds out the direction where it is not said: a server's rows are those of its
// own end, and a client's intervals have what was sent again only if it sends.
func (o *output) turn(finals []row) {
	if o.name() == "iperf2" || o.reverse || o.bidir || finals[0].way != "" {
		return
	}
	intervals, sends := 0, 0
	for i := range o.rows {
		if x := &o.rows[i]; !x.flagged() {
			intervals++
			if !o.udp && retrans.MatchString(x.rest+" ") || o.udp && !datagram.MatchString(x.rest) {
				sends++
			}
		}
	}
	resent, sender, recver := false, false, false
	for i := range finals {
		x := &finals[i]
		resent = resent || x.sender && (o.udp || retrans.MatchString(x.rest))
		sender = sender || x.sender && x.bits > 0
		recver = recver || x.recver && x.bits > 0
	}
	switch {
	case o.server:
		o.reverse = sender && (!recver || sends > 0)
	case !o.said:
		// A pasted block: "Reverse mode" may have been left out.
		o.reverse = resent && intervals > 0 && sends == 0
	}
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
	for i := range o.rows {
		o.bidir = o.bidir || o.rows[i].way != ""
		o.reverse = o.reverse || strings.HasPrefix(o.rows[i].id, "*")
	}
	switch {
	case o.bidir:
		return name + " bidir"
	case o.reverse:
		return name + " reverse"
	}
	return name
}
