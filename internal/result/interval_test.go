package result

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdelta/internal/spec"
)

func intervals(t *rapid.T) []Interval {
	var all []Interval
	at := time.Duration(0)
	for range rapid.IntRange(0, 3).Draw(t, "intervals") {
		i := Interval{
			Elapsed:  time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "length")),
			Messages: rapid.Int64Min(0).Draw(t, "messages"),
			Bytes:    rapid.Int64Min(0).Draw(t, "bytes"),
		}
		at += i.Elapsed
		i.At = at
		if rapid.Bool().Draw(t, "timed") {
			i.RTT.Max = rapid.Int64Min(1).Draw(t, "max")
			i.RTT.P50 = rapid.Int64Range(0, i.RTT.Max).Draw(t, "p50")
			i.RTT.P99 = rapid.Int64Range(0, i.RTT.Max).Draw(t, "p99")
		}
		all = append(all, i)
	}
	return all
}

func TestIntervalsOfAnEnd(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func([]Interval) []Interval
		wantErr string
	}{
		{"as they are", func(all []Interval) []Interval { return all }, ""},
		{"none", func([]Interval) []Interval { return nil }, ""},
		{"a gap", func(all []Interval) []Interval { all[1].Elapsed--; return all }, "begins at 1.000000001s and the one before ends at 1s"},
		{"one before the window", func(all []Interval) []Interval { all[0].Elapsed++; return all }, "an interval of 1.000000001s that ends at 1s can't be"},
		{"negative", func(all []Interval) []Interval { all[0].Messages = -1; return all }, "with -1 messages"},
		{"p99 above the maximum", func(all []Interval) []Interval { all[0].RTT.P99 = 41; return all }, "p50 20 ns, p99 41 ns, max 40 ns can't be"},
		{"too many", func(all []Interval) []Interval { return slices.Repeat(all[:1], spec.MaxIntervals+2) }, "3602 intervals, at most 3601"},
	} {
		x := sample(t)
		x.Local.Intervals = c.spoil([]Interval{
			{At: time.Second, Elapsed: time.Second, Messages: 1, Bytes: 2, RTT: RTT{P50: 20, Max: 40}},
			{At: 1500 * time.Millisecond, Elapsed: 500 * time.Millisecond, Messages: 1, Bytes: 2},
		})
		err := x.Validate()
		if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.wantErr)
		}
	}
}

func TestIntervalRates(t *testing.T) {
	i := Interval{Elapsed: 500 * time.Millisecond, Messages: 10, Bytes: 1000}
	if i.Rate() != 20 || i.Goodput() != 16000 {
		t.Errorf("got %v/s and %v bit/s, want 20 and 16000", i.Rate(), i.Goodput())
	}
	if i.Elapsed = 0; i.Rate() != 0 || i.Goodput() != 0 {
		t.Errorf("in no time: got %v/s and %v bit/s, want 0", i.Rate(), i.Goodput())
	}
}
