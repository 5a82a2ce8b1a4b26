package findings

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// isZeroCopy says that a method asks the kernel not to copy, and is told whether it
// did.
func isZeroCopy(method string) bool { return method == "zerocopy" || method == "uring-zc" }

// noFigure stands for a comparison that there is not.
const noFigure compare.Verdict = ""

// cheaper says whether sendfile costs its sender less, as reported, at each rate, and
// where not, what the counters have to say of it.
func cheaper(all []sending) []string {
	said := map[compare.Verdict][]string{}
	var why []string
	for i := range all {
		s := &all[i]
		if !slices.Contains(s.methods[1:], "sendfile") {
			continue
		}
		c, _ := s.cpuChange("sendfile", 1)
		rate := strings.TrimSpace(s.at())
		if c == nil {
			said[noFigure] = append(said[noFigure], rate)
			continue
		}
		v := verdictOf(c)
		said[v] = append(said[v], rate)
		if v != compare.Better {
			why = append(why, strings.TrimSpace(rate+" "+s.counters("sendfile")))
		}
	}
	var parts []string
	for _, v := range []struct {
		verdict compare.Verdict
		text    string
	}{{compare.Better, "cheaper for the sender, as reported,"}, {compare.Worse, "dearer, the contrary of what was reported,"},
		{compare.Same, "the same"}, {compare.Unsure, "not surely either"}, {noFigure, "not known, since CPU time was not compared,"}} {
		if at := said[v.verdict]; len(at) > 0 {
			parts = append(parts, strings.TrimRight(strings.TrimSpace(v.text+" "+strings.Join(at, ", ")), ","))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	sentences := []string{fmt.Sprintf("sendfile than %s: %s.", all[0].methods[0], strings.Join(parts, "; "))}
	if len(why) > 0 {
		sentences = append(sentences, fmt.Sprintf("By the counters, sendfile against %s: %s.", all[0].methods[0], strings.Join(why, "; ")))
	}
	return sentences
}

// counters are what a method and the baseline make of packets.
func (s *sending) counters(method string) string {
	var parts []string
	for _, c := range []struct {
		name string
		of   result.Taken
	}{
		{"packets per second", remote(result.Packets)},
		{"bytes per packet", remote(result.BytesPerPacket)},
		{"payload per segment", local(result.BytesPerSegment)},
		{"interrupts per packet", remote(result.InterruptsPerPacket)},
	} {
		a, b := s.figure(s.methods[0], c.of), s.figure(method, c.of)
		if finite(a) && finite(b) {
			parts = append(parts, fmt.Sprintf("%s %s against %s", c.name, unit.FormatIn(b, 1), unit.FormatIn(a, 1)))
		}
	}
	if len(parts) == 0 {
		return "no counters that would tell why"
	}
	return strings.Join(parts, ", ")
}

// copies says what share of the sends without copying was copied all the same.
func copies(all []sending) string {
	var parts []string
	always := true
	for _, m := range all[0].methods {
		if !isZeroCopy(m) {
			continue
		}
		var x []float64
		for i := range all {
			if v := all[i].figure(m, local(result.ZeroCopied)); finite(v) {
				x = append(x, v)
			}
		}
		if len(x) == 0 {
			continue
		}
		least, most := unit.Format(slices.Min(x), unit.Share), unit.Format(slices.Max(x), unit.Share)
		text := fmt.Sprintf("%s had %s of its sends copied all the same", m, least)
		if most != least {
			text = fmt.Sprintf("%s had %s to %s of its sends copied all the same", m, least, most)
		}
		parts = append(parts, text)
		always = always && slices.Min(x) == 1
	}
	switch {
	case len(parts) == 0:
		return ""
	case !always:
		return strings.Join(parts, "; ") + "."
	}
	return strings.Join(parts, "; ") + ": what goes by veth or a TAP, and so stays on the machine, is always copied."
}

// transmitTable has a row a method: the CPU time of the sender by what the interface
// does for it, and what each level changes against the first.
func (s *sending) transmitTable() compare.Section {
	t := compare.Section{Name: s.name("send-tx"), Title: "the sender's CPU time by transmit offload" + s.at()}
	f := s.in.factor(transmit)
	if f == nil || len(f.Levels) < 2 {
		return t
	}
	base := s.in.base(f)
	levels := []string{base}
	for _, l := range f.Levels {
		if l != base {
			levels = append(levels, l)
		}
	}
	of, soak := s.senderCost()
	t.Title += fmt.Sprintf(" (%s), and its change against %s", soak, base)
	for _, l := range levels {
		c := compare.Column{Name: l, Unit: unit.SecondsPerByte}
		if s.held {
			c = compare.Column{Name: l, Percent: true}
		}
		t.Columns = append(t.Columns, c)
	}
	for _, l := range levels[1:] {
		t.Columns = append(t.Columns, compare.Column{Name: "d " + l, Percent: true})
	}
	for _, m := range s.methods {
		line := compare.Line{Label: m}
		for _, l := range levels {
			v := s.in.median(s.offloaded(m, l, of)).Est
			if s.held {
				v *= 100
			}
			line.Cells = append(line.Cells, number(v, "not measured"))
		}
		for _, l := range levels[1:] {
			line.Cells = append(line.Cells, ranged(s.in.change(s.offloaded(m, base, of), s.offloaded(m, l, of)), "no figure"))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// senderCost is the figure by which the sender's CPU time is told, and how it was
// taken.
func (s *sending) senderCost() (of result.Taken, how string) {
	if of = s.costOf(1); finite(s.figure(s.methods[0], of)) {
		return of, "soak"
	}
	return s.costOf(0), "accounting"
}

// offloaded are a method's figures by block at a level of transmit offload.
func (s *sending) offloaded(method, level string, of result.Taken) []float64 {
	return s.in.averaged(s.test, s.in.having(with(with(s.under, sendBy, method), transmit, level)), of)
}

// transmitted says what switching transmit offloads off costs sendfile and the
// baseline, at each rate, and whether it hits the one harder for sure.
func transmitted(all []sending) []string {
	f := all[0].in.factor(transmit)
	if f == nil || len(f.Levels) < 2 || !slices.Contains(all[0].methods[1:], "sendfile") {
		return nil
	}
	base := all[0].in.base(f)
	last := f.Levels[len(f.Levels)-1]
	if slices.Contains(f.Levels, "none") {
		last = "none"
	}
	if last == base {
		return nil
	}
	var parts []string
	for i := range all {
		s := &all[i]
		of, _ := s.senderCost()
		var changes [2]stats.Interval
		for i, m := range []string{"sendfile", s.methods[0]} {
			changes[i] = s.in.change(s.offloaded(m, base, of), s.offloaded(m, last, of))
		}
		if !finite(changes[0].Est) || !finite(changes[1].Est) {
			continue
		}
		text := fmt.Sprintf("%s of sendfile's CPU time, %s of %s's%s", percents(changes[0]), percents(changes[1]), s.methods[0], s.at())
		if e := s.interaction("sendfile", last, of); known(e) {
			switch v := verdictOf(e); v {
			case compare.Worse:
				text += ", sendfile harder for sure"
			case compare.Better:
				text += fmt.Sprintf(", %s harder for sure", s.methods[0])
			default:
				text += fmt.Sprintf(", the difference %s", v)
			}
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Transmit offload %s in place of %s: %s.", last, base, strings.Join(parts, "; "))}
}

// interaction is the report's row of a method and a level of transmit offload
// together; nil for none.
func (s *sending) interaction(method, level string, of result.Taken) *compare.Comparison {
	for i := range s.in.Report.Effects {
		c := &s.in.Report.Effects[i]
		pair := c.Factor == sendBy+":"+transmit && c.Variant == method+":"+level || c.Factor == transmit+":"+sendBy && c.Variant == level+":"+method
		if pair && c.Under == s.text && c.Of() == s.test && c.Metric == of.Name && c.End == of.End {
			return c
		}
	}
	return nil
}
