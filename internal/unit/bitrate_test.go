package unit_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/unit"
)

func TestParseBitRate(t *testing.T) {
	for text, want := range map[string]uint64{
		"0bit/s":                    0,
		"9600bit/s":                 9600,
		"64kbit/s":                  64000,
		"100Mbit/s":                 100000000,
		"1Gbit/s":                   1000000000,
		"2.5Gbit/s":                 2500000000,
		"1 Tbit/s":                  1000000000000,
		"1B/s":                      8,
		"0.125B/s":                  1,
		"1kB/s":                     8000,
		"12.5MB/s":                  100000000,
		"1GB/s":                     8000000000,
		"1TB/s":                     8000000000000,
		"1KiB/s":                    8192,
		"1MiB/s":                    8 << 20,
		"1GiB/s":                    8 << 30,
		"1TiB/s":                    8 << 40,
		"18446744073709551615bit/s": math.MaxUint64,
		"0.0000000000001136868377216160297393798828125TiB/s": 1,
	} {
		got, err := unit.ParseBitRate(text)
		if err != nil || got != want {
			t.Errorf("ParseBitRate(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseBitRateRefuses(t *testing.T) {
	for text, words := range map[string][]string{
		"":                          {"empty"},
		"-1Mbit/s":                  {"negative"},
		"Mbit/s":                    {"no plain decimal number"},
		"1.Mbit/s":                  {"no plain decimal number"},
		"100":                       {"no unit", "100bit/s", "100B/s"},
		"100M":                      {"100Mbit/s", "100MB/s", "two ways"},
		"100Mbps":                   {"100Mbit/s", "100MB/s"},
		"100mbps":                   {"100Mbit/s", "100MB/s"},
		"100MBps":                   {"100Mbit/s", "100MB/s"},
		"100Mb/s":                   {"100Mbit/s", "100MB/s"},
		"100M/s":                    {"100Mbit/s", "100MB/s"},
		"1.5Kb":                     {"1.5kbit/s", "1.5kB/s"},
		"1gB":                       {"1Gbit/s", "1GB/s"},
		"1t":                        {"1Tbit/s", "1TB/s"},
		"8bps":                      {"8bit/s", "8B/s"},
		"1Mibit/s":                  {"unknown unit", "Mbit/s"},
		"1mbit/s":                   {"unknown unit", "Mbit/s"},
		"1MBit/s":                   {"unknown unit", "Mbit/s"},
		"1furlong":                  {"unknown unit"},
		"0.5bit/s":                  {"not a whole number of bits"},
		"0.1B/s":                    {"not a whole number of bits"},
		"18446744073709551616bit/s": {"too large"},
		"2097152TiB/s":              {"too large"},
		strings.Repeat("1", 100):    {"too long"},
	} {
		got, err := unit.ParseBitRate(text)
		if err == nil {
			t.Errorf("ParseBitRate(%q) = %d, want an error", text, got)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("ParseBitRate(%q): %q lacks %q", text, err, w)
			}
		}
	}
}

// A rate in bytes is eight times the same size.
func TestBitRateAgreesWithSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strconv.FormatInt(rapid.Int64Range(0, 1000000).Draw(t, "n"), 10) +
			rapid.SampledFrom([]string{"B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"}).Draw(t, "unit")
		size, err := unit.ParseSize(text)
		if err != nil {
			t.Fatal(err)
		}
		rate, err := unit.ParseBitRate(text + "/s")
		if err != nil || rate != 8*uint64(size) {
			t.Fatalf("%s is %d bytes, %s/s is %d bit/s (%v)", text, size, text, rate, err)
		}
	})
}

func FuzzParseBitRate(f *testing.F) {
	for _, s := range []string{"9600bit/s", "100Mbit/s", "1.5MiB/s", "100M", "mbps", "-1", "18446744073709551616bit/s", "\xff", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := unit.ParseBitRate(s)
		if err != nil {
			if n != 0 {
				t.Fatalf("ParseBitRate(%q) = %d with %v", s, n, err)
			}
			return
		}
		text := strconv.FormatUint(n, 10) + "bit/s"
		if back, err := unit.ParseBitRate(text); err != nil || back != n {
			t.Fatalf("ParseBitRate(%q) = %d, but %q is %d, %v", s, n, text, back, err)
		}
	})
}
