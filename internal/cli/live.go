package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// screen is what a run shows while it is under way: a line of progress, and
// on a terminal a line for each interval above it. Its methods may be called
// by several goroutines.
type screen struct {
	mu   sync.Mutex
	line *progress
	w    io.Writer
	last run.Progress
}

func newScreen(stderr io.Writer, name string) *screen {
	return &screen{line: newProgress(stderr, name), w: stderr}
}

// options are those of a run's connections, which have the screen show what they
// tell.
func (s *screen) options(exclusive bool, wait time.Duration) ctl.Options {
	o := ctl.Options{Client: clientName(), Exclusive: exclusive, Wait: wait, Waiting: s.waiting}
	if s.live() {
		o.Interval = s.interval
	}
	return o
}

// live says whether somebody watches.
func (s *screen) live() bool { return s.line.width > 0 }

func (s *screen) show(p run.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = p
	s.line.show(p)
}

// clear takes the line away for good.
func (s *screen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.clear()
	s.line.width = 0
}

// waiting tells what a session is waited for, on a terminal or not: it can
// last long.
func (s *screen) waiting(b ctl.Busy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.clear()
	// A report that nobody can read is no reason to stop.
	_, _ = fmt.Fprintf(s.w, "netdelta: waiting: %s\n", oneLine(printable(b.Reason)))
}

// tell says what has to be known, on a terminal or not.
func (s *screen) tell(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.clear()
	// A report that nobody can read is no reason to stop.
	_, _ = fmt.Fprintf(s.w, "netdelta: %s\n", oneLine(text))
}

// interval shows a line for an interval that an end tells of. What is not one
// is left out: the trial's own figures have everything.
func (s *screen) interval(data []byte) {
	l, err := result.DecodeLive(data)
	if err != nil {
		return
	}
	text := intervalLine(l)
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == "" || s.line.width == 0 {
		return
	}
	s.line.clear()
	_, _ = fmt.Fprintln(s.w, text)
	s.line.show(s.last)
}

// intervalLine is one interval in a line; empty for an end whose interval
// says nothing beyond the other's.
func intervalLine(l result.Live) string {
	kind := l.Test.Kind()
	var figures string
	// Of an end that does both the intervals are of what it sends.
	sends := kind.Sends() && l.End == result.Local || kind.Receives() && l.End == result.Remote
	switch {
	case kind.IsStream():
		figures = unit.Format(l.Goodput(), unit.BitsPerSecond)
		if sends {
			figures += " offered"
		} else if kind.Protocol == spec.UDP {
			figures += ", " + unit.Format(l.Rate(), unit.PerSecond)
		}
	case l.End == result.Remote:
		return ""
	default:
		figures = unit.Format(l.Rate(), unit.PerSecond)
		for _, q := range []struct {
			name string
			ns   int64
		}{{"p50", l.RTT.P50}, {"p99", l.RTT.P99}, {"max", l.RTT.Max}} {
			if q.ns > 0 {
				figures += fmt.Sprintf(", %s %s", q.name, unit.Format(float64(q.ns), unit.Nanoseconds))
			}
		}
	}
	return fmt.Sprintf("%-14s %-6s %6.1f s  %s", l.Test.Short(), l.End, l.At.Round(100*time.Millisecond).Seconds(), figures)
}

// printable makes a text from elsewhere safe for a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
