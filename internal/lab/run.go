package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"netdelta/internal/agent"
	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/hosts"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// InUserNamespace runs the program once more with the same arguments, those
// after its name, in a user namespace, if this user needs one to make a lab:
// done says that this has happened, and status is what that run exited with.
func InUserNamespace(args []string) (status int, done bool, err error) {
	if !netlab.NeedUserNS() {
		return 0, false, nil
	}
	if err := feature.UserNS.Err(); err != nil {
		return 0, false, fmt.Errorf("lab as an ordinary user: %w", err)
	}
	status, err = sys.ReexecInUserNS(args)
	return status, err == nil, err
}

// Check tells whether every link that the plan asks for can be made here. The
// error wraps feature.ErrUnavailable if it is the system that cannot.
func Check(plan spec.Plan, o Options) error {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return err
	}
	for _, s := range plan.Scoped(func(scope spec.Scope) bool { return scope == spec.OnWorker }) {
		if _, _, err := parseCPUs(s.Value, cpus); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	wire, handler := false, false
	for _, v := range plan.Variants() {
		c, err := o.link(plan.SettingsOf(v), o.place(cpus))
		if err != nil {
			return err
		}
		if err := netlab.Check(c); err != nil {
			return err
		}
		wire = wire || c.Kind == netlab.Ether
		by, _ := netlab.Handling(c)
		handler = handler || by != ""
	}
	if !wire && o.CPUWire != Auto {
		return errNoWire
	}
	if !handler && o.CPUHandler != Auto {
		return errNoHandler
	}
	return nil
}

// Watch is how the caller of Run takes part in it. All but Sink may be nil.
type Watch struct {
	// These are as run.Config has them.
	Sink     func(result.Trial) error
	Progress func(run.Progress)
	Enough   func(blocks int) bool
	Done     []result.Trial
}

// Run carries out the plan in a lab of its own, and returns as run.Run does.
func Run(ctx context.Context, plan spec.Plan, o Options, w Watch) (err error) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return err
	}
	pair, err := netlab.New()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, pair.Close()) }()
	var lacks []result.Warning
	if o.Classify {
		lacks = unclassified(pair.Classify())
	}

	if o.Awake {
		awake, failed := netlab.KeepAwake(cpus)
		if failed != nil {
			return failed
		}
		defer func() { err = joined(err, awake.Close()) }()
	}

	local, endLocal, err := serve(ctx, pair.A)
	if err != nil {
		return err
	}
	defer endLocal()
	remote, endRemote, err := serve(ctx, pair.B)
	if err != nil {
		return err
	}
	defer endRemote()

	return run.Run(ctx, run.Config{
		Plan:     plan,
		Local:    local,
		Remote:   remote,
		Setup:    setup{pair, plan, o, o.place(cpus), lacks},
		Sink:     w.Sink,
		Done:     w.Done,
		Enough:   w.Enough,
		Progress: w.Progress,
		CPUs:     len(cpus),
	})
}

// serve starts an agent for one of the lab's hosts within this process and
// connects to it.
func serve(ctx context.Context, h *netlab.Host) (*ctl.Client, func(), error) {
	return hosts.Here(ctx, agent.Config{Name: h.Name, NS: h.NS, Group: h.Group}, ctl.Options{Client: "lab"})
}

// setup makes a fresh link for each variant.
type setup struct {
	hosts  *netlab.Lab
	plan   spec.Plan
	o      Options
	places places
	lacks  []result.Warning // of every trial
}

// unclassified is the warning that packets can't be counted by control group, if
// they can't: a run does without.
func unclassified(err error) []result.Warning {
	if err == nil {
		return nil
	}
	return []result.Warning{{
		Code:   "unclassified",
		Text:   "packets were not counted by the control group of their socket: " + err.Error(),
		Advice: "the figures are as good without; that packets are classified by their socket's group in each context has to be seen elsewhere",
	}}
}

func (s setup) Apply(ctx context.Context, v spec.Variant) (run.Path, error) {
	cfg, err := s.o.link(s.plan.SettingsOf(v), s.places)
	if err != nil {
		return run.Path{}, err
	}
	link, err := s.hosts.Connect(ctx, cfg)
	if err != nil {
		return run.Path{}, err
	}
	p := run.Path{
		LocalAddr: link.AddrA(), RemoteAddr: link.AddrB(),
		LocalCPU: s.places.local, RemoteCPU: s.places.remote,
		LocalCPUs: s.o.CPUsLocal, RemoteCPUs: s.o.CPUsRemote,
		Counts:     link.Counts,
		Close:      link.Close,
		Fresh:      true,
		OneMachine: true,

		BusyThreads: netlab.BusyThreads(cfg.Kind, cfg.Context),
		Warnings:    slices.Clone(s.lacks),
	}
	if s.o.IPv6 {
		if p.LocalAddr, p.RemoteAddr = link.Addr6A(), link.Addr6B(); !p.LocalAddr.IsValid() {
			return run.Path{}, errors.Join(errors.New("IPv6 on the link: this kernel has none, or it is switched off (sysctl net.ipv6.conf.all.disable_ipv6)"), link.Close())
		}
	}
	for _, w := range link.Warnings() {
		p.Warnings = append(p.Warnings, result.Warning{Code: "lab", Text: w})
	}
	return p, nil
}

// places says which CPU each thread is bound to.
type places struct{ local, remote, wire, handler int }

// place puts the two ends on the first two usable CPUs and the wire on a
// third. With two CPUs the scheduler places the wire: bound to the CPU of one
// end it would always delay that one. Where an experiment asks for what handles
// frames to be bound, the wire is on the local end's CPU then, and the threads
// that handle received frames are with it. On a single CPU there is nothing to
// choose.
//
// Measured on two CPUs with the context kthread and loops of idle priority: on
// the local end's CPU, round trips at 2000 a second took 63 us and TCP carried
// 1.6 Gbit/s (unbound 68 us and 1.4 Gbit/s); on the remote end's, round
// trips fell behind the rate, by 26 ms in the median, and TCP carried 1.0 (two
// blocks each).
func (o Options) place(cpus []int) places {
	at := func(i int) int {
		if i >= len(cpus) || len(cpus) < 2 {
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
	wire, handler := at(2), sys.NoCPU
	if o.bound && len(cpus) == 2 {
		wire = at(0)
	}
	wire = choose(o.CPUWire, wire)
	if o.bound {
		handler = wire
	}
	return places{
		local:   choose(o.CPULocal, at(0)),
		remote:  choose(o.CPURemote, at(1)),
		wire:    wire,
		handler: choose(o.CPUHandler, handler),
	}
}

// joined adds a second error to a first, either of which may be nil.
func joined(a, b error) error {
	if a == nil || b == nil {
		return errors.Join(a, b)
	}
	return fmt.Errorf("%w; %w", a, b)
}
