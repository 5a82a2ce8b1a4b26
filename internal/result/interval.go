package result

import (
	"fmt"
	"time"

	"netdelta/internal/spec"
)

// Interval is a part of an end's window, by that end's own clock. Like the
// window it ends with a message, the first one after its time is over, and
// that message is the interval's last; in a silence it ends when its time
// does, if that end has a way to notice. The intervals of a window follow one
// another without a gap, and their messages add up to the window's.
type Interval struct {
	At      time.Duration `json:"at_ns"`      // its end, from the beginning of the window
	Elapsed time.Duration `json:"elapsed_ns"` // its own length
	// Messages and Bytes are as End has them.
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
	// RTT is of the interval's round trips; zero at an end that times none.
	RTT RTT `json:"rtt,omitzero"`
}

// RTT is three figures of some round trips, in nanoseconds; 0 where there were
// too few for one.
type RTT struct {
	P50 int64 `json:"p50,omitempty"`
	P99 int64 `json:"p99,omitempty"`
	Max int64 `json:"max,omitempty"`
}

// Rate is messages per second, Goodput bits per second; 0 for no time.
func (i Interval) Rate() float64    { return i.perSecond(i.Messages) }
func (i Interval) Goodput() float64 { return 8 * i.perSecond(i.Bytes) }

func (i Interval) perSecond(n int64) float64 {
	if i.Elapsed <= 0 {
		return 0
	}
	return float64(n) / i.Elapsed.Seconds()
}

// Validate reports the first thing in an interval that can't be.
func (i Interval) Validate() error {
	switch {
	case i.Elapsed < 0 || i.At < i.Elapsed:
		return fmt.Errorf("an interval of %v that ends at %v can't be", i.Elapsed, i.At)
	case i.Messages < 0 || i.Bytes < 0:
		return fmt.Errorf("an interval with %d messages of %d bytes in all can't be", i.Messages, i.Bytes)
	case i.RTT.P50 < 0 || i.RTT.P99 < 0 || i.RTT.Max < max(i.RTT.P50, i.RTT.P99):
		return fmt.Errorf("an interval with round trips of p50 %d ns, p99 %d ns, max %d ns can't be", i.RTT.P50, i.RTT.P99, i.RTT.Max)
	}
	return nil
}

func checkIntervals(all []Interval) error {
	// One more than fit may come of the last one's end.
	if len(all) > spec.MaxIntervals+1 {
		return fmt.Errorf("%d intervals, at most %d", len(all), spec.MaxIntervals+1)
	}
	last := time.Duration(0)
	for _, i := range all {
		if err := i.Validate(); err != nil {
			return err
		}
		if i.At-i.Elapsed != last {
			return fmt.Errorf("an interval begins at %v and the one before ends at %v", i.At-i.Elapsed, last)
		}
		last = i.At
	}
	return nil
}
