package table

import (
	"fmt"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// written is a unit as people write it: what it is of, and what a value in it is
// multiplied by.
type written struct {
	unit  unit.Unit
	times float64
	// better is the direction that figures in this unit have; empty where that is open.
	better result.Better
}

// units is the table of them. Rates in bits and bytes are read as everywhere else.
var units = map[string]written{
	"ns": {unit.Nanoseconds, 1, result.Lower}, "us": {unit.Nanoseconds, 1e3, result.Lower}, "ms": {unit.Nanoseconds, 1e6, result.Lower}, "s": {unit.Nanoseconds, 1e9, result.Lower},
	"1/s": {unit.PerSecond, 1, result.Higher}, "/s": {unit.PerSecond, 1, result.Higher}, "k/s": {unit.PerSecond, 1e3, result.Higher}, "M/s": {unit.PerSecond, 1e6, result.Higher},
	"%": {unit.Share, 0.01, ""}, "share": {unit.Share, 1, ""},
	"s/s":   {unit.SecondsPerSecond, 1, result.Lower},
	"us/KB": {unit.SecondsPerByte, 1e-6 / 1024, result.Lower}, "ns/B": {unit.SecondsPerByte, 1e-9, result.Lower}, "ps/B": {unit.SecondsPerByte, 1e-12, result.Lower},
	"us/op": {unit.SecondsPerOp, 1e-6, result.Lower}, "us/Tr": {unit.SecondsPerOp, 1e-6, result.Lower},
	"B/packet": {unit.BytesPerPacket, 1, ""}, "1/packet": {unit.PerPacket, 1, result.Lower},
	"B": {unit.Bytes, 1, ""}, "count": {unit.Number, 1, ""},
}

// unitOf reads a unit, or says which there are.
func unitOf(text string) (written, error) {
	if u, ok := units[text]; ok {
		return u, nil
	}
	bits, err := unit.ParseBitRate("1" + text)
	if err == nil {
		return written{unit.BitsPerSecond, float64(bits), result.Higher}, nil
	}
	if strings.Contains(err.Error(), "two ways") {
		return written{}, fmt.Errorf("unit %q: %w", text, err)
	}
	return written{}, fmt.Errorf("unknown unit %q: valid are ns, us, ms, s, 1/s, k/s, %%, share, us/KB, ns/B, us/op, s/s, B/packet, 1/packet, B, count, and rates as in 100Mbit/s or 12.5MB/s", text)
}

// figureOf makes a figure of a value, by what a table says of its metric.
func figureOf(metric, unitText, better, end string, value float64) (result.ImportedFigure, error) {
	f := result.ImportedFigure{Metric: metric, End: end, Text: strings.TrimSpace(number(value) + " " + unitText)}
	if metric == "" {
		return f, fmt.Errorf("a metric has no name")
	}
	u, err := unitOf(unitText)
	if err != nil {
		return f, err
	}
	f.Unit, f.Better, f.Value = u.unit, u.better, value*u.times
	if known, ok := result.ImportedKnown(metric); ok {
		if known.Unit != u.unit {
			return f, fmt.Errorf("%s is in %s, and not in %q", metric, known.Unit, unitText)
		}
		f.Better = known.Better
	}
	switch result.Better(better) {
	case "":
	case result.Lower, result.Higher:
		f.Better = result.Better(better)
	default:
		return f, fmt.Errorf("better %q of %s: valid are lower, higher", better, metric)
	}
	if f.Better == "" {
		return f, fmt.Errorf("%s in %q may be better either way: say better: lower or higher", metric, unitText)
	}
	switch end {
	case "", result.Local, result.Remote:
	default:
		return f, fmt.Errorf("end %q of %s: valid are local, remote, or none where it is not known", end, metric)
	}
	if value < 0 {
		return f, fmt.Errorf("%s of %v is below zero", metric, value)
	}
	return f, nil
}
