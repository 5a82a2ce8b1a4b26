package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"netdelta/internal/agent"
	"netdelta/internal/compare"
	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// InUserNamespace runs the program once more, in a user namespace, if this
// user needs one to make a lab: done says that this has happened, and status
// is what that run exited with.
func InUserNamespace() (status int, done bool, err error) {
	if !netlab.NeedUserNS() {
		return 0, false, nil
	}
	if err := feature.UserNS.Err(); err != nil {
		return 0, false, fmt.Errorf("lab as an ordinary user: %w", err)
	}
	status, err = sys.ReexecInUserNS(os.Args[1:])
	return status, err == nil, err
}

// Check tells whether every link that the plan asks for can be made here. The
// error wraps feature.ErrUnavailable if it is the system that cannot.
func Check(plan spec.Plan, o Options) error {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return err
	}
	for _, v := range plan.Variants() {
		if err := netlab.Check(o.link(v, o.place(cpus))); err != nil {
			return err
		}
	}
	return nil
}

// Run carries out the plan in a lab of its own and returns the trials that
// were finished, with an error that wraps run.ErrStopped or
// run.ErrInterrupted if those are not all. progress may be nil.
func Run(ctx context.Context, plan spec.Plan, o Options, progress func(run.Progress)) (trials []result.Trial, err error) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	places := o.place(cpus)
	hosts, err := netlab.New()
	if err != nil {
		return nil, err
	}
	defer func() { err = joined(err, hosts.Close()) }()

	local, endLocal, err := serve(ctx, hosts.A)
	if err != nil {
		return nil, err
	}
	defer endLocal()
	remote, endRemote, err := serve(ctx, hosts.B)
	if err != nil {
		return nil, err
	}
	defer endRemote()

	err = run.Run(ctx, run.Config{
		Plan:   plan,
		Local:  local,
		Remote: remote,
		Setup:  setup{hosts, o, places},
		Sink: func(t result.Trial) error {
			trials = append(trials, t)
			return nil
		},
		Progress: progress,
		CPUs:     len(cpus),
	})
	return trials, err
}

// serve starts an agent for one of the lab's hosts within this process and
// connects to it.
func serve(ctx context.Context, h *netlab.Host) (*ctl.Client, func(), error) {
	// The agent outlives an interrupt, so that the trial under way can be
	// ended in order; it is closed below.
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := agent.New(agent.Config{Name: h.Name, NS: h.NS})
	pipe := ctl.NewPipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		// It ends with the context; a pipe has no other way to fail.
		_ = ctl.Serve(serving, pipe, ctl.Handler(a))
	})
	end := func() {
		a.Close()
		cancel()
		pipe.Close()
		wg.Wait()
	}
	client, err := ctl.Dial(ctx, h.Name, pipe, ctl.Options{Client: "lab"})
	if err != nil {
		end()
		return nil, nil, err
	}
	return client, func() { client.Close(); end() }, nil
}

// setup makes a fresh link for each variant.
type setup struct {
	hosts  *netlab.Lab
	o      Options
	places places
}

func (s setup) Apply(ctx context.Context, v spec.Variant) (run.Path, error) {
	cfg := s.o.link(v, s.places)
	link, err := s.hosts.Connect(ctx, cfg)
	if err != nil {
		return run.Path{}, err
	}
	p := run.Path{
		LocalAddr: link.AddrA(), RemoteAddr: link.AddrB(),
		LocalCPU: s.places.local, RemoteCPU: s.places.remote,
		Counts:     link.Counts,
		Close:      link.Close,
		OneMachine: true,
	}
	if cfg.Kind == netlab.Ether {
		p.WireThreads = 1
	}
	for _, w := range link.Warnings() {
		p.Warnings = append(p.Warnings, result.Warning{Code: "lab", Text: w})
	}
	return p, nil
}

// link is the link that a variant asks for.
func (o Options) link(v spec.Variant, p places) netlab.LinkConfig {
	return netlab.LinkConfig{
		Kind:    o.Link,
		Context: baseLevel(v[rxFactor]),
		Offload: o.Offload,
		WireCPU: p.wire,
	}
}

// places says which CPU each thread is bound to.
type places struct{ local, remote, wire int }

// place puts the two ends and the wire on the first three usable CPUs, one
// each. With fewer CPUs all are left to the scheduler: a thread bound to the
// CPU of another waits for it while the other CPU idles, and which one waits
// changes with the variant.
func (o Options) place(cpus []int) places {
	at := func(i int) int {
		if len(cpus) < 3 {
			return sys.NoCPU
		}
		return cpus[i]
	}
	choose := func(asked, auto int) int {
		if asked == Auto {
			return auto
		}
		return asked
	}
	return places{
		local:  choose(o.CPULocal, at(0)),
		remote: choose(o.CPURemote, at(1)),
		wire:   choose(o.CPUWire, at(2)),
	}
}

// Facts tells what of the lab bears on its figures.
func (o Options) Facts() []compare.Fact {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return nil
	}
	p := o.place(cpus)
	link := o.Link
	if o.Offload {
		link += ", offload"
	}
	return []compare.Fact{
		{Name: "link", Value: link},
		{Name: "bound to cpu", Value: fmt.Sprintf("local %s, remote %s, wire %s", cpuName(p.local), cpuName(p.remote), cpuName(p.wire))},
	}
}

func cpuName(cpu int) string {
	if cpu == sys.NoCPU {
		return "none"
	}
	return fmt.Sprint(cpu)
}

// joined adds a second error to a first, either of which may be nil.
func joined(a, b error) error {
	if a == nil || b == nil {
		return errors.Join(a, b)
	}
	return fmt.Errorf("%w; %w", a, b)
}
