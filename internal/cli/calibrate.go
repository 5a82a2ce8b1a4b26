package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/calibrate"
	"netdelta/internal/netlab"
	"netdelta/internal/report"
	"netdelta/internal/run"
	"netdelta/internal/spec"
)

// calibrateFlags holds what the command line gives, before it is checked.
type calibrateFlags struct {
	security             securityFlags
	tests, sizes         string
	total                time.Duration
	windows              string
	seed                 uint64
	margin, format       string
	counting             countingFlags
	cpuLocal, cpuRemote  string
	link, level, cpuWire string // of a lab
	ip                   string
	offload              bool
	data                 string // between hosts
	exclusive            bool
	wait, reconnect      time.Duration
	deviceLocal          string
	deviceRemote         string
}

// labOnly and hostsOnly are the flags that say something of one kind of path.
var (
	labOnly   = []string{"link", "level", "cpu-wire", "ip", "offload"}
	hostsOnly = []string{"data", "exclusive", "wait", "reconnect", "device-local", "device-remote", "secret-file", "insecure"}
)

func newCalibrate(args []string) *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate [TARGET [TARGET2]]",
		Short: "Say how far a path can be trusted: what is seen where nothing differs",
		Long: `Measures one thing under two names, as a comparison would, for some time and
with windows of several lengths in turn, and says how often a difference is
seen where there is none, what noise there is, what change can be seen in what
time, which length of window suits the path, and what "all A, then all B" with
a t-test would have said of the same trials.

Without TARGET that is done in a lab on this machine (as root, or for an
ordinary user in a user namespace with --link veth), else on the path to the
agent at TARGET or between those at TARGET and TARGET2.`,
		Example: `  netdelta calibrate
  netdelta calibrate --link veth --tests udp_rr --total 30s
  netdelta calibrate bench2 --secret-file secret --total 10m --windows 200ms,1s,5s`,
		RunE: func(cmd *cobra.Command, targets []string) error {
			fl := cmd.Flags()
			if len(targets) > 2 {
				return usageError("calibrate takes TARGET, the agent at the far end, two of them, or none for a lab, got %d", len(targets))
			}
			wrong, where := hostsOnly, "is about a path between hosts: name the TARGET"
			if len(targets) > 0 {
				wrong, where = labOnly, "is about a lab, and the path to a TARGET is none"
			}
			for _, name := range wrong {
				if fl.Changed(name) {
					return usageError("--%s %s", name, where)
				}
			}
			return runCalibrate(cmd.Context(), f, targets, args, fl.Changed("seed"), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	f.security.add(fl)
	fl.StringVar(&f.tests, "tests", "udp_rr,tcp_stream", "tests, comma-separated, with parameters as in \"udp_rr size=64\"")
	fl.StringVar(&f.sizes, "sizes", "", "message sizes in bytes, comma-separated, for tests that name none")
	fl.DurationVar(&f.total, "total", 2*time.Minute, "how long to measure, with all windows together; one round of them is finished whatever it takes")
	fl.StringVar(&f.windows, "windows", "50ms,200ms,800ms", "lengths of the measured window, comma-separated; each has about the same part of the time")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the random order (default: a new one each time, printed)")
	fl.StringVar(&f.margin, "margin", "2%", "smallest change that matters")
	fl.StringVar(&f.format, "format", "text", "report format: "+strings.Join(report.CalibrationFormatNames(), ", "))
	fl.StringVar(&f.cpuLocal, "cpu-local", "", "CPUs of the local end's threads, comma-separated: numbers, or none; in a lab, where it is the default, auto")
	fl.StringVar(&f.cpuRemote, "cpu-remote", "", "CPUs of the remote end's threads")
	fl.StringVar(&f.link, "link", netlab.Ether, "a lab's link: ether (our own wire between two TAPs) or veth")
	fl.StringVar(&f.level, "level", "", "where a lab's received frames are handled (default: softirq on ether, napi on veth)")
	fl.StringVar(&f.cpuWire, "cpu-wire", "auto", "CPU of the threads of a lab's wire")
	fl.StringVar(&f.ip, "ip", "4", "version of IP in a lab: 4 or 6")
	fl.BoolVar(&f.offload, "offload", false, "leave checksums and segmentation to a lab's link")
	fl.StringVar(&f.data, "data", "", "addresses of the path, REMOTE or LOCAL,REMOTE, where they are not those of the control connection")
	fl.BoolVar(&f.exclusive, "exclusive", false, "have the agents serve nobody else meanwhile")
	fl.DurationVar(&f.wait, "wait", 0, "how long to wait for others to leave an agent")
	fl.DurationVar(&f.reconnect, "reconnect", 20*time.Second, "how long to wait for an agent that has gone")
	fl.StringVar(&f.deviceLocal, "device-local", "", "interface that the local end's sockets are bound to")
	fl.StringVar(&f.deviceRemote, "device-remote", "", "interface that the remote end's sockets are bound to")
	f.counting.add(fl)
	return cmd
}

// maxWindows is the most lengths that share one calibration.
const maxWindows = 8

// lengths reads the windows, from short to long.
func (f *calibrateFlags) lengths() ([]time.Duration, error) {
	var all []time.Duration
	for _, word := range strings.Split(f.windows, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(word))
		switch {
		case err != nil:
			return nil, fmt.Errorf("--windows: %q is no length of time, such as 200ms", strings.TrimSpace(word))
		case slices.Contains(all, d):
			return nil, fmt.Errorf("--windows: %v is there twice", d)
		}
		all = append(all, d)
	}
	if len(all) > maxWindows {
		return nil, fmt.Errorf("--windows: %d lengths are more than %d", len(all), maxWindows)
	}
	slices.Sort(all)
	return all, nil
}

