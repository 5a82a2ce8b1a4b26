package iperf

import (
	"math"
	"strconv"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

func word(n int) string { return strconv.Itoa(n) }

// word2 writes seconds as a person would.
func word2(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// count is how many streams there were in a direction: those with rows, or that were
// told of, or asked for.
func (o *output) count() int {
	ids, ways := map[string]bool{}, false
	for i := range o.rows {
		x := &o.rows[i]
		ways = ways || x.way != ""
		if x.id != "SUM" && !strings.HasPrefix(x.way, "RX") {
			ids[x.id] = true
		}
	}
	told := len(o.connected)
	if ways || o.bidir {
		told /= 2
	}
	return max(len(ids), told, o.streams)
}

// total says that the output has a total.
func (o *output) total() bool { return len(o.finals()) > 0 }

// finals are the rows that stand for the whole test: those that say whose they are, of
// [SUM] if there is one; or the one row that spans all others, where none says so.
func (o *output) finals() []row {
	if o.both {
		return nil
	}
	var finals []row
	summed, reports := false, 0
	for i := range o.rows {
		summed = summed || o.rows[i].id == "SUM" && o.rows[i].flagged()
		if o.rows[i].report {
			reports++
		}
	}
	for i := range o.rows {
		if x := &o.rows[i]; x.flagged() && !x.omitted && (!summed || x.id == "SUM") {
			finals = append(finals, *x)
		}
	}
	if len(finals) > 0 {
		if !summed && o.count() > 1 {
			return nil // totals of streams without their sum: some may be missing
		}
		return finals
	}
	whole := o.whole()
	if whole == nil {
		return nil
	}
	finals = []row{*whole}
	if reports == 1 && o.count() <= 1 {
		for i := range o.rows {
			if o.rows[i].report {
				finals = append(finals, o.rows[i])
			}
		}
	}
	return finals
}

// whole is the row that spans all others, where none says whose it is: iperf2's, and
// iperf3's before 3.2 over UDP.
func (o *output) whole() *row {
	sum := false
	for i := range o.rows {
		sum = sum || o.rows[i].id == "SUM"
	}
	if !sum && o.count() > 1 {
		return nil
	}
	if o.tool == "iperf3" && o.headedAt == 0 {
		return nil // its totals have a second head
	}
	var whole *row
	longer := 0.0
	others := 0
	for i := range o.rows {
		x := &o.rows[i]
		if x.omitted || x.report {
			continue
		}
		longer = max(longer, x.to)
		if sum && x.id != "SUM" {
			continue
		}
		others++
		if !x.begins() || x.line < o.headedAt && o.tool != "iperf" {
			continue
		}
		if whole == nil || x.to >= whole.to {
			whole = x
		}
	}
	switch {
	case whole == nil, longer > whole.to+0.005 && !sum, longer > whole.to+1:
		return nil
	case others == 1 && o.headedAt == 0 && !o.reported && o.first1(whole):
		return nil
	}
	for i := range o.rows {
		if x := &o.rows[i]; x.id == whole.id && x.line > whole.line && !x.report && !x.omitted {
			return nil // it goes on
		}
	}
	return whole
}

// first1 says that a lone row may be the first interval of a test that was cut off
// there: it is as long as the intervals are, if the command tells, or a second, which
// hardly any test lasts. (Of iperf3's rows with no head of totals only those of UDP
// can be a total.)
func (o *output) first1(x *row) bool {
	length := x.to - x.from
	is := func(seconds float64) bool { return math.Abs(length-seconds) < 0.006 }
	if o.seconds > 0 && is(o.seconds) {
		return false
	}
	if o.every > 0 && is(o.every) || is(1) {
		return true
	}
	return o.tool == "" && x.fine && !datagram.MatchString(x.rest)
}

// figures adds what the totals have; true if one was left out and the file was told.
func (r *reader) figures(t *scan.Test, o *output, finals []row) (told bool) {
	iperf2 := o.name() == "iperf2"
	for i := range finals {
		x := &finals[i]
		reverse := o.reverse || x.way == "RX-C" || x.way == "TX-S"
		sender, receiver := ends(reverse)
		text := x.number + " " + x.unit
		add := func(metric, end string, v float64, text string) {
			f := result.ImportedMetric(metric, end, v, text, x.line)
			if t.Figure(f.Taken()) == nil {
				t.Figures = append(t.Figures, f)
			}
		}
		if x.bits < 0 {
			r.problem(x.line, x.line, "iperf: a rate of "+text+" can't be")
			told = true
			continue
		}
		if x.bits == 0 && !x.lost() && o.moved(x) {
			if !o.server { // a server's first versions print a row of the other end
				r.problem(x.line, x.line, "iperf's total is 0 over intervals that are not, or at one end alone: it is no result")
				told = true
			}
			continue
		}
		alone := !x.flagged() && !x.report
		switch {
		case x.recver, x.report, alone && iperf2 && (o.server || reverse):
			add(result.Goodput, receiver, x.bits, text)
		default:
			add(result.Offered, sender, x.bits, text)
		}
		if m := o.resent(x); m != "" && !(alone && o.server) {
			if n, ok := scan.Number(m); ok {
				add(result.Retransmitted, sender, n, m)
			}
		}
		if m := datagram.FindStringSubmatch(x.rest); m != nil && !x.sender {
			r.datagrams(t, receiver, m, x.line)
		}
	}
	if o.udp && len(t.Figures) > 0 && !received(t) {
		atSender(t, t.Tool)
	}
	return told
}

func received(t *scan.Test) bool {
	return t.Figure(result.Taken{Name: result.Goodput, End: result.Local}) != nil || t.Figure(result.Taken{Name: result.Goodput, End: result.Remote}) != nil
}

// moved says that a total of 0 can't be: in its direction other rows are not.
func (o *output) moved(zero *row) bool {
	for i := range o.rows {
		if x := &o.rows[i]; x.way == zero.way && x.bits > 0 && !x.omitted {
			return true
		}
	}
	return false
}

// resent is how many segments a row says were sent again; empty if it does not.
func (o *output) resent(x *row) string {
	pattern := retrans
	if o.udp || !x.sender {
		if !o.rtry || x.flagged() {
			return ""
		}
		pattern = writes
	}
	if m := pattern.FindStringSubmatch(x.rest); m != nil {
		return m[1]
	}
	return ""
}

// datagrams adds jitter and loss of a row.
func (r *reader) datagrams(t *scan.Test, receiver string, m []string, line int) {
	if t.Figure(result.Taken{Name: result.Loss, End: receiver}) != nil || t.Figure(result.Taken{Name: result.Jitter, End: receiver}) != nil {
		return
	}
	if ms, ok := scan.Number(m[1]); ok {
		r.jitterOf(t, receiver, ms, m[1]+" ms", line)
	} else {
		r.problem(line, line, "iperf: a jitter of "+m[1]+" ms can't be")
	}
	lost, a := scan.Number(m[2])
	total, b := scan.Number(m[3])
	text := strings.TrimSpace(m[2]) + " of " + m[3] + " datagrams"
	if !a || !b {
		r.problem(line, line, "iperf: a loss of "+text+" can't be")
		return
	}
	r.lossOf(t, receiver, lost, total, text, line)
}
