package result

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNatural(t *testing.T) {
	got := []string{"b", "size=16384", "size=4096", "size=4096 x", "size=007", "size=7", "", "a10b2", "a10b10", "a9"}
	slices.SortFunc(got, Natural)
	want := []string{"", "a9", "a10b2", "a10b10", "b", "size=007", "size=7", "size=4096", "size=4096 x", "size=16384"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// It is an order: one of two that differ is first, and first of first is first.
func TestNaturalIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-3a-c= ]{0,6}`)
		a, b, c := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")
		if Natural(a, b) != -Natural(b, a) || (Natural(a, b) == 0) != (a == b) {
			t.Fatalf("%q and %q: %d and %d", a, b, Natural(a, b), Natural(b, a))
		}
		if Natural(a, b) < 0 && Natural(b, c) < 0 && Natural(a, c) >= 0 {
			t.Fatalf("%q, %q and %q", a, b, c)
		}
	})
}
