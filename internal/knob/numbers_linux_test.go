package knob

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
)

// card is a driver that has numbers: it keeps what is set, but for what it does
// not know.
type card struct {
	get, set uint32
	words    []uint32
	// ignores and refuses are words.
	ignores, refuses int
}

func (c *card) call(words []uint32) error {
	switch words[0] {
	case c.get:
		copy(words[1:], c.words[1:])
	case c.set:
		for i := 1; i < len(words); i++ {
			if i == c.refuses && words[i] != c.words[i] {
				return unix.EINVAL
			}
			if i != c.ignores {
				c.words[i] = words[i]
			}
		}
	default:
		return unix.EOPNOTSUPP
	}
	return nil
}

func TestNumbers(t *testing.T) {
	for _, k := range []struct {
		knob   string
		kind   numberKind
		values map[string]string
	}{
		{"coalesce", coalescing, nil},
		{"ring", rings, nil},
		{"channels", channelCounts, nil},
	} {
		words := map[int]bool{}
		for _, f := range k.kind.fields {
			if f.word <= f.max || f.word >= k.kind.words || words[f.word] {
				t.Errorf("%s.%s is word %d", k.knob, f.name, f.word)
			}
			words[f.word] = true
			c := &card{get: k.kind.get, set: k.kind.set, words: make([]uint32, k.kind.words)}
			for i := range c.words {
				c.words[i] = 100
			}
			n, err := newNumber(Place{Device: "lo"}, k.knob+"."+f.name, k.kind, f.name, c.call)
			if err != nil {
				t.Fatal(err)
			}
			was, err := n.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			value := "42"
			if f.switches() {
				value = "off"
			}
			if err := n.Write(t.Context(), value); err != nil {
				t.Error(err)
			}
			if now, err := n.Read(t.Context()); err != nil || !n.Equal(now, value) || n.Equal(now, was) {
				t.Errorf("%s reads %s after %s, %v", n, now, value, err)
			}
			for i, w := range c.words {
				if i != 0 && (w != 100) != (i == f.word) {
					t.Errorf("%s: word %d is %d", n, i, w)
				}
			}
			if err := n.Restore(t.Context(), was); err != nil {
				t.Error(err)
			}
			if now, err := n.Read(t.Context()); err != nil || now != was {
				t.Errorf("%s was %s and is %s, %v", n, was, now, err)
			}
		}
	}
}

func TestNumbersRefused(t *testing.T) {
	c := &card{get: rings.get, set: rings.set, words: []uint32{0, 512, 0, 0, 512, 256, 0, 0, 256}, refuses: 5, ignores: 8}
	here := Place{Device: "lo"}
	if _, err := newNumber(here, "ring.rx-mini", rings, "rx-mini", c.call); !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), "ring.rx-mini of lo") {
		t.Errorf("a ring that is not there: %v", err)
	}
	if _, err := newNumber(here, "coalesce.rx-usecs", coalescing, "rx-usecs", c.call); !errors.Is(err, feature.ErrUnavailable) || !errors.Is(err, unix.EOPNOTSUPP) {
		t.Errorf("coalescing of a driver that has none: %v", err)
	}
	if _, err := newNumber(here, "ring.nosuch", rings, "nosuch", c.call); err == nil {
		t.Error("a ring of no kind")
	}
	rx, err := newNumber(here, "ring.rx", rings, "rx", c.call)
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"513": "0 to 512", "128": "invalid argument", "x": "no whole number", "-1": "no whole number"} {
		if err := rx.Write(t.Context(), value); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "ring.rx of lo") {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
	// A driver that keeps silent about what it ignores is found out by reading.
	tx, err := newNumber(here, "ring.tx", rings, "tx", c.call)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Write(t.Context(), "128"); err != nil {
		t.Fatal(err)
	}
	if now, err := tx.Read(t.Context()); err != nil || tx.Equal(now, "128") {
		t.Errorf("a ring that stayed reads %s, %v", now, err)
	}
}
