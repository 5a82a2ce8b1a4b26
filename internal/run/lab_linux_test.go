package run

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"netdelta/internal/agent"
	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
	"netdelta/internal/worker"
)

// links are the lab's links; each test over a real path runs on both.
var links = []struct {
	kind   string
	levels []string
}{
	{netlab.Veth, []string{"napi", "backlog"}},
	{netlab.Ether, []string{"softirq", "inline"}},
}

// realRun is a plan over a real lab, with real workers.
type realRun struct {
	cfg    Config
	trials []result.Trial
	// start replaces worker.Start at the local host. It may be nil.
	start func(*sys.NetNS) (agent.Worker, error)
	// path changes the path of each variant, and meddle does something to the
	// lab when both ends have read their counters and nothing has been sent.
	// Both may be nil.
	path   func(*Path)
	meddle func(*netlab.Lab) error
	// over makes another setup than realSetup. It may be nil.
	over func(*netlab.Lab) Setup
	// length is the time that the finished run took in all.
	length time.Duration
}

func (r *realRun) run(t *testing.T, kind string) error {
	t.Helper()
	lab, err := netlab.New()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	}()
	serve := func(h *netlab.Host, cfg agent.Config) (*ctl.Client, func()) {
		a := agent.New(cfg)
		p := ctl.NewPipe()
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- ctl.Serve(ctx, p, ctl.Handler(a)) }()
		c, err := ctl.Dial(ctx, h.Name, p, ctl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c, func() {
			c.Close()
			a.Close()
			cancel()
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
	}
	near := agent.Config{Name: "a", NS: lab.A.NS}
	if r.meddle != nil {
		near.Start = func() (agent.Worker, error) {
			w, err := worker.Start(lab.A.NS)
			return meddler{w, func() error { return r.meddle(lab) }}, err
		}
	}
	if r.start != nil {
		near.Start = func() (agent.Worker, error) { return r.start(lab.A.NS) }
	}
	local, endLocal := serve(lab.A, near)
	defer endLocal()
	remote, endRemote := serve(lab.B, agent.Config{Name: "b", NS: lab.B.NS})
	defer endRemote()
	r.cfg.Local, r.cfg.Remote = local, remote
	r.cfg.Setup = realSetup{lab, kind, r.path}
	if r.over != nil {
		r.cfg.Setup = r.over(lab)
	}
	r.cfg.Sink = func(tr result.Trial) error { r.trials = append(r.trials, tr); return nil }
	began := time.Now()
	err = Run(t.Context(), r.cfg)
	r.length = time.Since(began)
	return err
}

type realSetup struct {
	lab    *netlab.Lab
	kind   string
	change func(*Path)
}

func (s realSetup) Apply(ctx context.Context, v spec.Variant) (Path, error) {
	link, err := s.lab.Connect(ctx, netlab.LinkConfig{Kind: s.kind, Context: v["rx"], WireCPU: sys.NoCPU})
	if err != nil {
		return Path{}, err
	}
	p := Path{
		LocalAddr: link.AddrA(), RemoteAddr: link.AddrB(),
		LocalCPU: sys.NoCPU, RemoteCPU: sys.NoCPU,
		Counts: link.Counts, Close: link.Close, OneMachine: true,
	}
	if s.change != nil {
		s.change(&p)
	}
	return p, nil
}

// meddler is the local end's worker, before whose traffic something happens.
// The remote end has begun by then.
type meddler struct {
	*worker.Worker
	meddle func() error
}

func (m meddler) Run(ctx context.Context) (*result.End, error) {
	if err := m.meddle(); err != nil {
		return nil, err
	}
	return m.Worker.Run(ctx)
}

// need skips what this system cannot do.
func need(t *testing.T, kind string, levels []string) {
	t.Helper()
	for _, l := range levels {
		if err := netlab.Check(netlab.LinkConfig{Kind: kind, Context: l, WireCPU: sys.NoCPU}); err != nil {
			labtest.Skip(t, err)
		}
	}
}

func realPlan(t *testing.T, tests string, levels []string) spec.Plan {
	t.Helper()
	p := plan(t)
	var err error
	if p.Tests, err = spec.ParseTests(tests, nil); err != nil {
		t.Fatal(err)
	}
	p.Factors[0].Levels, p.Baseline["rx"] = levels, levels[0]
	p.Blocks, p.Warmup, p.Window = 1, 10*time.Millisecond, spec.MinWindow
	return p
}

