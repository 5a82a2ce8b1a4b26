// Command counting compares trials around which nothing is counted with those
// around which the usual sources are, and all sources: what the accounting
// itself costs. Both ends are pinned, over a veth pair, every variant once a
// block in random order.
//
//	go run ./bench/counting [-blocks 24] [-time 200ms] [-tests udp_rr,tcp_rr] [-with default,all]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"netdelta/internal/agent"
	"netdelta/internal/compare"
	"netdelta/internal/counters"
	"netdelta/internal/ctl"
	"netdelta/internal/hosts"
	"netdelta/internal/lab"
	"netdelta/internal/netlab"
	"netdelta/internal/report"
	"netdelta/internal/result"
	"netdelta/internal/roles"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// factor is what varies: the sources that are read.
const factor = "counters"

func main() {
	if status, ok := roles.Dispatch(os.Args[1:]); ok {
		os.Exit(status)
	}
	var o options
	flag.IntVar(&o.blocks, "blocks", 24, "blocks")
	flag.DurationVar(&o.window, "time", 200*time.Millisecond, "window of a trial")
	flag.StringVar(&o.tests, "tests", "udp_rr,tcp_rr", "tests")
	flag.StringVar(&o.with, "with", "default", "levels that are compared with none: default, all, or names of sources joined by +")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()%1e9), "seed of the order")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if status, done, err := lab.InUserNamespace(os.Args[1:]); err != nil {
		fail(err)
	} else if done {
		os.Exit(status)
	}
	if err := o.compare(ctx); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "counting:", err)
	os.Exit(1)
}

type options struct {
	blocks      int
	window      time.Duration
	tests, with string
	seed        uint64
}

func (o options) compare(ctx context.Context) (err error) {
	tests, err := spec.ParseTests(o.tests, nil)
	if err != nil {
		return err
	}
	plan := spec.Plan{
		Experiment: "counting", Question: "What does counting cost?",
		Factors:  []spec.Factor{{Name: factor, Levels: append([]string{counters.None}, strings.Split(o.with, ",")...)}},
		Baseline: spec.Variant{factor: counters.None},
		Tests:    tests, Blocks: o.blocks, Warmup: o.window / 4, Window: o.window, Seed: o.seed, Margin: 0.01,
	}
	for _, level := range plan.Factors[0].Levels {
		if err := counters.CheckNames(strings.Split(level, "+")); err != nil {
			return err
		}
	}
	if err := plan.Validate(); err != nil {
		return err
	}
	trials, err := o.run(ctx, plan)
	if err != nil {
		return err
	}
	r, err := compare.Build(plan, trials, compare.Options{})
	if err != nil {
		return err
	}
	format, err := report.FormatOf("text")
	if err != nil {
		return err
	}
	return format.Render(os.Stdout, &compare.Document{Report: &r}, report.Options{})
}

func (o options) run(ctx context.Context, plan spec.Plan) (trials []result.Trial, err error) {
	pair, err := netlab.New()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pair.Close()) }()
	local, endLocal, err := hosts.Here(ctx, agent.Config{Name: pair.A.Name, NS: pair.A.NS}, ctl.Options{Client: "counting"})
	if err != nil {
		return nil, err
	}
	defer endLocal()
	remote, endRemote, err := hosts.Here(ctx, agent.Config{Name: pair.B.Name, NS: pair.B.NS}, ctl.Options{Client: "counting"})
	if err != nil {
		return nil, err
	}
	defer endRemote()
	err = run.Run(ctx, run.Config{Plan: plan, Local: local, Remote: remote, Setup: setup{pair}, Sink: func(t result.Trial) error {
		trials = append(trials, t)
		return nil
	}})
	return trials, err
}

// setup makes the same link for every variant, with that one's counters.
type setup struct{ hosts *netlab.Lab }

func (s setup) Apply(ctx context.Context, v spec.Variant) (run.Path, error) {
	link, err := s.hosts.Connect(ctx, netlab.LinkConfig{Kind: netlab.Veth, Context: "napi", WireCPU: sys.NoCPU})
	if err != nil {
		return run.Path{}, err
	}
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return run.Path{}, errors.Join(err, link.Close())
	}
	return run.Path{
		LocalAddr: link.AddrA(), RemoteAddr: link.AddrB(),
		LocalCPU: cpus[0], RemoteCPU: cpus[len(cpus)-1],
		Counts: link.Counts, Close: link.Close, OneMachine: true,
		Counters: strings.Split(v[factor], "+"),
	}, nil
}
