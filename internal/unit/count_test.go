package unit_test

import (
	"testing"

	"netdelta/internal/unit"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 blocks", 1: "1 block", 2: "2 blocks", -1: "-1 blocks"} {
		if got := unit.Count(n, "block"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
