package unit

import (
	"math"
	"strconv"
	"strings"
)

// step is one readable scale of a unit: values are divided by div, in base
// units, and shown with the label.
type step struct {
	div   float64
	label string
}

// scales are the readable scales of each unit, from small to large. A unit
// with no row is shown as it is.
var scales = map[Unit][]step{
	Nanoseconds:      {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}},
	Seconds:          {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}},
	SecondsPerSecond: {{1e-6, "us/s"}, {1e-3, "ms/s"}, {1, "s/s"}},
	SecondsPerByte:   {{1e-12, "ps/B"}, {1e-9, "ns/B"}, {1e-6, "us/B"}, {1e-3, "ms/B"}, {1, "s/B"}},
	SecondsPerOp:     {{1e-9, "ns/op"}, {1e-6, "us/op"}, {1e-3, "ms/op"}, {1, "s/op"}},
	CyclesPerOp:      {{1, "cycles/op"}, {1e3, "kcycles/op"}, {1e6, "Mcycles/op"}},
	BitsPerSecond:    {{1, "bit/s"}, {1e3, "kbit/s"}, {1e6, "Mbit/s"}, {1e9, "Gbit/s"}, {1e12, "Tbit/s"}},
	PerSecond:        {{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}, {1e9, "G/s"}},
	Bytes:            {{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}, {1 << 40, "TiB"}},
	Share:            {{0.01, "%"}},
	PerPacket:        {{1, "/packet"}},
	PerOp:            {{1, "/op"}},
}

// Scale returns one readable scale for a group of values in unit u: what to
// divide each by, and the label of the quotients. It is the one that suits the
// largest finite value's magnitude, so that no quotient needs more than three
// digits before the point unless the unit has no larger scale. With no finite
// value other than zero it is the base unit itself, or percent for Share.
func Scale(u Unit, values ...float64) (div float64, label string) {
	steps, ok := scales[u]
	if !ok {
		return 1, string(u)
	}
	largest := 0.0
	for _, v := range values {
		if a := math.Abs(v); !math.IsInf(a, 0) && a > largest {
			largest = a
		}
	}
	chosen := steps[0]
	for _, s := range steps[1:] {
		if largest == 0 {
			if s.div == 1 {
				chosen = s
			}
			continue
		}
		// What would be rounded up to 1000 (or 1024) of this scale is shown
		// as 1.00 of the next.
		ratio := math.Round(s.div / chosen.div)
		if largest/chosen.div < ratio*0.9995 {
			break
		}
		chosen = s
	}
	return chosen.div, chosen.label
}

// Format writes one value in unit u at a readable scale, with Cell's digits
// and the scale's label: "21.0 us", "1.31 Gbit/s", "0.250%". NaN and
// infinities are "n/a".
func Format(v float64, u Unit) string {
	div, label := Scale(u, v)
	text := Cell(v, u, div)
	switch {
	case text == notMeasured || label == "":
		return text
	case label == "%":
		return text + label
	}
	return text + " " + label
}

const notMeasured = "n/a"

// Cell writes v/div without a label, for a value in unit u: as FormatIn does,
// but the share of a whole that is not the whole is never written as "100" and
// one that is not zero never as if it could pass for that. It is ">99.9" or
// "<0.001" then.
func Cell(v float64, u Unit, div float64) string {
	text := FormatIn(v, div)
	q := math.Abs(v / div)
	switch {
	case u != Share || text == notMeasured || q == 0:
		return text
	case math.Abs(v) < 1 && strings.TrimPrefix(text, "-") == FormatIn(1, div):
		return beyond(v, ">", "<-", FormatIn(0.999, div))
	case q < leastShare:
		return beyond(v, "<", ">-", FormatIn(leastShare, 1))
	}
	return text
}

// leastShare is the smallest share that is written with its digits, on the
// scale that it is written in.
const leastShare = 0.001

// beyond writes that v lies beyond a bound, which has v's sign.
func beyond(v float64, above, below, bound string) string {
	if v < 0 {
		return below + strings.TrimRight(bound, "0")
	}
	return above + strings.TrimRight(bound, "0")
}

// FormatIn writes v/div without a label: three significant digits, but never
// less than the whole integer part ("1448"), so that a table's cells can share
// the scale that Scale chose. Quotients below 0.001 and from 10^15 up are
// written with an exponent. NaN and infinities are "n/a"; zero is "0".
func FormatIn(v, div float64) string {
	q := v / div
	switch {
	case math.IsNaN(q) || math.IsInf(q, 0):
		return notMeasured
	case q == 0:
		return "0"
	}
	scientific := strconv.FormatFloat(q, 'e', 2, 64)
	// The exponent is taken after rounding: 9.996 is 10.0, not 10.00.
	_, power, _ := strings.Cut(scientific, "e")
	exponent, err := strconv.Atoi(power)
	if err != nil || exponent < -3 || exponent >= 15 {
		return scientific
	}
	return strconv.FormatFloat(q, 'f', max(0, 2-exponent), 64)
}