// windowWarmup is the warm-up before a window.
func windowWarmup(window time.Duration) time.Duration { return min(window/4, 100*time.Millisecond) }

// asked is a checked command line: what every plan of it has, and its windows.
type asked struct {
	plan    spec.Plan
	windows []time.Duration
	format  report.CalibrationFormat
}

func (f *calibrateFlags) check() (asked, error) {
	var a asked
	var err error
	if a.format, err = report.CalibrationFormatOf(f.format); err != nil {
		return a, err
	}
	if a.windows, err = f.lengths(); err != nil {
		return a, err
	}
	if f.total < time.Second || f.total > maxWait {
		return a, fmt.Errorf("--total %v is out of range: 1s to %v", f.total, maxWait)
	}
	for _, d := range []struct {
		flag string
		d    time.Duration
	}{{"wait", f.wait}, {"reconnect", f.reconnect}} {
		if d.d < 0 || d.d > maxWait {
			return a, fmt.Errorf("--%s %v is out of range: 0 to %v", d.flag, d.d, maxWait)
		}
	}
	sizes, err := spec.ParseSizes(f.sizes)
	if err != nil {
		return a, err
	}
	const factor = "again"
	a.plan = spec.Plan{Experiment: "calibrate", Factors: []spec.Factor{{Name: factor, Levels: []string{"a", "a-again"}}},
		Baseline: spec.Variant{factor: "a"}, Blocks: 1, Soak: f.counting.soak}
	if a.plan.Tests, err = spec.ParseTests(f.tests, sizes); err != nil {
		return a, err
	}
	if a.plan.Counters, err = f.counting.sources(); err != nil {
		return a, err
	}
	if a.plan.Margin, err = parsePercent(f.margin); err != nil {
		return a, fmt.Errorf("margin: %w", err)
	}
	for _, w := range a.windows {
		p := a.plan
		p.Window, p.Warmup = w, windowWarmup(w)
		if err := p.Validate(); err != nil {
			return a, err
		}
	}
	return a, nil
}

func runCalibrate(ctx context.Context, f calibrateFlags, targets, args []string, seeded bool, stdout, stderr io.Writer) error {
	if !seeded {
		f.seed = uint64(rand.Uint32())
	}
	a, err := f.check()
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	line := newProgress(stderr, "calibrate")
	c := &calibration{asked: a, total: f.total, seed: f.seed, show: line.show}
	o := calibrate.Options{Target: "lab", Seed: f.seed, Margin: a.plan.Margin, Version: versionString(),
		Command: "netdelta " + strings.Join(commandWords(args, f.seed, seeded), " ")}
	if len(targets) == 0 {
		err = f.inLab(ctx, c, &o, args, stderr)
	} else {
		o.Target = strings.Join(targets, " ")
		err = f.betweenHosts(ctx, c, &o, targets, stderr)
	}
	line.clear()
	if exit := (*exitError)(nil); errors.As(err, &exit) {
		return err
	}
	if err != nil && ctx.Err() != nil && !errors.Is(err, run.ErrInterrupted) {
		// It came while a lab was being made, or a host connected.
		err = fmt.Errorf("%w: %w", run.ErrInterrupted, err)
	}
	status, err := judge(err)
	if c.done == 0 {
		if status == ExitInterrupted {
			err = errors.New("interrupted before the first trial was finished")
		}
		return &exitError{status, err}
	}
	o.Partial = status != ExitDone
	rep, buildErr := calibrate.Build(c.series(), o)
	if buildErr != nil {
		return &exitError{ExitUnmeasured, also(buildErr, err)}
	}
	if err := a.format.Render(stdout, &rep); err != nil {
		return &exitError{ExitUnmeasured, fmt.Errorf("write the report: %w", err)}
	}
	if status == ExitDone {
		if silent := rep.Unmeasured(a.plan.Tests); len(silent) > 0 {
			status, err = ExitUnmeasured, nothingThrough(silent, c.all())
		}
	}
	if status != ExitDone {
		return &exitError{status, err}
	}
	return nil
}
