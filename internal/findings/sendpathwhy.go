package findings

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// isZeroCopy says that a method asks the kernel not to copy, and is told whether it
// did.
func isZeroCopy(method string) bool {
	name := spec.BaseLevel(method)
	return name == "zerocopy" || name == "uring-zc"
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
	t := compare.Section{Name: s.name("send-tx")}
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
	of, how := s.senderCost()
	t.Title = fmt.Sprintf("the sender's %s by transmit offload%s, and its change against %s", how, s.atRate(), base)
	for _, l := range levels {
		t.Columns = append(t.Columns, compare.Column{Name: l, Unit: unit.SecondsPerByte})
	}
	for _, l := range levels[1:] {
		t.Columns = append(t.Columns, compare.Column{Name: "d " + l, Percent: true})
	}
	for _, m := range s.methods {
		line := compare.Line{Label: m}
		for _, l := range levels {
			line.Cells = append(line.Cells, number(s.in.median(s.offloaded(m, l, of)).Est, "not measured"))
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
	for _, h := range hows {
		if of = s.costOf(sender + h.at); finite(s.figure(s.methods[0], of)) {
			return of, h.name
		}
	}
	return of, hows[len(hows)-1].name
}

// offloaded are a method's figures by block at a level of transmit offload.
func (s *sending) offloaded(method, level string, of result.Taken) []float64 {
	return s.in.averaged(s.test, s.in.having(with(with(s.under, sendBy, method), transmit, level)), of)
}

// transmitted says what switching transmit offloads off costs sendfile and the
// baseline, at each rate, and whether it hits the one harder for sure.
func transmitted(all []sending) []string {
	f := all[0].in.factor(transmit)
	if f == nil || len(f.Levels) < 2 || !slices.Contains(all[0].methods[1:], sendfile) {
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
		if !s.first {
			continue
		}
		of, _ := s.senderCost()
		var changes [2]stats.Interval
		var logs [2][]float64
		for i, m := range []string{sendfile, s.methods[0]} {
			logs[i] = logRatio(s.offloaded(m, base, of), s.offloaded(m, last, of))
			changes[i] = s.in.changeOf(logs[i])
		}
		if !finite(changes[0].Est) || !finite(changes[1].Est) {
			continue
		}
		text := fmt.Sprintf("%s of sendfile's CPU time for each byte, %s of %s's%s", percents(changes[0]), percents(changes[1]), s.methods[0], s.atRate())
		switch d := s.in.difference(logs[1], logs[0]); {
		case !s.in.settled(d) || d.Lo <= 0 && d.Hi >= 0:
			text += ", the difference unsure"
		case d.Lo > 0:
			text += ", sendfile harder"
		default:
			text += fmt.Sprintf(", %s harder", s.methods[0])
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Transmit offload %s in place of %s: %s.", last, base, strings.Join(parts, "; "))}
}
