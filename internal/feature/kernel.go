package feature

import (
	"fmt"
	"strconv"
	"strings"
)

// Release is a kernel's name and version.
type Release struct {
	System       string // "Linux"
	Major, Minor int    // 0 where the text has no version
	Text         string // all of it: "6.1.0-13-amd64"
}

// String is the name and the whole version: "Linux 6.1.0-13-amd64".
func (r Release) String() string { return strings.TrimSpace(r.System + " " + r.Text) }

// AtLeast reports whether the version is major.minor or later. It holds for
// kernels as released by kernel.org: distributions port features back, so a
// probe is the better question.
func (r Release) AtLeast(major, minor int) bool {
	return r.Major > major || (r.Major == major && r.Minor >= minor)
}

// ParseRelease reads the release field of uname(2), such as "6.18.44-fc",
// "5.10.0-8-amd64" or "4.18". The first two numbers must be there.
func ParseRelease(system, text string) (Release, error) {
	r := Release{System: system, Text: text}
	major, rest, ok := leadingNumber(text)
	if ok {
		if rest, ok = strings.CutPrefix(rest, "."); ok {
			r.Minor, _, ok = leadingNumber(rest)
		}
	}
	if !ok {
		return Release{System: system, Text: text}, fmt.Errorf("kernel release %q: it must begin with two numbers, as in 6.1", text)
	}
	r.Major = major
	return r, nil
}

// leadingNumber splits the decimal number off the start of s.
func leadingNumber(s string) (n int, rest string, ok bool) {
	end := strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.Atoi(s[:end])
	return n, s[end:], err == nil
}