// Every test over every kind of link, from the plan to the figures.
func TestLab(t *testing.T) {
	for _, l := range links {
		t.Run(l.kind, func(t *testing.T) {
			labtest.NoLeaks(t)
			labtest.Need(t, feature.ICMP)
			need(t, l.kind, l.levels)
			var r realRun
			r.cfg.Plan = realPlan(t, "icmp_echo,udp_rr,tcp_rr,udp_stream,tcp_stream", l.levels)
			if err := r.run(t, l.kind); err != nil {
				t.Fatal(err)
			}
			if len(r.trials) != r.cfg.Plan.Trials() {
				t.Errorf("%d trials, want %d", len(r.trials), r.cfg.Plan.Trials())
			}
			for _, tr := range r.trials {
				checkTrial(t, tr)
			}
			n := time.Duration(len(r.trials))
			t.Logf("%v a trial beside warm-up and window, links included", (r.length/n - r.cfg.Plan.Warmup - r.cfg.Plan.Window).Round(100*time.Microsecond))
		})
	}
}

// checkTrial checks that the figures are those of traffic that went over the
// link.
func checkTrial(t *testing.T, tr result.Trial) {
	t.Helper()
	if tr.Warmup != 10*time.Millisecond || tr.Window != spec.MinWindow {
		t.Errorf("%v %s: planned %v and %v", tr.Variant, tr.Test, tr.Warmup, tr.Window)
	}
	if tr.Attempt != 1 {
		t.Errorf("%v %s: attempt %d", tr.Variant, tr.Test, tr.Attempt)
	}
	if d := tr.Local.Elapsed; d < spec.MinWindow*9/10 {
		t.Errorf("%v %s: window of %v, want %v", tr.Variant, tr.Test, d, spec.MinWindow)
	}
	receiver := &tr.Local
	if tr.Test.Kind().Pattern == spec.Stream {
		receiver = tr.Remote
	} else if late := tr.Local.Counts[traffic.CountLate]; tr.Local.RTT == nil || tr.Local.RTT.Count() != tr.Local.Messages+late {
		t.Errorf("%v %s: %d round trips and %d late answers without as many times", tr.Variant, tr.Test, tr.Local.Messages, late)
	}
	if receiver == nil || receiver.Bytes <= 0 {
		t.Errorf("%v %s: the receiver got nothing: %+v", tr.Variant, tr.Test, receiver)
		return
	}
	if frames := tr.Path.Counts["a.tx_packets"]; frames <= 0 {
		t.Errorf("%v %s: the link counted %d frames: %v", tr.Variant, tr.Test, frames, tr.Path.Counts)
	}
}

// mortal is a worker that is killed when its traffic is to start.
type mortal struct{ *worker.Worker }

func (m mortal) Run(ctx context.Context) (*result.End, error) {
	if err := syscall.Kill(m.PID(), syscall.SIGKILL); err != nil {
		return nil, err
	}
	return m.Worker.Run(ctx)
}

// A worker process that dies costs one attempt; the second ends the run, and
// what was finished is there.
func TestWorkerProcessDies(t *testing.T) {
	for _, c := range []struct {
		name  string
		kills map[int]bool // which workers of the local host, from 1
		done  int
		want  error
	}{
		{"once", map[int]bool{2: true}, 2, nil},
		{"twice", map[int]bool{2: true, 3: true}, 1, ErrStopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.NoLeaks(t)
			need(t, netlab.Veth, []string{"backlog", "napi"})
			r := realRun{}
			r.cfg.Plan = realPlan(t, "udp_rr", []string{"backlog", "napi"})
			started := 0
			r.start = func(ns *sys.NetNS) (agent.Worker, error) {
				w, err := worker.Start(ns)
				if err != nil {
					return nil, err
				}
				if started++; c.kills[started] {
					return mortal{w}, nil
				}
				return w, nil
			}
			err := r.run(t, netlab.Veth)
			if !errors.Is(err, c.want) || (c.want != nil && !errors.Is(err, ctl.ErrWorkerDied)) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if len(r.trials) != c.done {
				t.Errorf("kept %d trials, want %d", len(r.trials), c.done)
			}
		})
	}
}
