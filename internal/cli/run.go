package cli

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netdelta/internal/compare"
	"netdelta/internal/hosts"
	"netdelta/internal/report"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/store"
	"netdelta/internal/summary"
)

// runFlags holds what the command line gives, before it is checked.
type runFlags struct {
	verb                string // the command: run, explain
	security            securityFlags
	tests, sizes        string
	trials              int
	time, warmup        time.Duration
	interval            time.Duration
	seed                uint64
	label, store        string
	noStore             bool
	warmed, divided     bool // --warmup, --interval were given
	exclusive           bool
	wait, reconnect     time.Duration
	cpuLocal, cpuRemote string

	deviceLocal, deviceRemote string
	portLocal, portRemote     uint16

	data     string
	output   outputFlags
	counting countingFlags
	boot     bool
	against  againstFlags
	explain  explainFlag
}

func newRun() *cobra.Command {
	f := runFlags{verb: "run"}
	cmd := &cobra.Command{
		Use:   "run TARGET [TARGET2]",
		Short: "Measure a path as it is, and keep the figures",
		Long: `Measures the path between this host and the agent at TARGET, or between the
agents at TARGET (the local end) and TARGET2 (the remote end): every test once
in each of some rounds, in random order. All trials are kept with their
histograms, to be compared later with those of another run.

A comparison of two runs has the drift between them in it. Where both variants
can be had at one time, alternate them instead.

With --boot a run stands for the boot that it is measured on: measure three boots
or more of each kernel or build, and the boots are compared.`,
		Example: `  netdelta run bench2 --secret-file secret --label old
  netdelta run 192.0.2.1 192.0.2.2 --secret-file secret --trials 12
  netdelta run bench2 --secret-file secret --against @good --fail-on worse:rtt_p50:5%
  netdelta run bench2 --test tcp_stream --time 10s --interval 1s
  netdelta run bench2 --tests "udp_rr,udp_stream size=1448" --exclusive --wait 10m`,
		RunE: func(cmd *cobra.Command, args []string) error {
			fl := cmd.Flags()
			if fl.Changed("no-store") && fl.Changed("store") {
				return usageError("--store and --no-store exclude each other: give one of them")
			}
			f.warmed, f.divided = fl.Changed("warmup"), fl.Changed("interval")
			return runRun(cmd.Context(), f, args, fl.Changed("seed"), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.add(cmd.Flags(), spec.UsualTests())
	return cmd
}

// add adds the flags of a run, whose tests are those unless others are named.
func (f *runFlags) add(fl *pflag.FlagSet, tests []string) {
	fl.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "test" {
			name = "tests"
		}
		return pflag.NormalizedName(name)
	})
	f.security.add(fl)
	fl.StringVar(&f.tests, "tests", strings.Join(tests, ","), "tests, comma-separated, with parameters as in \"udp_rr size=64\" (or --test)")
	fl.StringVar(&f.sizes, "sizes", "", "message sizes in bytes, comma-separated, for tests that name none")
	fl.IntVar(&f.trials, "trials", 8, "trials of each test (fewer than 7 on both sides leave most comparisons undecided)")
	fl.DurationVar(&f.time, "time", time.Second, "measured window of one trial")
	fl.DurationVar(&f.warmup, "warmup", 0, "warm-up before each window (default: a quarter of the window, at most 1s)")
	fl.DurationVar(&f.interval, "interval", time.Second, "take figures of parts of the window that are so long (default: 1s, or a quarter of a window that is no longer); 0: none")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the random order (default: a new one each time)")
	fl.StringVar(&f.label, "label", "", "name of the run; runs of one name are repetitions")
	fl.BoolVar(&f.boot, "boot", false, "the run stands for the boot that its hosts are on; runs of one label are then compared boot by boot")
	f.explain.add(fl)
	f.against.add(fl)
	fl.StringVar(&f.store, "store", "", storeHelp)
	fl.BoolVar(&f.noStore, "no-store", false, "keep nothing")
	fl.BoolVar(&f.exclusive, "exclusive", false, "have the agents serve nobody else meanwhile")
	fl.DurationVar(&f.wait, "wait", 0, "how long to wait for others to leave an agent")
	fl.DurationVar(&f.reconnect, "reconnect", 20*time.Second, "how long to wait for an agent that has gone in the middle of the run")
	fl.StringVar(&f.cpuLocal, "cpu-local", "none", "CPUs of the local end's threads, comma-separated: numbers, or none")
	fl.StringVar(&f.cpuRemote, "cpu-remote", "none", "CPUs of the remote end's threads")
	fl.StringVar(&f.deviceLocal, "device-local", "", "interface that the local end's sockets are bound to")
	fl.StringVar(&f.deviceRemote, "device-remote", "", "interface that the remote end's sockets are bound to")
	fl.Uint16Var(&f.portLocal, "port-local", 0, "source port of the local end (default: any)")
	fl.Uint16Var(&f.portRemote, "port-remote", 0, "port of the remote end (default: any of the agent's)")
	fl.StringVar(&f.data, "data", "", "addresses of the path, REMOTE or LOCAL,REMOTE, where they are not those of the control connection")
	f.counting.add(fl)
	f.output.add(fl)
}

// errand is a checked command line.
type errand struct {
	plan    spec.Plan
	targets []hosts.Target
	path    hosts.Path
}

func (f *runFlags) check(args []string) (errand, error) {
	var e errand
	wrong := func(err error) (errand, error) { return e, &exitError{ExitUsage, err} }
	var err error
	if err = f.output.check(); err != nil {
		return e, err
	}
	if e.plan, err = f.plan(); err != nil {
		return wrong(err)
	}
	if err = result.CheckLabel(f.label); err != nil {
		return wrong(err)
	}
	if err = f.checkBoot(); err != nil {
		return e, err
	}
	for _, d := range []struct {
		flag string
		d    time.Duration
	}{{"wait", f.wait}, {"reconnect", f.reconnect}} {
		if d.d < 0 || d.d > maxWait {
			return wrong(fmt.Errorf("--%s %v is out of range: 0 to %v", d.flag, d.d, maxWait))
		}
	}
	if e.path.DataLocal, e.path.DataRemote, err = hosts.ParseData(f.data); err != nil {
		return wrong(fmt.Errorf("--data: %w", err))
	}
	here := parseHereCPU
	if len(args) > 1 {
		here = parseFarCPU
	}
	if e.path.CPULocal, e.path.CPUsLocal, err = parseCPUs(f.cpuLocal, here); err != nil {
		return wrong(fmt.Errorf("--cpu-local: %w", err))
	}
	if e.path.CPURemote, e.path.CPUsRemote, err = parseCPUs(f.cpuRemote, parseFarCPU); err != nil {
		return wrong(fmt.Errorf("--cpu-remote: %w", err))
	}
	e.path.DeviceLocal, e.path.DeviceRemote = f.deviceLocal, f.deviceRemote
	e.path.PortLocal, e.path.PortRemote = f.portLocal, f.portRemote
	e.targets, err = f.security.targets(f.verb, args)
	return e, err
}

// maxWait is the longest that is waited for something; the protocol counts
// milliseconds in 32 bits.
const maxWait = 7 * 24 * time.Hour

// plan is the plan of a single variant that the flags ask for.
func (f *runFlags) plan() (spec.Plan, error) {
	sizes, err := spec.ParseSizes(f.sizes)
	if err != nil {
		return spec.Plan{}, err
	}
	tests, err := spec.ParseTests(f.tests, sizes)
	if err != nil {
		return spec.Plan{}, err
	}
	p := spec.Plan{Tests: tests, Blocks: f.trials, Warmup: f.warmup, Window: f.time, Interval: f.interval, Seed: f.seed, Soak: f.counting.soak}
	if p.Explain, err = f.explain.way(); err != nil {
		return spec.Plan{}, err
	}
	if p.Counters, err = f.counting.sources(); err != nil {
		return spec.Plan{}, err
	}
	if !f.warmed {
		p.Warmup = min(f.time/4, time.Second)
	}
	if quarter := f.time / 4; !f.divided && f.time <= f.interval {
		// A window of the default's length has intervals all the same, unless
		// they would be shorter than any may be.
		p.Interval = 0
		if quarter >= spec.MinInterval {
			p.Interval = quarter
		}
	}
	return p, p.ValidateSingle()
}

func runRun(ctx context.Context, f runFlags, args []string, seeded bool, stdout, stderr io.Writer) error {
	if !seeded {
		f.seed = uint64(rand.Uint32())
	}
	e, err := f.check(args)
	if err != nil {
		return err
	}
	if err := f.against.check(ctx, f.store, e.plan.Tests); err != nil {
		return err
	}
	keep := &keeper{stderr: stderr}
	if !f.noStore {
		if keep, err = openKeeper(ctx, f.store, stderr); err != nil {
			return err
		}
	}
	defer keep.close()

	record := result.Run{
		ID: store.NewID(), Label: f.label, PerBoot: f.boot, Target: strings.Join(args, " "), State: result.Running, Start: time.Now(),
		Plan: &e.plan, Version: versionString(),
		Command: "netdelta " + strings.Join(commandWords(os.Args[1:], f.seed, seeded), " "),
	}
	runErr := measure(ctx, e, f, record, keep, stderr)
	if keep.run.ID == "" { // nothing was begun
		status, err := judgeRun(runErr, keep, f.wait)
		return &exitError{status, err}
	}

	keep.rescue()
	rep := summary.Build(keep.run, keep.trials)
	options := report.Options{Next: next(keep, f.store)}
	var against *compare.Report
	if len(keep.trials) > 0 && f.against.ref != "" {
		against, err = f.against.compare(keep.sideOfRun(context.WithoutCancel(ctx), f.against.with.runs), options.Next, &f.output, stdout)
	}
	failed := err
	if len(keep.trials) > 0 && against == nil {
		// What was measured is printed, if not beside what it was to be compared with.
		d := compare.Document{Summary: &rep, Kept: []compare.Kept{{Run: keep.run, Trials: keep.trials}}}
		if err := f.output.write(stdout, &d, options); err != nil {
			return err
		}
	}
	status, err := judgeRun(runErr, keep, f.wait)
	if status == ExitDone {
		if silent := rep.Unmeasured(); len(silent) > 0 {
			status, err = ExitUnmeasured, nothingThrough(silent, keep.trials)
		}
	}
	switch {
	case status != ExitDone:
		return &exitError{status, err}
	case failed != nil:
		return failed
	case against != nil:
		return f.against.gate.judge(against)
	}
	return nil
}

// measure carries the plan out and keeps what comes of it. The keeper's run is
// begun when both ends have answered.
func measure(ctx context.Context, e errand, f runFlags, record result.Run, keep *keeper, stderr io.Writer) error {
	recoverFirst(ctx, stderr)
	screen := newScreen(stderr, "run")
	defer screen.clear()
	pair, err := hosts.Connect(ctx, e.targets, versionString(), screen.options(f.exclusive, f.wait))
	if err != nil {
		return err
	}
	defer pair.Close()
	if record.Environments, err = pair.Environments(ctx); err != nil {
		return err
	}
	record.Warnings = pair.Warnings()
	if record.PerBoot {
		if err := keep.warnOfBoot(ctx, &record); err != nil {
			return err
		}
	}
	keep.begin(ctx, record)

	path := e.path
	path.Pair, path.OneMachine = pair, result.OneMachine(record.Environments)
	err = run.Run(ctx, run.Config{
		Plan:     e.plan,
		Local:    pair.Local,
		Remote:   pair.Remote,
		Setup:    &path,
		Sink:     func(t result.Trial) error { return keep.add(ctx, t) },
		Progress: screen.show,
		Live:     screen.live(),
		Patience: f.reconnect,
	})
	warnings := about(err)
	if err == nil {
		warnings = pair.ChangedSince(ctx, record.Environments)
	}
	keep.finish(ctx, stateAfter(err, len(keep.trials)), warnings)
	return err
}
