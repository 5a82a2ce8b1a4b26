package iperf

import (
	"strconv"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

func word(n int) string { return strconv.Itoa(n) }

// word2 writes seconds as a person would.
func word2(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// streams is how many streams had rows.
func (o *output) streams() int {
	ids := map[string]bool{}
	for _, x := range o.rows {
		if x.id != "SUM" && x.way != "RX" {
			ids[x.id] = true
		}
	}
	return len(ids)
}

// total says that the output has a total in spite of an error.
func (o *output) total() bool {
	f, _ := o.finals()
	return len(f) > 0
}

// finals are the rows that stand for the whole test: those that say whose they are, of
// [SUM] if there is one; or the only row, or the one that spans the others, where none
// says so. alone says that they have no end of their own.
func (o *output) finals() (finals []row, alone bool) {
	summed := false
	for _, x := range o.rows {
		summed = summed || x.id == "SUM" && (x.sender || x.recver)
	}
	for _, x := range o.rows {
		if (x.sender || x.recver) && (!summed || x.id == "SUM") {
			finals = append(finals, x)
		}
	}
	if len(finals) > 0 {
		if !summed && (o.parallel || o.streams() > 1) {
			return nil, false // totals of streams without their sum: some may be missing
		}
		return finals, false
	}
	var whole *row
	sum := false
	for i := range o.rows {
		if o.rows[i].id == "SUM" {
			sum = true
		}
	}
	for i := range o.rows {
		x := &o.rows[i]
		if x.omitted || sum && x.id != "SUM" || x.from > 0.01 {
			continue
		}
		if whole == nil || x.to > whole.to || x.to == whole.to && o.headed {
			whole = x
		}
	}
	if whole == nil || o.tool == "iperf3" && !o.headed {
		return nil, false // iperf3 prints its totals below a second head
	}
	for i := range o.rows {
		// A row that begins at 0 is a total only if it spans what comes before it.
		if x := &o.rows[i]; !x.omitted && (x.to > whole.to || x != whole && x.id == whole.id && x.from > 0.01 && whole.line < x.line) {
			return nil, false
		}
	}
	if o.streams() > 1 && !sum {
		return nil, false
	}
	return []row{*whole}, true
}

// figures adds what the totals have.
func (r *reader) figures(t *scan.Test, o *output, finals []row, alone bool) {
	add := func(metric, end string, v float64, text string, line int) {
		f := result.ImportedMetric(metric, end, v, text, line)
		if t.Figure(f.Taken()) != nil {
			return
		}
		t.Figures = append(t.Figures, f)
	}
	for _, x := range finals {
		reverse := o.reverse || x.way == "RX"
		sender, receiver := ends(reverse)
		text := x.number + " " + x.unit
		if x.bits < 0 {
			r.problem(x.line, x.line, "iperf: a rate of "+text+" can't be")
			continue
		}
		switch {
		case alone && o.server:
			add(result.Goodput, result.Remote, x.bits, text, x.line)
		case alone:
			add(result.Offered, sender, x.bits, text, x.line)
			if o.udp {
				atSender(t, t.Tool)
			}
		case x.sender:
			add(result.Offered, sender, x.bits, text, x.line)
			if m := retrans.FindStringSubmatch(x.rest); m != nil && !o.udp {
				n, _ := scan.Number(m[1])
				add(result.Retransmitted, sender, n, m[1], x.line)
			}
		case x.recver:
			add(result.Goodput, receiver, x.bits, text, x.line)
		}
		if m := datagram.FindStringSubmatch(x.rest); m != nil && (alone || x.recver) {
			r.datagrams(t, receiver, m, x.line)
		}
	}
}

// datagrams adds jitter and loss of a row.
func (r *reader) datagrams(t *scan.Test, receiver string, m []string, line int) {
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
