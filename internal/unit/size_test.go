package unit_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/unit"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0":                   0,
		"64":                  64,
		"007":                 7,
		"1460B":               1460,
		"1KiB":                1024,
		"128 KiB":             131072,
		"1.5KiB":              1536,
		"0.5KiB":              512,
		"1.10kB":              1100,
		"1kB":                 1000,
		"1MB":                 1000000,
		"1MiB":                1 << 20,
		"3GB":                 3000000000,
		"3GiB":                3 << 30,
		"1TB":                 1000000000000,
		"1TiB":                1 << 40,
		"0.1kB":               100,
		"8388607TiB":          8388607 << 40,
		"9223372036854775807": math.MaxInt64,
		"0.0000000000009094947017729282379150390625TiB":   1,
		"0.00000000000000000000000000000000000000000000B": 0,
	} {
		got, err := unit.ParseSize(text)
		if err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseSizeRefuses(t *testing.T) {
	for text, words := range map[string][]string{
		"":                        {"empty"},
		"-1":                      {"negative", "from 0 up"},
		"-1KiB":                   {"negative"},
		"+1":                      {"no plain decimal number"},
		"KiB":                     {"no plain decimal number"},
		".5KiB":                   {"no plain decimal number"},
		"1.KiB":                   {"no plain decimal number"},
		"1.2.3":                   {"no plain decimal number"},
		"0x10":                    {"unknown unit"},
		"1e3":                     {"unknown unit"},
		"1_000":                   {"unknown unit"},
		"1 ":                      {"unknown unit"},
		"1  KiB":                  {"unknown unit"},
		"1kib":                    {"unknown unit", "KiB"},
		"1\u00b5B":                {"unknown unit"},
		"1.5":                     {"not a whole number of bytes"},
		"1.3KiB":                  {"not a whole number of bytes"},
		"0.0001kB":                {"not a whole number of bytes"},
		"128k":                    {"128kB", "128KiB", "two ways"},
		"128K":                    {"128kB", "128KiB"},
		"128KB":                   {"128kB", "128KiB"},
		"1.5m":                    {"1.5MB", "1.5MiB"},
		"1M":                      {"1MB", "1MiB"},
		"2g":                      {"2GB", "2GiB"},
		"2G":                      {"2GB", "2GiB"},
		"2T":                      {"2TB", "2TiB"},
		"9223372036854775808":     {"too large", "9223372036854775807"},
		"8388608TiB":              {"too large"},
		"99999999999999999999999": {"too large"},
		strings.Repeat("9", 1000): {"too long"},
	} {
		got, err := unit.ParseSize(text)
		if err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("ParseSize(%q): %q lacks %q", text, err, w)
			}
		}
		if len(err.Error()) > 250 || strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("ParseSize(%q): error is too long or not ASCII: %q", text, err)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "1", 64: "64", 1000: "1000", 1024: "1KiB", 1460: "1460", 1536: "1536",
		131072: "128KiB", 1000000: "1000000", 1 << 20: "1MiB", 1 << 30: "1GiB", 3 << 40: "3TiB",
		1025 << 10: "1025KiB", -1024: "-1KiB", -1: "-1",
		math.MaxInt64: "9223372036854775807", math.MinInt64: "-8388608TiB",
	} {
		if got := unit.FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
}

// Every size comes back, and never in more characters than plain digits.
func TestSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "n")
		n &^= 1<<rapid.IntRange(0, 62).Draw(t, "zero bits") - 1
		text := unit.FormatSize(n)
		if back, err := unit.ParseSize(text); err != nil || back != n {
			t.Fatalf("%d is written %q and read back as %d, %v", n, text, back, err)
		}
		if plain := strconv.FormatInt(n, 10); len(text) > len(plain) {
			t.Fatalf("%q is longer than %q", text, plain)
		}
	})
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"64", "1.5KiB", "128k", "-1", "9223372036854775808", "1 MB", "1.2.3", "\xff", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := unit.ParseSize(s)
		if err != nil {
			if n != 0 {
				t.Fatalf("ParseSize(%q) = %d with %v", s, n, err)
			}
			return
		}
		if n < 0 {
			t.Fatalf("ParseSize(%q) = %d", s, n)
		}
		text := unit.FormatSize(n)
		if back, err := unit.ParseSize(text); err != nil || back != n {
			t.Fatalf("ParseSize(%q) = %d, written %q, read back %d, %v", s, n, text, back, err)
		}
	})
}
