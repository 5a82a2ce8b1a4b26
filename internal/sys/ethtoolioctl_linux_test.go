package sys

import (
	"strings"
	"testing"
)

func TestSpeedOf(t *testing.T) {
	for _, c := range []struct {
		low, high uint16
		want      int64
	}{
		{1000, 0, 1_000_000_000},
		{400_000 & 0xffff, 400_000 >> 16, 400_000_000_000},
		{0xffff, 0xffff, 0}, // not known
		{0xffff, 0, 0},      // the same, of an old driver
		{0, 0, 0},
	} {
		if got := speedOf(c.low, c.high); got != c.want {
			t.Errorf("%d and %d: %d, want %d", c.low, c.high, got, c.want)
		}
	}
}

// Loopback has no counters of its driver and no speed.
func TestEthtoolOfLoopback(t *testing.T) {
	d, err := OpenDriverStats("lo")
	if err == nil {
		if names := d.Names(); len(names) != 0 {
			t.Errorf("loopback counts %q", names)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if n, err := LinkSpeed("lo"); n != 0 || err == nil {
		t.Errorf("loopback has a speed: %d, %v", n, err)
	}
	if _, err := GetLRO(strings.Repeat("x", 16)); err == nil || !strings.Contains(err.Error(), "longer than 15") {
		t.Errorf("a name that is too long: %v", err)
	}
	if _, err := OpenDriverStats("nosuchdevice"); err == nil || !strings.Contains(err.Error(), "nosuchdevice") {
		t.Errorf("a device that is not there: %v", err)
	}
}
