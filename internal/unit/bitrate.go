package unit

import "fmt"

// bitRates are the units of a rate, each in bits per second.
var bitRates = []multiple{
	{"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}, {"Tbit/s", 1e12},
	{"B/s", 8}, {"kB/s", 8e3}, {"MB/s", 8e6}, {"GB/s", 8e9}, {"TB/s", 8e12},
	{"KiB/s", 8 << 10}, {"MiB/s", 8 << 20}, {"GiB/s", 8 << 30}, {"TiB/s", 8 << 40},
}

// rateTails are the endings that leave open whether bits or bytes are meant,
// most specific first. To tc(8) "mbps" is megabytes per second and to most
// others megabits; "Mb/s" is told from "MB/s" by one letter's case.
var rateTails = []string{"bps", "b/s", "Bps", "/s", "b", "B", ""}

// ParseBitRate reads a rate in bits per second, 0 to 2^64-1: a plain decimal
// number with a unit: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s (powers of 1000),
// B/s, kB/s, MB/s, GB/s, TB/s (the same in bytes, times 8), KiB/s, MiB/s,
// GiB/s, TiB/s (powers of 1024 bytes, times 8). One blank may stand before
// the unit. The number may have a fraction if the rate is a whole number of
// bits per second. A unit that is read in two ways, such as Mbps, and a
// number with no unit are refused.
func ParseBitRate(s string) (uint64, error) {
	number, name, err := split(s)
	if err != nil {
		return 0, fmt.Errorf("rate %s: %w: write a number and its unit, such as 9600bit/s, 100Mbit/s or 12.5MB/s", quote(s), err)
	}
	worth, err := rateWorth(number, name)
	if err != nil {
		return 0, fmt.Errorf("rate %s: %w", quote(s), err)
	}
	n, err := times(number, worth)
	if err != nil {
		return 0, fmt.Errorf("rate %s: %w of bits per second", quote(s), err)
	}
	if !n.IsUint64() {
		return 0, fmt.Errorf("rate %s is too large: at most 2^64-1 bit/s", quote(s))
	}
	return n.Uint64(), nil
}

func rateWorth(number, name string) (uint64, error) {
	for _, m := range bitRates {
		if m.name == name {
			return m.worth, nil
		}
	}
	for _, tail := range rateTails {
		prefix, ok := ratePrefix(name, tail)
		if !ok {
			continue
		}
		if name == "" {
			return 0, fmt.Errorf("no unit: write %sbit/s or %sB/s", number, number)
		}
		return 0, fmt.Errorf("%+q can be read in two ways: write %s%sbit/s (bits) or %s%sB/s (bytes)",
			name, number, prefix, number, prefix)
	}
	return 0, fmt.Errorf("unknown unit %+q: valid are bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, "+
		"B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s", name)
}

// ratePrefix tells whether name is nothing but a prefix, in either case, and
// tail; and returns the prefix as it is properly written.
func ratePrefix(name, tail string) (string, bool) {
	switch name {
	case tail:
		return "", true
	case "k" + tail, "K" + tail:
		return "k", true
	case "m" + tail, "M" + tail:
		return "M", true
	case "g" + tail, "G" + tail:
		return "G", true
	case "t" + tail, "T" + tail:
		return "T", true
	}
	return "", false
}
