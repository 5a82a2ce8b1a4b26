package run

import (
	"testing"

	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Of streams in a plan that explains, and of no other test, both ends look at their
// queues.
func TestQueuesOfStreams(t *testing.T) {
	labtest.NoLeaks(t)
	levels := []string{"backlog", "napi"}
	need(t, netlab.Veth, levels)
	r := &realRun{cfg: Config{Plan: realPlan(t, "tcp_stream, tcp_maerts, udp_stream, udp_rr", levels)}}
	r.cfg.Plan.Window, r.cfg.Plan.Explain = 2*spec.MinWindow, spec.ExplainClock
	if err := r.run(t, netlab.Veth); err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, x := range r.trials {
		stream := x.Test.Kind().IsStream()
		for _, e := range []*result.End{&x.Local, x.Remote} {
			if asked, _ := e.Counters.Asked(result.SourceQueues); asked != stream {
				t.Errorf("%s, %s end: the queues were asked for: %v", x.Test, e.Role, asked)
			}
			if q := e.Counters.Reading(result.SourceQueues); q != nil && q.Levels[result.QueueSamples] > 1 && q.Levels["sockets"] > 0 {
				looked++
			}
		}
	}
	if looked == 0 { // a busy machine can keep some from it, but hardly all
		t.Errorf("no end looked at its queues: %v", missing(r.trials))
	}
}
