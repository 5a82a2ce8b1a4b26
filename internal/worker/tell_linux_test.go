package worker

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
)

// heard collects what a worker tells while it runs.
type heard struct {
	mu   sync.Mutex
	all  []result.Live
	last time.Time
	err  error
}

func (h *heard) hear(data []byte) {
	l, err := result.DecodeLive(data)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last = time.Now(); err != nil {
		h.err = err
	}
	h.all = append(h.all, l)
}

// A worker that is to be live tells of each interval while its window is open,
// and what it tells is what its figures have in the end. Another tells nothing
// and has the same in its figures.
func TestTell(t *testing.T) {
	labtest.NoLeaks(t)
	const interval = 100 * time.Millisecond
	for _, live := range []bool{true, false} {
		for _, test := range []string{"udp_rr", "tcp_stream"} {
			var ears [2]heard
			var workers [2]*Worker
			var at [2]netip.AddrPort
			for i, role := range []string{result.Local, result.Remote} {
				cfg := loopbackConfig(test, role, 4*interval+interval/2)
				cfg.Interval, cfg.Live = interval, live
				workers[i] = newWorker(t, nil)
				workers[i].Report(ears[i].hear)
				port, err := workers[i].Prepare(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				at[i] = netip.AddrPortFrom(loopback, port)
			}
			for _, i := range []int{1, 0} {
				if err := workers[i].Arm(t.Context(), at[1-i]); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := workers[1].Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			local, err := workers[0].Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			over := time.Now()
			remote, err := workers[1].Drain(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, end := range []*result.End{local, remote} {
				h := &ears[i]
				h.mu.Lock()
				switch {
				case h.err != nil:
					t.Error(h.err)
				case len(end.Intervals) < 4:
					t.Errorf("%s: the %s end has %d intervals", test, end.Role, len(end.Intervals))
				case !live && len(h.all) > 0:
					t.Errorf("%s: the %s end told of %d intervals, unasked", test, end.Role, len(h.all))
				case live && len(h.all) < len(end.Intervals)-1:
					t.Errorf("%s: the %s end told of %d of %d intervals", test, end.Role, len(h.all), len(end.Intervals))
				case live && i == 0 && h.last.After(over):
					t.Errorf("%s: an interval came after the figures", test)
				}
				for j := range min(len(h.all), len(end.Intervals)-1) {
					if l := h.all[j]; l.End != end.Role || l.Test.Name != test || l.Interval != end.Intervals[j] {
						t.Errorf("%s: interval %d was told as %+v and is %+v", test, j, l, end.Intervals[j])
					}
				}
				h.mu.Unlock()
			}
		}
	}
}
