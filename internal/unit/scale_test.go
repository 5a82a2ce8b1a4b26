package unit_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/unit"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		u    unit.Unit
		want string
	}{
		{0, unit.Nanoseconds, "0 ns"},
		{0.5, unit.Nanoseconds, "0.500 ns"},
		{21, unit.Nanoseconds, "21.0 ns"},
		{999, unit.Nanoseconds, "999 ns"},
		{999.4, unit.Nanoseconds, "999 ns"},
		{999.6, unit.Nanoseconds, "1.00 us"},
		{21000, unit.Nanoseconds, "21.0 us"},
		{-21000, unit.Nanoseconds, "-21.0 us"},
		{9.996e3, unit.Nanoseconds, "10.0 us"},
		{999499, unit.Nanoseconds, "999 us"},
		{999500, unit.Nanoseconds, "1.00 ms"},
		{1.5e9, unit.Nanoseconds, "1.50 s"},
		{60e9, unit.Nanoseconds, "60.0 s"},
		{3600e9, unit.Nanoseconds, "3600 s"},
		{9600, unit.BitsPerSecond, "9.60 kbit/s"},
		{1.31e9, unit.BitsPerSecond, "1.31 Gbit/s"},
		{630e6, unit.BitsPerSecond, "630 Mbit/s"},
		{2e15, unit.BitsPerSecond, "2000 Tbit/s"},
		{950, unit.PerSecond, "950 /s"},
		{48123, unit.PerSecond, "48.1 k/s"},
		{5.6e6, unit.PerSecond, "5.60 M/s"},
		{0, unit.Share, "0%"},
		{0.0025, unit.Share, "0.250%"},
		{0.5, unit.Share, "50.0%"},
		{1, unit.Share, "100%"},
		{1e-7, unit.Share, "<0.001%"},
		{-1e-7, unit.Share, ">-0.001%"},
		{1e-5, unit.Share, "0.00100%"},
		{math.SmallestNonzeroFloat64, unit.Share, "<0.001%"},
		{0.999, unit.Share, "99.9%"},
		{0.99949, unit.Share, "99.9%"},
		{0.9996, unit.Share, ">99.9%"},
		{1 - 1e-9, unit.Share, ">99.9%"},
		{-0.99999, unit.Share, "<-99.9%"},
		{1.0001, unit.Share, "100%"},
		{-1, unit.Share, "-100%"},
		{64, unit.Bytes, "64.0 B"},
		{1023, unit.Bytes, "1023 B"},
		{1023.9, unit.Bytes, "1.00 KiB"},
		{131072, unit.Bytes, "128 KiB"},
		{0, unit.Seconds, "0 s"},
		{0.25, unit.Seconds, "250 ms"},
		{90, unit.Seconds, "90.0 s"},
		{1.31, unit.SecondsPerSecond, "1.31 s/s"},
		{0.035, unit.SecondsPerSecond, "35.0 ms/s"},
		{1448, unit.BytesPerPacket, "1448 B/packet"},
		{0.512, unit.PerPacket, "0.512 /packet"},
		{2, unit.PerOp, "2.00 /op"},
		{4.2e-10, unit.SecondsPerByte, "420 ps/B"},
		{4.2e-9, unit.SecondsPerByte, "4.20 ns/B"},
		{1.2e-5, unit.SecondsPerOp, "12.0 us/op"},
		{52_300, unit.CyclesPerOp, "52.3 kcycles/op"},
		{0.82, unit.CyclesPerByte, "0.820 cycles/B"},
		{1234, "parsec", "1234 parsec"},
		{1234, "", "1234"},
		{math.NaN(), unit.Nanoseconds, "n/a"},
		{math.Inf(1), unit.Share, "n/a"},
		{math.Inf(-1), unit.BitsPerSecond, "n/a"},
		{math.Copysign(0, -1), unit.Nanoseconds, "0 ns"},
		{math.MaxFloat64, unit.Share, "n/a"}, // percent of it overflows
	} {
		if got := unit.Format(c.v, c.u); got != c.want {
			t.Errorf("Format(%v, %s) = %q, want %q", c.v, c.u, got, c.want)
		}
	}
}

