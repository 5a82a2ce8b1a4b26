package findings

import (
	"fmt"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// receive is the factor whose levels are the contexts of the receive handler, and
// direct the one in which a frame is handled where it comes in.
const (
	receive = "rx"
	direct  = "inline"
)

// lengths is the table of an experiment by packet length.
type lengths struct {
	in      *Input
	levels  []string // the baseline first
	pairs   map[string]*pair
	latency []spec.Test
	streams []spec.Test
}

// Lengths tells latency and throughput by packet length, and whether packets were
// classified by control group.
func Lengths(in *Input) {
	if !in.usable() {
		return
	}
	f := in.factor(receive)
	if f == nil {
		return
	}
	l := lengths{in: in, levels: []string{in.base(f)}, pairs: map[string]*pair{},
		latency: in.testsOf(func(t spec.Test) bool { return t.Kind().Pattern == spec.RoundTrip }),
		streams: in.testsOf(func(t spec.Test) bool { return udpStream(t) || tcpStream(t) })}
	pairs := in.pairs()
	for _, level := range f.Levels {
		if level != l.levels[0] {
			l.levels = append(l.levels, level)
			l.pairs[level] = against(pairs, receive, level, "")
		}
	}
	r := in.Report
	r.Sections = append(r.Sections, l.tables()...)
	r.Findings = append(r.Findings, l.sentences()...)
	r.Checks = append(r.Checks, l.classified()...)
}

// lengthOf is a test by its protocol and length: "UDP 64 B".
func lengthOf(t spec.Test) string {
	return fmt.Sprintf("%s %d B", protocol(t), t.RequestSize())
}

func protocol(t spec.Test) string { return strings.ToUpper(string(t.Kind().Protocol)) }

// lengthTables are the figures by length: their changes are a table of their own.
var lengthTables = []struct {
	name, title string
	streams     bool
	of          result.Taken
	unit        unit.Unit
	changes     bool
}{
	{"latency", "median round trip by packet length", false, local(result.RTTP50), unit.Nanoseconds, true},
	{"throughput", "goodput by packet length", true, remote(result.Goodput), unit.BitsPerSecond, true},
	{"packets", "packets per second by packet length", true, remote(result.Packets), unit.PerSecond, false},
	{"bytes-per-packet", "bytes per packet by packet length, headers included", true, remote(result.BytesPerPacket), unit.BytesPerPacket, false},
}

// tables are the sections: a row a length and protocol, a column a context.
func (l *lengths) tables() []compare.Section {
	var all []compare.Section
	for _, t := range lengthTables {
		tests := l.latency
		if t.streams {
			tests = l.streams
		}
		if len(tests) == 0 {
			continue
		}
		s := compare.Section{Name: t.name, Title: t.title}
		for _, level := range l.levels {
			s.Columns = append(s.Columns, compare.Column{Name: level, Unit: t.unit})
		}
		for _, test := range tests {
			line := compare.Line{Label: lengthOf(test)}
			for _, level := range l.levels {
				x := l.in.averaged(test, l.in.having(spec.Variant{receive: level}), t.of)
				line.Cells = append(line.Cells, number(l.in.median(x).Est, "no figure"))
			}
			s.Rows = append(s.Rows, line)
		}
		all = append(all, s)
		if t.changes && len(l.levels) > 1 {
			all = append(all, l.changes(t.name+"-change", "change of "+t.title+", against "+l.levels[0], tests, t.of))
		}
	}
	return all
}

// changes is the section of the changes of one figure.
func (l *lengths) changes(name, title string, tests []spec.Test, of result.Taken) compare.Section {
	s := compare.Section{Name: name, Title: title}
	for _, level := range l.levels[1:] {
		s.Columns = append(s.Columns, compare.Column{Name: level, Percent: true})
	}
	for _, test := range tests {
		line := compare.Line{Label: lengthOf(test)}
		for _, level := range l.levels[1:] {
			line.Cells = append(line.Cells, changed(l.change(level, test, of)))
		}
		s.Rows = append(s.Rows, line)
	}
	return s
}

// change is the comparison of a context with the baseline; nil for none.
func (l *lengths) change(level string, test spec.Test, of result.Taken) *compare.Comparison {
	if p := l.pairs[level]; p != nil {
		return l.in.comparison(*p, test, of)
	}
	return nil
}

// sentences are what leads: direct against deferred, and what becomes of TCP.
func (l *lengths) sentences() []string {
	if l.pairs[direct] == nil || spec.BaseLevel(l.levels[0]) == direct {
		return nil // nothing is deferred that direct could be held against
	}
	var all []string
	var parts []string
	for _, proto := range []spec.Protocol{spec.UDP, spec.TCP} {
		if text := l.byLength(proto); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) > 0 {
		all = append(all, fmt.Sprintf("%s against %s: %s.", direct, l.levels[0], strings.Join(parts, "; ")))
		all = append(all, l.small())
	}
	return append(all, l.smallerPackets()...)
}

// byLength says what becomes of a protocol's latency at each length, and where the
// gain ends.
func (l *lengths) byLength(proto spec.Protocol) string {
	said := map[compare.Verdict][]string{}
	gained, ends := false, ""
	for _, test := range l.latency {
		if test.Kind().Protocol != proto {
			continue
		}
		c := l.change(direct, test, local(result.RTTP50))
		if !known(c) {
			continue
		}
		at := fmt.Sprintf("at %d B", test.RequestSize())
		v := verdictOf(c)
		switch v {
		case compare.Better:
			gained, ends = true, ""
		default:
			if gained && ends == "" {
				ends = at
			}
		}
		if v != compare.Same {
			at = estimate(c) + " " + at
		}
		said[v] = append(said[v], at)
	}
	var parts []string
	for _, v := range []compare.Verdict{compare.Better, compare.Worse, compare.Same, compare.Unsure} {
		if len(said[v]) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", strings.Join(said[v], ", "), v))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.ToUpper(string(proto)) + " latency " + strings.Join(parts, ", ")
	if ends != "" {
		text += " (the gain ends " + ends + ")"
	}
	return text
}
