package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"netdelta/internal/calibrate"
	"netdelta/internal/compare"
	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/hosts"
	"netdelta/internal/lab"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
)

// inLab calibrates a lab's link: one receive handler's context under two names.
func (f *calibrateFlags) inLab(ctx context.Context, c *calibration, o *calibrate.Options, args []string, stderr io.Writer) error {
	cpu := func(given string) string {
		if given == "" {
			return "auto"
		}
		return given
	}
	lf := labFlags{given: map[string]bool{"tests": true}, ip: f.ip, link: f.link, tests: f.tests, sizes: f.sizes, blocks: 1, time: c.windows[0], seed: f.seed, margin: f.margin,
		offload: f.offload, cpuLocal: cpu(f.cpuLocal), cpuRemote: cpu(f.cpuRemote), cpuWire: f.cpuWire, counting: f.counting}
	opts, err := lf.options()
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	exp, err := lab.Find("rx-context")
	if err != nil {
		return err
	}
	opts.Beside = []spec.Test{} // a thread's wake-up has no part in a path's noise
	if opts, err = exp.Complete(opts); err != nil {
		return &exitError{ExitUsage, err}
	}
	level := f.level
	if level == "" {
		usual, err := exp.Plan(opts)
		if err != nil {
			return &exitError{ExitUsage, err}
		}
		level = usual.Baseline[usual.Factors[0].Name]
	}
	opts.Levels = map[string][]string{"": {level, level + spec.Again}}
	opts.Baseline = map[string]string{"": level}
	plan, err := exp.Plan(opts)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	if status, done, err := lab.InUserNamespace(args); err != nil {
		return &exitError{ExitUnmeasured, err}
	} else if done {
		return &exitError{status: status}
	}
	if err := lab.Check(plan, opts); errors.Is(err, feature.ErrUnavailable) {
		return &exitError{ExitUnmeasured, err}
	} else if err != nil {
		return &exitError{ExitUsage, err}
	}
	recoverFirst(ctx, stderr)
	o.Environment = environment(plan, opts)
	c.plan.Factors, c.plan.Baseline = plan.Factors, plan.Baseline
	return c.rounds(ctx, func(ctx context.Context, p spec.Plan, progress func(run.Progress)) (trials []result.Trial, err error) {
		err = lab.Run(ctx, p, opts, lab.Watch{
			Sink:     func(t result.Trial) error { trials = append(trials, t); return nil },
			Progress: progress,
		})
		return trials, err
	})
}

// betweenHosts calibrates the path to an agent, or between two.
func (f *calibrateFlags) betweenHosts(ctx context.Context, c *calibration, o *calibrate.Options, targets []string, stderr io.Writer) error {
	path, err := f.path(len(targets) > 1)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	to, err := f.security.targets("calibrate", targets)
	if err != nil {
		return err
	}
	recoverFirst(ctx, stderr)
	pair, err := hosts.Connect(ctx, to, versionString(), ctl.Options{Client: clientName(), Exclusive: f.exclusive, Wait: f.wait})
	if err != nil {
		return err
	}
	defer pair.Close()
	began, err := pair.Environments(ctx)
	if err != nil {
		return err
	}
	o.Warnings = pair.Warnings()
	o.Environment = compare.FactsOf(withoutDetails(began))
	path.Pair, path.OneMachine = pair, result.OneMachine(began)
	err = c.rounds(ctx, func(ctx context.Context, p spec.Plan, progress func(run.Progress)) (trials []result.Trial, err error) {
		err = run.Run(ctx, run.Config{
			Plan: p, Local: pair.Local, Remote: pair.Remote, Setup: &path,
			Sink:     func(t result.Trial) error { trials = append(trials, t); return nil },
			Progress: progress, Patience: f.reconnect,
		})
		return trials, err
	})
	if err == nil {
		o.Warnings = append(o.Warnings, pair.ChangedSince(ctx, began)...)
	}
	return err
}

// withoutDetails leaves out what a calibration has no room for.
func withoutDetails(all []result.Environment) []result.Environment {
	var main []result.Environment
	for _, e := range all {
		e.Facts = slices.DeleteFunc(slices.Clone(e.Facts), func(f result.Fact) bool { return result.DetailFact(f.Name) })
		main = append(main, e)
	}
	return main
}

// path is the path between hosts that the flags ask for.
func (f *calibrateFlags) path(far bool) (p hosts.Path, err error) {
	if p.DataLocal, p.DataRemote, err = hosts.ParseData(f.data); err != nil {
		return p, fmt.Errorf("--data: %w", err)
	}
	cpu := func(given string) string {
		if given == "" {
			return "none"
		}
		return given
	}
	here := parseHereCPU
	if far {
		here = parseFarCPU
	}
	if p.CPULocal, p.CPUsLocal, err = parseCPUs(cpu(f.cpuLocal), here); err != nil {
		return p, fmt.Errorf("--cpu-local: %w", err)
	}
	if p.CPURemote, p.CPUsRemote, err = parseCPUs(cpu(f.cpuRemote), parseFarCPU); err != nil {
		return p, fmt.Errorf("--cpu-remote: %w", err)
	}
	p.DeviceLocal, p.DeviceRemote = f.deviceLocal, f.deviceRemote
	return p, nil
}
