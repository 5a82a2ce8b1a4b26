package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/compare"
	"netdelta/internal/counters"
	"netdelta/internal/feature"
	"netdelta/internal/lab"
	"netdelta/internal/netlab"
	"netdelta/internal/report"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// labFlags holds what the command line gives, before it is checked.
type labFlags struct {
	ip               string
	list             bool
	link             string
	levels, baseline string
	tests, sizes     string
	blocks           int
	time, warmup     time.Duration
	warmed, seeded   bool // given on the command line
	seed             uint64
	margin           string
	format           string
	offload          bool
	cpuLocal         string
	cpuRemote        string
	cpuWire          string
	counting         countingFlags
	gate             *gateFlags
}

func newLab(args []string) *cobra.Command {
	var f labFlags
	cmd := &cobra.Command{
		Use:   "lab [EXPERIMENT]",
		Short: "Run an experiment on this machine alone",
		Long: `Makes two hosts in network namespaces and a link between them, runs every
variant of the experiment once in each block, in random order, and compares.
Nothing outside the namespaces is touched, and nothing is left behind.

Runs as root, or for an ordinary user inside a user namespace where the
kernel allows it (--link veth; ether needs /dev/net/tun).`,
		Example: `  netdelta lab
  netdelta lab rx-context --levels softirq,kthread,uthread --blocks 12
  netdelta lab rx-context --link veth --tests udp_rr,tcp_stream --sizes 1,1KiB
  netdelta lab rx-context --levels softirq,softirq-again --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("lab takes one experiment, got %d: %s", len(args), strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, named []string) error {
			if f.list {
				return listExperiments(cmd.OutOrStdout())
			}
			name := "rx-context"
			if len(named) == 1 {
				name = named[0]
			}
			f.seeded, f.warmed = cmd.Flags().Changed("seed"), cmd.Flags().Changed("warmup")
			return runLab(cmd.Context(), name, f, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.list, "list", false, "list the experiments and their questions")
	fl.StringVar(&f.link, "link", netlab.Ether, "link between the hosts: ether (our own wire between two TAPs) or veth")
	fl.StringVar(&f.levels, "levels", "", "levels to compare, comma-separated: on ether inline, softirq, kthread, uthread, on veth backlog, napi, napi-threaded (NAME-again compares NAME with itself)")
	fl.StringVar(&f.baseline, "baseline", "", "level that the others are compared with")
	fl.StringVar(&f.tests, "tests", strings.Join(spec.UsualTests(), ","), "tests, comma-separated, with parameters as in \"udp_rr size=64\"")
	fl.StringVar(&f.sizes, "sizes", "", "message sizes in bytes, comma-separated, for tests that name none")
	fl.IntVar(&f.blocks, "blocks", 24, "number of blocks, from 1: how often every variant is run (a verdict needs 6)")
	fl.DurationVar(&f.time, "time", 60*time.Millisecond, "measured window of one trial, as in 60ms or 1.5s")
	fl.DurationVar(&f.warmup, "warmup", 0, "warm-up before each window (default: a quarter of the window, at most 100ms)")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the random order (default: a new one each time, printed)")
	fl.StringVar(&f.margin, "margin", "2%", "smallest change that matters")
	fl.StringVar(&f.format, "format", "text", "report format: "+strings.Join(formatNames(), ", "))
	fl.BoolVar(&f.offload, "offload", false, "leave checksums and segmentation to the link (on veth only with backlog: its NAPI is passed by for such frames)")
	fl.StringVar(&f.cpuLocal, "cpu-local", "auto", "CPUs of the local end's threads, comma-separated: numbers, or auto or none")
	fl.StringVar(&f.cpuRemote, "cpu-remote", "auto", "CPUs of the remote end's threads")
	fl.StringVar(&f.ip, "ip", "4", "version of IP: 4 or 6")
	fl.StringVar(&f.cpuWire, "cpu-wire", "auto", "CPU of the wire's threads")
	f.counting.add(fl)
	f.gate = addGate(fl)
	return cmd
}

func listExperiments(w io.Writer) error {
	for _, e := range lab.Experiments() {
		if err := printed(fmt.Fprintf(w, "%-12s %s (%s)\n", e.Name, e.Question, e.Window)); err != nil {
			return err
		}
	}
	return nil
}

// options checks the flags and turns them into the lab's options.
func (f labFlags) options() (lab.Options, error) {
	o := lab.Options{Link: f.link, Blocks: f.blocks, Window: f.time, Warmup: f.warmup, Seed: f.seed, Offload: f.offload, CPUHandler: lab.Auto}
	var err error
	if f.levels != "" {
		o.Levels = map[string][]string{"": strings.Split(f.levels, ",")}
	}
	if f.baseline != "" {
		o.Baseline = map[string]string{"": f.baseline}
	}
	if o.Sizes, err = spec.ParseSizes(f.sizes); err != nil {
		return o, err
	}
	if o.Tests, err = spec.ParseTests(f.tests, o.Sizes); err != nil {
		return o, err
	}
	o.Soak = f.counting.soak
	if o.Counters, err = f.counting.sources(); err != nil {
		return o, err
	}
	if o.Margin, err = parsePercent(f.margin); err != nil {
		return o, fmt.Errorf("margin: %w", err)
	}
	if !f.warmed {
		o.Warmup = min(f.time/4, 100*time.Millisecond)
	}
	for _, c := range []struct {
		flag, value string
		cpu         *int
		more        *[]int
	}{{"cpu-local", f.cpuLocal, &o.CPULocal, &o.CPUsLocal}, {"cpu-remote", f.cpuRemote, &o.CPURemote, &o.CPUsRemote}} {
		if *c.cpu, *c.more, err = parseCPUs(c.value, parseCPU); err != nil {
			return o, fmt.Errorf("--%s: %w", c.flag, err)
		}
	}
	if o.CPUWire, err = parseCPU(f.cpuWire); err != nil {
		return o, fmt.Errorf("--cpu-wire: %w", err)
	}
	switch f.ip {
	case "4":
	case "6":
		o.IPv6 = true
	default:
		return o, fmt.Errorf("--ip %q is no version of IP: valid are 4, 6", f.ip)
	}
	return o, nil
}

// parsePercent reads "2%" or "2" as 0.02.
func parsePercent(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(s), "%"), 64)
	if err != nil || !(v > 0 && v < 100) {
		return 0, fmt.Errorf("%q is no percentage above 0 and below 100", s)
	}
	return v / 100, nil
}

// parseCPU reads a CPU's number, auto or none, and checks that this process
// may use it.
func parseCPU(s string) (int, error) {
	switch s {
	case "auto":
		return lab.Auto, nil
	case "none":
		return sys.NoCPU, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no CPU: give a number, auto or none", s)
	}
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return 0, err
	}
	if !slices.Contains(cpus, n) {
		return 0, fmt.Errorf("CPU %d is not usable here: usable are %s", n, strings.Trim(fmt.Sprint(cpus), "[]"))
	}
	return n, nil
}

func runLab(ctx context.Context, name string, f labFlags, args []string, stdout, stderr io.Writer) error {
	format, err := report.FormatOf(f.format)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	exp, err := lab.Find(name)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	if !f.seeded {
		f.seed = uint64(rand.Uint32())
	}
	o, err := f.options()
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	if o, err = exp.Complete(o); err != nil {
		return &exitError{ExitUsage, err}
	}
	plan, err := exp.Plan(o)
	if err != nil {
		return &exitError{ExitUsage, err}
	}

	if err := f.gate.check(plan.Tests...); err != nil {
		return err
	}
	if status, done, err := lab.InUserNamespace(args); err != nil {
		return &exitError{ExitUnmeasured, err}
	} else if done {
		return &exitError{status: status}
	}

	if err := lab.Check(plan, o); errors.Is(err, feature.ErrUnavailable) {
		return &exitError{ExitUnmeasured, err}
	} else if err != nil {
		return &exitError{ExitUsage, err}
	}
	recoverFirst(ctx, stderr)
	line := newProgress(stderr, exp.Name)
	var trials []result.Trial
	runErr := lab.Run(ctx, plan, o, lab.Watch{
		Sink:     func(t result.Trial) error { trials = append(trials, t); return nil },
		Progress: line.show,
	})
	line.clear()

	if runErr != nil && ctx.Err() != nil && !errors.Is(runErr, run.ErrInterrupted) {
		// It came while the lab was still being made.
		runErr = fmt.Errorf("%w: %w", run.ErrInterrupted, runErr)
	}
	status, err := judge(runErr)
	if len(trials) == 0 && status == ExitInterrupted {
		return &exitError{status, errors.New("interrupted before the first trial was finished")}
	}
	if len(trials) == 0 && err != nil {
		return &exitError{status, err}
	}
	rep, buildErr := compare.Build(plan, trials, compare.Options{
		Partial:     runErr != nil,
		Environment: environment(plan, o),
		Command:     "netdelta " + strings.Join(commandWords(args, f.seed, f.seeded), " "),
		Version:     versionString(),
	})
	if buildErr != nil {
		return &exitError{ExitUnmeasured, errors.Join(err, buildErr)}
	}
	exp.Conclude(&plan, trials, &rep)
	if err := format.Render(stdout, &rep); err != nil {
		return &exitError{ExitUnmeasured, fmt.Errorf("write the report: %w", err)}
	}
	if status == ExitDone {
		if silent := rep.Unmeasured(); len(silent) > 0 {
			status, err = ExitUnmeasured, nothingThrough(silent, trials)
		}
	}
	if status != ExitDone {
		return &exitError{status, err}
	}
	return f.gate.judge(&rep)
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// judge is the exit status that a run's error stands for, and what to say.
func judge(err error) (int, error) {
	switch {
	case err == nil:
		return ExitDone, nil
	case errors.Is(err, run.ErrInterrupted):
		return ExitInterrupted, errors.New("interrupted: the report has what was measured until then")
	}
	return ExitUnmeasured, err
}

// environment is the machine's facts and the lab's own, for the report's end.
func environment(plan spec.Plan, o lab.Options) []compare.Fact {
	return append(counters.Environment(), o.Facts(plan)...)
}

// commandWords is the command line with the seed that was drawn, so that the
// report says how to repeat it.
func commandWords(args []string, seed uint64, seeded bool) []string {
	words := make([]string, 0, len(args)+2)
	for _, a := range args {
		words = append(words, quoted(a))
	}
	if !seeded {
		words = append(words, "--seed", strconv.FormatUint(seed, 10))
	}
	return words
}

// quoted is a word that a shell reads as it is.
func quoted(a string) string {
	if strings.ContainsAny(a, " \t\"'$\\|&;<>(){}*?[]#~`!") || a == "" {
		return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return a
}
