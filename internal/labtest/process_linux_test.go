package labtest

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	for _, c := range []struct {
		text, state string
		ppid        int
		ok          bool
	}{
		{"12 (sh) S 1 12 12 0", "S", 1, true},
		{"12 (a ) R 3 (b)) Z 77 12", "Z", 77, true},
		{"12 (sh) S", "", 0, false},
		{"12 (sh) S x", "", 0, false},
		{"", "", 0, false},
		{")", "", 0, false},
	} {
		state, ppid, ok := parseStat(c.text)
		if state != c.state || ppid != c.ppid || ok != c.ok {
			t.Errorf("%q: %q, %d, %v", c.text, state, ppid, ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("12 (sh) S 1 12")
	f.Add("12 (a) b) Z -1")
	f.Add(")")
	f.Fuzz(func(t *testing.T, text string) {
		state, ppid, ok := parseStat(text)
		if !ok && (state != "" || ppid != 0) {
			t.Errorf("%q: %q and %d beside nothing found", text, state, ppid)
		}
		if ok && state == "" {
			t.Errorf("%q: a state without a name", text)
		}
		// Whatever a command is called, what follows it is found.
		if strings.ContainsAny(state, ")") {
			return
		}
		if s, p, again := parseStat(fmt.Sprintf("7 (%s) %s %d 0", text, state, ppid)); ok && (!again || s != state || p != ppid) {
			t.Errorf("command %q: %q, %d, %v", text, s, p, again)
		}
	})
}
