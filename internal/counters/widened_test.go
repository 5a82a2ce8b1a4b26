package counters

import "testing"

func TestWidened(t *testing.T) {
	var w widened
	for _, c := range []struct {
		now  uint32
		want int64
	}{
		{1<<32 - 10, 1<<32 - 10}, // the first is taken as it is
		{1<<32 - 10, 1<<32 - 10},
		{5, 1<<32 + 5}, // it has wrapped
		{1 << 30, 1<<32 + 1<<30},
		{7, 1<<32 + 1<<30 + 7}, // it was made anew
	} {
		if got := w.at(c.now); got != c.want {
			t.Errorf("at %d: %d, want %d", c.now, got, c.want)
		}
	}
}
