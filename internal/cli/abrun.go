package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"netdelta/internal/counters"
	"netdelta/internal/feature"
	"netdelta/internal/hosts"
	"netdelta/internal/lab"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/store"
)

// experiment is a checked command line of ab.
type experiment struct {
	doc     spec.Document
	targets []hosts.Target
	path    hosts.Path
	lab     lab.Options
	// words are those of the command line after the program's name.
	words []string
	// resumed are the trials of the run that is gone on with, which is earlier.
	resumed []result.Trial
	earlier *result.Run
}

// inLab says whether the plan is for a lab on this machine.
func (e *experiment) inLab() bool { return e.doc.Lab != nil }

// target is where the plan is carried out, as runs' lists have it.
func (e *experiment) target() string {
	if e.inLab() {
		return "lab"
	}
	names := make([]string, len(e.targets))
	for i, t := range e.targets {
		names[i] = t.Name
	}
	return strings.Join(names, " ")
}

// check turns flags and plan into an experiment, without touching any host.
func (f *abFlags) check(args []string) (e experiment, err error) {
	if err := f.output.check(); err != nil {
		return e, err
	}
	if err := result.CheckLabel(f.label); err != nil {
		return e, &exitError{ExitUsage, err}
	}
	for _, d := range []struct {
		flag string
		d    time.Duration
	}{{"wait", f.wait}, {"reconnect", f.reconnect}} {
		if d.d < 0 || d.d > maxWait {
			return e, usageError("--%s %v is out of range: 0 to %v", d.flag, d.d, maxWait)
		}
	}
	var names []string
	if e.doc, names, err = f.document(args); err != nil {
		return e, err
	}
	if err := f.gate.check(e.doc.Plan.Tests...); err != nil {
		return e, err
	}
	if e.inLab() {
		if e.lab, err = lab.OptionsOf(*e.doc.Lab); err != nil {
			return e, &exitError{ExitUsage, err}
		}
		return e, nil
	}
	if e.path, err = pathOf(e.doc.Hosts, len(names) > 1); err != nil {
		return e, &exitError{ExitUsage, err}
	}
	e.targets, err = f.security.targets("ab", names)
	return e, err
}

