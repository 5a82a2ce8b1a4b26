package run

import (
	"testing"
	"time"

	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Every datagram of a flood is somewhere: at the receiver, in the drops of its
// socket, or in those of the link.
func TestEveryDatagramIsAccountedFor(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   string
		levels []string
		params spec.Params
		lossy  func(result.Balance) bool // what this flood is to show
	}{
		{"a small receive buffer", netlab.Veth, []string{"napi", "backlog"}, spec.Params{Size: 1000, RcvBuf: 4096},
			func(b result.Balance) bool { return b.SocketDrops > 0 }},
		{"a TAP that is full", netlab.Ether, []string{"softirq", "inline"}, spec.Params{Size: 64, RcvBuf: 1 << 20},
			func(b result.Balance) bool { return len(b.Drops) > 0 }},
		{"a wire whose second thread is behind", netlab.Ether, []string{"uthread", "inline"}, spec.Params{Size: 1000},
			func(b result.Balance) bool { return len(b.Drops) > 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.NoLeaks(t)
			need(t, c.kind, c.levels)
			var r realRun
			r.cfg.Plan = realPlan(t, "udp_stream", c.levels)
			test, err := spec.NewTest("udp_stream", c.params)
			if err != nil {
				t.Fatal(err)
			}
			r.cfg.Plan.Tests = []spec.Test{test}
			r.cfg.Plan.Blocks, r.cfg.Plan.Window = 2, 100*time.Millisecond
			if err := r.run(t, c.kind); err != nil {
				t.Fatal(err)
			}
			lossy := false
			for _, tr := range r.trials {
				b, ok := tr.Balance()
				if !ok || !b.Exact || b.Rest != 0 || b.Received == 0 {
					t.Errorf("%v: %+v, %v of %v and %v over %v", tr.Variant, b, ok, tr.Local.Counts, tr.Remote.Counts, tr.Path.Counts)
				}
				// Hosts on a link of their own have little else to say.
				if b.Others > 20 {
					t.Errorf("%v: %d other packets: %+v", tr.Variant, b.Others, b)
				}
				lossy = lossy || c.lossy(b)
			}
			if !lossy {
				t.Errorf("nothing was dropped where it should have been, so nothing was shown: %d trials", len(r.trials))
			}
		})
	}
}
