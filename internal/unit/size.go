package unit

import (
	"fmt"
	"math"
	"strconv"
)

// multiple is a unit name and its worth in base units.
type multiple struct {
	name  string
	worth uint64
}

// The units of a size in bytes. FormatSize writes the binary ones and needs
// them from small to large.
var (
	binarySizes = []multiple{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	}
	decimalSizes = []multiple{
		{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	}
)

// twoSizes are units that some programs read as powers of 1000 and others as
// powers of 1024, each with both readings.
var twoSizes = map[string][2]string{
	"k": {"kB", "KiB"}, "K": {"kB", "KiB"}, "KB": {"kB", "KiB"},
	"m": {"MB", "MiB"}, "M": {"MB", "MiB"}, "mB": {"MB", "MiB"},
	"g": {"GB", "GiB"}, "G": {"GB", "GiB"}, "gB": {"GB", "GiB"},
	"t": {"TB", "TiB"}, "T": {"TB", "TiB"}, "tB": {"TB", "TiB"},
}

// ParseSize reads a size in bytes, 0 to 2^63-1: a plain decimal number, alone
// or with one of B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB
// (powers of 1024). One blank may stand before the unit. "1.5KiB" is 1536; a
// fraction that is not a whole number of bytes is an error. A unit that is
// read in two ways, such as the k of "128k", is refused.
func ParseSize(s string) (int64, error) {
	number, name, err := split(s)
	if err != nil {
		return 0, fmt.Errorf("size %s: %w: %s", quote(s), err, sizeForm)
	}
	worth, err := sizeWorth(number, name)
	if err != nil {
		return 0, fmt.Errorf("size %s: %w", quote(s), err)
	}
	n, err := times(number, worth)
	if err != nil {
		return 0, fmt.Errorf("size %s: %w of bytes", quote(s), err)
	}
	if !n.IsInt64() {
		return 0, fmt.Errorf("size %s is too large: at most %d bytes", quote(s), int64(math.MaxInt64))
	}
	return n.Int64(), nil
}

const sizeForm = "write bytes from 0 up, such as 64, 1460B, 128KiB or 1MB"

func sizeWorth(number, name string) (uint64, error) {
	if name == "" {
		return 1, nil
	}
	for _, table := range [][]multiple{decimalSizes, binarySizes} {
		for _, m := range table {
			if m.name == name {
				return m.worth, nil
			}
		}
	}
	if two, ok := twoSizes[name]; ok {
		return 0, fmt.Errorf("%+q can be read in two ways: write %s%s (powers of 1000) or %s%s (powers of 1024)",
			name, number, two[0], number, two[1])
	}
	return 0, fmt.Errorf("unknown unit %+q: valid are B, kB, MB, GB, TB, KiB, MiB, GiB, TiB", name)
}

// FormatSize writes a size in bytes exactly, in the largest binary unit of
// which it is a whole multiple: 131072 is "128KiB", 1460 is "1460". ParseSize
// reads every one that is not negative back to the same number.
func FormatSize(n int64) string {
	if n == 0 {
		return "0"
	}
	worth, name := int64(1), ""
	for _, m := range binarySizes {
		if n%int64(m.worth) == 0 {
			worth, name = int64(m.worth), m.name
		}
	}
	return strconv.FormatInt(n/worth, 10) + name
}

// quote shows a user's text in an error: cut short, so that a wrong file
// given as a size can't fill the screen, and with nothing unprintable in it.
func quote(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + "..."
	}
	return strconv.QuoteToASCII(s)
}
