package run

import (
	"context"
	"strings"
	"testing"
	"time"

	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// placed is a lab's link with an end on each CPU, and with or without offload.
type placed struct {
	lab     *netlab.Lab
	kind    string
	offload bool
}

func (s placed) Apply(ctx context.Context, v spec.Variant) (Path, error) {
	link, err := s.lab.Connect(ctx, netlab.LinkConfig{Kind: s.kind, Context: v["rx"], Offload: s.offload, WireCPU: sys.NoCPU})
	if err != nil {
		return Path{}, err
	}
	return Path{LocalAddr: link.AddrA(), RemoteAddr: link.AddrB(), LocalCPU: 0, RemoteCPU: 1,
		Counts: link.Counts, Close: link.Close, OneMachine: true}, nil
}

// The counters of real hosts give figures that can be: time that the CPUs had,
// and packets of the size that the link carries.
func TestLabCosts(t *testing.T) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < 2 || cpus[0] != 0 || cpus[1] != 1 {
		t.Skip("it takes the CPUs 0 and 1")
	}
	for _, c := range []struct {
		name, kind string
		levels     []string
		offload    bool
		least      float64 // bytes per packet
		most       float64
	}{
		{"veth", netlab.Veth, []string{"backlog", "napi"}, false, 1000, 1514},
		{"ether", netlab.Ether, []string{"softirq", "inline"}, false, 1000, 1514},
		{"ether with offload", netlab.Ether, []string{"softirq", "inline"}, true, 3000, 1 << 17},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.NoLeaks(t)
			for _, l := range c.levels {
				if err := netlab.Check(netlab.LinkConfig{Kind: c.kind, Context: l, Offload: c.offload, WireCPU: sys.NoCPU}); err != nil {
					labtest.Skip(t, err)
				}
			}
			var r realRun
			r.cfg.Plan = realPlan(t, "tcp_rr,tcp_stream,udp_stream", c.levels)
			r.cfg.Plan.Window = 200 * time.Millisecond
			r.over = func(lab *netlab.Lab) Setup { return placed{lab, c.kind, c.offload} }
			if err := r.run(t, c.kind); err != nil {
				t.Fatal(err)
			}
			for i := range r.trials {
				checkCosts(t, &r.trials[i], c.least, c.most)
			}
		})
	}
}

// checkCosts holds a trial's figures against what can be.
func checkCosts(t *testing.T, tr *result.Trial, least, most float64) {
	t.Helper()
	for _, e := range []*result.End{&tr.Local, tr.Remote} {
		// Where something else is busy, too, the baseline can leave nothing.
		if e.Counters == nil || len(e.Counters.Baseline) == 0 {
			t.Fatalf("%v %s: the %s end has no baseline: %+v", tr.Variant, tr.Test, e.Role, e.Counters)
		}
		e.Counters.Baseline = nil
	}
	figures := map[result.Taken]float64{}
	for _, m := range tr.Metrics() {
		figures[m.Taken()] = m.Value
	}
	between := func(name, end string, lo, hi float64) {
		t.Helper()
		why := whyNot(tr, result.Taken{Name: name, End: end})
		if strings.Contains(why, "less than half") {
			return // so busy a machine that the stream was kept from running
		}
		if v, ok := figures[result.Taken{Name: name, End: end}]; !ok || v < lo || v > hi {
			t.Errorf("%v %s: %s %s is %v (%v), want %v to %v%s", tr.Variant, tr.Test, name, end, v, ok, lo, hi, why)
		}
	}
	// A CPU can't do more than work all the time; a tick of ten milliseconds may
	// have begun before the window.
	for _, end := range []string{result.Local, result.Remote} {
		between(result.CPU, end, 0.01, 1.1)
		if tr.Test.Kind().IsStream() {
			between(result.CPUPerByte, end, 1e-12, 1e-3)
		} else {
			between(result.CPUPerOp, end, 1e-8, 1)
		}
	}
	switch tr.Test.Name {
	case "tcp_stream":
		between(result.BytesPerPacket, result.Remote, least, most)
		between(result.BytesPerSegment, result.Local, 500, 1460)
		between(result.Packets, result.Remote, 1, 1e8)
	case "udp_stream":
		between(result.Unaccounted, result.Remote, 0, 0)
	}
}

// whyNot is the reason for a figure that is missing.
func whyNot(tr *result.Trial, k result.Taken) (why string) {
	_, missing := tr.Derive()
	_, uncounted := tr.Tells()
	for _, w := range append(missing, uncounted...) {
		if w.Alone(k) {
			why += ": " + w.Text
		}
	}
	return why
}

// Every datagram of a flood into a receive buffer that is too small for it is
// found: what is lost is the socket's, and nothing is unaccounted for.
func TestFloodIsLostToTheSocket(t *testing.T) {
	labtest.NoLeaks(t)
	levels := []string{"backlog", "napi"}
	need(t, netlab.Veth, levels)
	var r realRun
	r.cfg.Plan = realPlan(t, "udp_stream", levels)
	test, err := spec.NewTest("udp_stream", spec.Params{Size: 1000, RcvBuf: 4096})
	if err != nil {
		t.Fatal(err)
	}
	r.cfg.Plan.Tests = []spec.Test{test}
	if err := r.run(t, netlab.Veth); err != nil {
		t.Fatal(err)
	}
	lost := false
	for i := range r.trials {
		b := r.trials[i].Balances()
		if len(b) != 1 || !b[0].Exact || b[0].Rest != 0 {
			t.Errorf("%v: %+v", r.trials[i].Variant, b)
		}
		for _, m := range r.trials[i].Metrics() {
			switch m.Name {
			case result.Unaccounted:
				if m.Value != 0 {
					t.Errorf("%v: %v is unaccounted for: %+v", r.trials[i].Variant, m.Value, b)
				}
			case result.LossSocket:
				lost = lost || m.Value > 0
			}
		}
	}
	if !lost || len(r.trials) != 2 {
		t.Errorf("nothing was lost in %d trials, so nothing was shown", len(r.trials))
	}
}
