package traffic

import (
	"testing"
	"time"

	"netdelta/internal/result"
)

// Every engine divides its window, at both ends, and can be watched meanwhile.
func TestEnginesTakeIntervals(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr", "udp_stream", "tcp_stream", "tcp_maerts", "tcp_bidir"} {
		t.Run(test, func(t *testing.T) {
			const interval = 40 * time.Millisecond
			tr := trial{test: test, addr: loopbacks["ipv4"], warmup: testWarmup, window: 4*interval + interval/2, interval: interval}
			l, r := tr.ends(t)
			if l.Intervals().Done() != 0 || l.Intervals().Due() != 0 {
				t.Error("there are intervals before the window")
			}
			remoteDone := start(r)
			localDone := start(l)
			seen := watch(t, l.Intervals())
			local := finish(t, localDone)
			r.Stop()
			remote := finish(t, remoteDone)
			// Of a window in which the traffic stood still some are put together.
			if seen < len(local.Intervals)-1 || seen < 1 {
				t.Errorf("%d intervals were seen while the trial ran, of %d", seen, len(local.Intervals))
			}
			for _, e := range []result.End{local, remote} {
				if err := e.Validate(); err != nil {
					t.Error(err)
				}
				if n := len(e.Intervals); n < 2 || n > 5 {
					t.Errorf("%d intervals at the %s end", n, e.Role)
					continue
				}
				var messages int64
				for _, i := range e.Intervals {
					messages += i.Messages
				}
				if last := e.Intervals[len(e.Intervals)-1]; messages != e.Messages || last.At != e.Elapsed {
					t.Errorf("%s end: intervals with %d messages until %v, window with %d until %v", e.Role, messages, last.At, e.Messages, e.Elapsed)
				}
			}
			timed := local.RTT != nil
			for _, i := range local.Intervals {
				if (i.RTT.Max > 0) != (timed && i.Messages > 0) {
					t.Errorf("an interval of the local end has round trips %+v and %d messages", i.RTT, i.Messages)
				}
			}
			if timed && local.RTT.Count() < local.Messages {
				t.Errorf("%d round trips are in the histogram, %d were counted", local.RTT.Count(), local.Messages)
			}
		})
	}
}

// watch looks on until the window is over, and returns how many intervals
// there were before that.
func watch(t *testing.T, p *Intervals) (seen int) {
	t.Helper()
	begun := false
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		due := p.Due()
		switch {
		case due != 0:
			begun, seen = true, p.Done()
		case begun:
			return seen
		}
	}
	t.Fatal("the window did not end")
	return 0
}
