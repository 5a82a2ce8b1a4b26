//go:build linux || darwin || freebsd

package worker

import (
	"io"
	"sync"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// frames writes messages to the agent, of which two may come at once.
type frames struct {
	mu sync.Mutex
	w  io.Writer
}

func (f *frames) write(message any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return writeFrame(f.w, message)
}

// How often it is looked whether the window has begun, at most and at least.
const (
	rarely = 250 * time.Millisecond
	often  = 10 * time.Millisecond
)

// slack is how long after its time an interval is asked for: it ends with the
// first message after that.
const slack = 2 * time.Millisecond

// tell has the agent told of each interval when it is over, from a goroutine
// that sleeps meanwhile: the traffic thread knows nothing of it. quiet tells
// what is left and returns when nothing more will be.
func tell(out *frames, cfg traffic.Config, intervals *traffic.Intervals) (quiet func()) {
	if intervals == nil {
		return func() {}
	}
	if full, err := spec.NewTest(cfg.Test.Name, cfg.Test.Params); err == nil {
		cfg.Test = full // with the defaults that the engine took
	}
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		told := 0
		for wait := often; ; {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-over:
				timer.Stop()
				tellFrom(told, out, cfg, intervals)
				return
			}
			told = tellFrom(told, out, cfg, intervals)
			wait = min(max(cfg.Interval/4, often), rarely)
			if due := intervals.Due(); due != 0 {
				wait = max(time.Duration(due-sys.Nanotime())+slack, often)
			}
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// tellFrom tells of the intervals from a number on, and returns the next one.
func tellFrom(told int, out *frames, cfg traffic.Config, intervals *traffic.Intervals) int {
	for ; told < intervals.Done(); told++ {
		data, err := result.EncodeLive(result.Live{Test: cfg.Test, End: cfg.Role, Interval: intervals.At(told)})
		if err == nil {
			err = out.write(reply{Interval: data})
		}
		if err != nil {
			// The figures have it all the same; and an agent that is gone ends
			// this process anyway.
			return intervals.Done()
		}
	}
	return told
}