// pathOf is the path between the hosts as a plan has it. two says that the local
// end is another host's agent.
func pathOf(h *spec.Hosts, two bool) (p hosts.Path, err error) {
	if p.DataLocal, p.DataRemote, err = hosts.ParseData(h.Data); err != nil {
		return p, fmt.Errorf("data: %w", err)
	}
	here := parseHereCPU
	if two {
		here = parseFarCPU
	}
	for _, c := range []struct {
		name, value string
		parse       func(string) (int, error)
		cpu         *int
		more        *[]int
	}{{"cpu-local", h.CPULocal, here, &p.CPULocal, &p.CPUsLocal}, {"cpu-remote", h.CPURemote, parseFarCPU, &p.CPURemote, &p.CPUsRemote}} {
		if c.value == "" {
			c.value = spec.None
		}
		if *c.cpu, *c.more, err = parseCPUs(c.value, c.parse); err != nil {
			return p, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	p.DeviceLocal, p.DeviceRemote = h.DeviceLocal, h.DeviceRemote
	return p, nil
}

func runAb(ctx context.Context, f abFlags, words, args []string, stdout, stderr io.Writer) error {
	e, err := f.check(args)
	if err != nil {
		return err
	}
	e.words = words
	if err := f.resumption(ctx, &e, stderr); err != nil {
		return err
	}
	if e.inLab() {
		if status, done, err := lab.InUserNamespace(words); err != nil {
			return &exitError{ExitUnmeasured, err}
		} else if done {
			return &exitError{status: status}
		}
	}
	recoverFirst(ctx, stderr)
	keep := &keeper{stderr: stderr}
	if !f.noStore {
		if keep, err = openKeeper(ctx, f.store, stderr); err != nil {
			return err
		}
	}
	defer keep.close()
	plan := &e.doc.Plan
	record := result.Run{
		ID: store.NewID(), Label: f.label, Experiment: plan.Experiment, Target: e.target(),
		State: result.Running, Start: time.Now(), Plan: plan, Version: versionString(),
		Command: "netdelta " + strings.Join(commandWords(words, plan.Seed, f.given("seed") || e.doc.SeedGiven), " "),
	}
	measure := f.betweenHosts
	if e.inLab() {
		measure = f.withinLab
	}
	screen := newScreen(stderr, plan.Experiment)
	if len(plan.Scoped(spec.Scope.ByAgent)) > 0 {
		// That takes as long as what is set takes to go back, and a second signal ends
		// the program before.
		defer context.AfterFunc(ctx, func() {
			screen.tell("interrupted: what was set is put back; a second time ends at once and leaves that to netdelta restore")
		})()
	}
	runErr := measure(ctx, &e, record, keep, screen)
	screen.clear()
	return f.conclude(ctx, &e, runErr, keep, stdout)
}

// betweenHosts carries the plan out between the hosts, and keeps what comes of
// it.
func (f *abFlags) betweenHosts(ctx context.Context, e *experiment, record result.Run, keep *keeper, screen *screen) error {
	pair, err := hosts.Connect(ctx, e.targets, versionString(), screen.options(f.exclusive, f.wait))
	if err != nil {
		return err
	}
	defer pair.Close()
	if record.Environments, err = pair.Environments(ctx); err != nil {
		return err
	}
	record.Warnings = append(record.Warnings, pair.Warnings()...)
	f.begin(ctx, e, record, keep)

	path := e.path
	path.Pair, path.OneMachine = pair, result.OneMachine(record.Environments)
	err = run.Run(ctx, run.Config{
		Plan: e.doc.Plan, Local: pair.Local, Remote: pair.Remote, Setup: &path,
		Sink:     func(t result.Trial) error { return keep.add(ctx, t) },
		Done:     e.resumed,
		Enough:   enough(&e.doc.Plan, keep),
		Progress: screen.show, Live: screen.live(), Patience: f.reconnect,
	})
	warnings := about(err)
	if err == nil {
		// What the run itself had set is put back.
		warnings = pair.ChangedSince(ctx, record.Environments)
	}
	keep.finish(ctx, stateAfter(err, len(keep.trials)), warnings)
	return err
}

// withinLab carries the plan out in a lab, and keeps what comes of it.
func (f *abFlags) withinLab(ctx context.Context, e *experiment, record result.Run, keep *keeper, screen *screen) error {
	if err := lab.Check(e.doc.Plan, e.lab); errors.Is(err, feature.ErrUnavailable) {
		return err
	} else if err != nil {
		return &exitError{ExitUsage, err}
	}
	facts := append(counters.Environment(), e.lab.Facts(e.doc.Plan)...)
	record.Environments = []result.Environment{{End: result.Local, Facts: facts}, {End: result.Remote, Facts: facts}}
	f.begin(ctx, e, record, keep)
	err := lab.Run(ctx, e.doc.Plan, e.lab, lab.Watch{
		Sink:     func(t result.Trial) error { return keep.add(ctx, t) },
		Done:     e.resumed,
		Enough:   enough(&e.doc.Plan, keep),
		Progress: screen.show,
	})
	keep.finish(ctx, stateAfter(err, len(keep.trials)), about(err))
	return err
}

// begin makes the run's record, with the trials of the part that it goes on with.
func (f *abFlags) begin(ctx context.Context, e *experiment, record result.Run, keep *keeper) {
	record.Warnings = append(record.Warnings, resumedWarnings(e.earlier, &record, len(e.resumed))...)
	keep.begin(ctx, record)
	for _, t := range e.resumed {
		_ = keep.add(ctx, t) // which never fails
	}
}