func TestFormatIn(t *testing.T) {
	for _, c := range []struct {
		v, div float64
		want   string
	}{
		{21000, 1e3, "21.0"},
		{33, 1e3, "0.0330"},
		{1, 1e3, "0.00100"},
		{0.9, 1e3, "9.00e-04"},
		{0.9999, 1e3, "0.00100"},
		{99.96, 1, "100"},
		{1448.4, 1, "1448"},
		{1e15, 1, "1.00e+15"},
		{0, 1e3, "0"},
		{1, 0, "n/a"},
		{0, 0, "n/a"},
		{1, math.NaN(), "n/a"},
	} {
		if got := unit.FormatIn(c.v, c.div); got != c.want {
			t.Errorf("FormatIn(%v, %v) = %q, want %q", c.v, c.div, got, c.want)
		}
	}
}

func TestScaleOfGroup(t *testing.T) {
	for _, c := range []struct {
		u      unit.Unit
		values []float64
		div    float64
		label  string
	}{
		{unit.Nanoseconds, nil, 1, "ns"},
		{unit.Nanoseconds, []float64{21000, 33000, 900}, 1e3, "us"},
		{unit.Nanoseconds, []float64{21000, -2e6}, 1e6, "ms"},
		{unit.Nanoseconds, []float64{21000, math.NaN(), math.Inf(1)}, 1e3, "us"},
		{unit.Nanoseconds, []float64{math.NaN()}, 1, "ns"},
		{unit.Seconds, nil, 1, "s"},
		{unit.SecondsPerByte, []float64{1e-15}, 1e-12, "ps/B"},
		{unit.BitsPerSecond, []float64{5e8, 1.3e9}, 1e9, "Gbit/s"},
		{unit.Share, nil, 0.01, "%"},
		{unit.BytesPerPacket, []float64{1e9}, 1, "B/packet"},
	} {
		div, label := unit.Scale(c.u, c.values...)
		if div != c.div || label != c.label {
			t.Errorf("Scale(%s, %v) = %v, %q; want %v, %q", c.u, c.values, div, label, c.div, c.label)
		}
	}
}

// What Format prints is ASCII, within half of the third digit of the value,
// and needs no more than three digits before the point.
func TestFormatIsTrue(t *testing.T) {
	units := []unit.Unit{unit.Nanoseconds, unit.BitsPerSecond, unit.PerSecond, unit.Share, unit.Bytes,
		unit.Seconds, unit.SecondsPerSecond, unit.BytesPerPacket, unit.PerPacket, unit.PerOp,
		unit.SecondsPerByte, unit.SecondsPerOp}
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom(units).Draw(t, "unit")
		v := math.Pow(10, rapid.Float64Range(-11, 11).Draw(t, "exponent"))
		if rapid.Bool().Draw(t, "negative") {
			v = -v
		}
		div, label := unit.Scale(u, v)
		number := strings.TrimSpace(strings.TrimSuffix(unit.Format(v, u), label))
		if number != unit.Cell(v, u, div) {
			t.Fatalf("Format writes %q, Cell %q", number, unit.Cell(v, u, div))
		}
		if strings.ContainsAny(number, "<>") && u == unit.Share {
			if a := math.Abs(v); a >= 1e-5 && a <= 0.999 || a >= 1 {
				t.Fatalf("%v is a share that can be written, and is %q", v, number)
			}
			return
		}
		back, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(back*div-v) > 0.00501*math.Abs(v) {
			t.Fatalf("%v %s is shown as %q of %v", v, u, number, div)
		}
		if u == unit.Nanoseconds && math.Abs(v) < 9e11 && math.Abs(back) >= 1000 {
			t.Fatalf("%v ns is shown as %q %s", v, number, label)
		}
		if strings.ContainsFunc(label, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("label %q is not ASCII", label)
		}
	})
}
