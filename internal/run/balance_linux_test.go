package run

import (
	"fmt"
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
				all := tr.Balances()
				if len(all) != 1 {
					t.Fatalf("%v: %+v of %v and %v", tr.Variant, all, tr.Local.Counts, tr.Remote.Counts)
				}
				b := all[0]
				if !b.Exact || b.Rest != 0 || b.Received == 0 {
					t.Errorf("%v: %+v of %v and %v over %v", tr.Variant, b, tr.Local.Counts, tr.Remote.Counts, tr.Path.Counts)
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

// So is every request and every answer: where all is well they are at the other
// end, and where requests do not fit into a socket, a device or a wire they are
// in the drops of that.
func TestEveryRequestIsAccountedFor(t *testing.T) {
	nothing := func(lost int64) bool { return lost == 0 }
	something := func(lost int64) bool { return lost > 0 }
	for _, c := range []struct {
		name   string
		kind   string
		levels []string
		params spec.Params
		lost   func(lost int64) bool // what of all that was sent is to be
	}{
		{"one at a time", netlab.Veth, []string{"napi", "backlog"}, spec.Params{Size: 64}, nothing},
		{"at a rate", netlab.Ether, []string{"softirq", "inline"}, spec.Params{Size: 64, Rate: 2000}, nothing},
		{"many", netlab.Ether, []string{"uthread", "softirq"}, spec.Params{Size: 64, Flows: 8, Burst: 2, Threads: 2}, nothing},
		{"a small receive buffer", netlab.Veth, []string{"napi", "backlog"}, spec.Params{Size: 1000, Flows: 64, Burst: 16, RcvBuf: 4096}, something},
		{"a TAP that is full", netlab.Ether, []string{"softirq", "inline"}, spec.Params{Size: 64, Flows: 200, Burst: 64, RcvBuf: 1 << 22}, something},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.NoLeaks(t)
			need(t, c.kind, c.levels)
			test, err := spec.NewTest("udp_rr", c.params)
			if err != nil {
				t.Fatal(err)
			}
			var r realRun
			r.cfg.Plan = realPlan(t, "udp_rr", c.levels)
			r.cfg.Plan.Tests = []spec.Test{test}
			r.cfg.Plan.Window = 100 * time.Millisecond
			// On a busy machine an answer may come after the wait for it.
			var unbalanced []string
			for range 3 {
				r.trials = nil
				if err := r.run(t, c.kind); err != nil {
					t.Fatal(err)
				}
				if unbalanced = notBalanced(r.trials, c.lost); len(unbalanced) == 0 {
					return
				}
			}
			t.Error(unbalanced)
		})
	}
}

// notBalanced says of which trials of udp_rr some datagram is nowhere, or which
// did not lose what they should have.
func notBalanced(trials []result.Trial, lost func(int64) bool) (which []string) {
	for i := range trials {
		tr := &trials[i]
		all := tr.Balances()
		missing := int64(0)
		closed := len(all) == 2
		for _, b := range all {
			closed = closed && b.Exact && b.Rest == 0 && b.Received > 0 && b.Others < 50
			missing += b.Sent - b.Received
		}
		for _, m := range tr.Metrics() {
			closed = closed && (m.Name != result.Unaccounted || m.Value == 0)
		}
		if !closed || !lost(missing) {
			which = append(which, fmt.Sprintf("%v: %+v of %v and %v over %v\n", tr.Variant, all, tr.Local.Counts, tr.Remote.Counts, tr.Path.Counts))
		}
	}
	return which
}
