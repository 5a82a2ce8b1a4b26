//go:build !linux

package sys

import "time"

// SleepUntil sleeps until t, in nanoseconds as Nanotime has them.
func SleepUntil(t int64) { time.Sleep(time.Duration(t - Nanotime())) }

// PreciseTimers does nothing: how late a sleep may end is not told to this
// kernel.
func PreciseTimers() error { return nil }
