package unit

import "strconv"

// Count writes a number of things with its noun, "1 trial" or "7 trials". The
// noun is one that takes an s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
