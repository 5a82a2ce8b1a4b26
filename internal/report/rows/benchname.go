package rows

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// name is a result's: "Udp_rr/size=1/rx=softirq-1". Behind the last dash is the number
// of threads that carry the traffic at each end, as a Go benchmark has its processors:
// without it a level that ends in a dash and digits would be taken for one with that.
func (s *sheet) name(t *compare.Of) string {
	test, params := testOf(t.Trial)
	var b strings.Builder
	first, n := utf8.DecodeRuneInString(word(test))
	b.WriteRune(unicode.ToUpper(first))
	b.WriteString(word(test)[n:])
	for _, p := range strings.Fields(params) {
		key, value, _ := strings.Cut(p, "=")
		if slices.Contains(s.varied[t.Trial.Test.Name], key) || slices.Contains(s.factors, key) {
			continue
		}
		fmt.Fprintf(&b, "/%s=%s", keyOf(key), word(value))
	}
	for _, f := range s.factors {
		if level, has := t.Trial.Variant[f]; has {
			fmt.Fprintf(&b, "/%s=%s", keyOf(f), word(level))
		}
	}
	if s.run {
		fmt.Fprintf(&b, "/run=%s", word(t.Variant))
	}
	fmt.Fprintf(&b, "-%d", t.Trial.Test.Threads())
	return b.String()
}

// word is a text without what would end a name or a part of one: blanks and slashes are
// underscores.
func word(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || r == '/' || r == utf8.RuneError || !unicode.IsPrint(r):
			return '_'
		}
		return r
	}, s)
	if s == "" {
		return "_"
	}
	return s
}

// keyOf is a key of a part of a name, which ends at the first equals sign.
func keyOf(s string) string { return strings.ReplaceAll(word(s), "=", "_") }

// benchUnits are what is written behind a metric's name. benchstat knows ns and sec as
// times, which it scales, and B before a slash as bytes.
var benchUnits = map[unit.Unit]string{
	unit.PerSecond:        "/s",
	unit.PerPacket:        "", // the names have it: interrupts_per_packet
	unit.PerOp:            "",
	unit.SecondsPerSecond: "-sec/s",
	unit.SecondsPerByte:   "-sec/B",
	unit.SecondsPerOp:     "-sec/op",
	unit.Seconds:          "-sec",
	unit.Number:           "",
}

// unit is a metric with its unit, as one word: "rtt_p50-ns", "goodput-bit/s", "rate/s".
// Its end is in it where the report has the metric of both: "cpu.remote-sec/s".
func (s *sheet) unit(m result.Metric) string {
	name := m.Name
	if s.both[m.Name] && m.End != "" {
		name += "." + m.End
	}
	// Dashes, slashes and asterisks part a unit's words.
	name = strings.NewReplacer("-", "_", "*", "_").Replace(word(name))
	behind, known := benchUnits[m.Unit]
	if !known {
		if u := strings.TrimSpace(string(m.Unit)); u != "" {
			behind = "-" + strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError {
					return '_'
				}
				return r
			}, u)
		}
	}
	return name + behind
}
