package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netdelta/internal/spec"
)

// abFlags holds what the command line gives, before it is checked.
type abFlags struct {
	explain  explainFlag
	security securityFlags
	change   changeFlags
	lab      string
	tests    string
	sizes    string
	blocks   int
	time     time.Duration
	warmup   time.Duration
	seed     uint64
	margin   string
	// precision, limit and metrics are as a plan has them.
	precision string
	limit     time.Duration
	metrics   string

	label, store, resume string
	noStore              bool
	exclusive            bool
	wait, reconnect      time.Duration

	cpuLocal, cpuRemote       string
	deviceLocal, deviceRemote string
	data                      string

	output   outputFlags
	counting countingFlags
	gate     *gateFlags
	// given says which flags the command line has.
	given func(name string) bool
}

func newAb(args []string) *cobra.Command {
	var f abFlags
	cmd := &cobra.Command{
		Use:   "ab PLAN [TARGET [TARGET2]] | ab --set ... TARGET | ab --a CMD --b CMD TARGET",
		Short: "Alternate variants of a path, and compare them",
		Long: `Measures every variant once in each block, in random order, and compares them
within blocks, so that what drifts falls on all of them alike.

What varies comes from a plan file, or from the command line: settings of the
hosts (--set), or two commands that make the one and the other state (--a and
--b). Whatever is set on a host is journalled there before it is changed, read
back afterwards, and put back at the end.

TARGET is the agent at the far end; of two, the first is the local end. A plan
names its own, or a lab on this machine. The far end's agent has to be started
with --settings (--commands for commands) to let its host be changed.`,
		Example: `  netdelta ab plan.yaml
  netdelta ab --set rx=eth0.gro@remote:on,off bench2 --secret-file secret
  netdelta ab --set coalesce=coalesce.rx-usecs:0,8,64 --precision 2% bench2
  netdelta ab --a 'modprobe -r drv; insmod old.ko' --b 'modprobe -r drv; insmod new.ko' bench2
  netdelta ab --lab veth --set gro=gro:on,off --tests udp_rr,tcp_stream`,
		RunE: func(cmd *cobra.Command, named []string) error {
			if cmd.Flags().Changed("no-store") && cmd.Flags().Changed("store") {
				return usageError("--store and --no-store exclude each other: give one of them")
			}
			f.given = cmd.Flags().Changed
			return runAb(cmd.Context(), f, args, named, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *abFlags) add(fl *pflag.FlagSet) {
	fl.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "test" {
			name = "tests"
		}
		return pflag.NormalizedName(name)
	})
	f.security.add(fl)
	f.change.add(fl)
	fl.StringVar(&f.lab, "lab", "", "measure in a lab on this machine with that link (veth, ether) rather than between hosts")
	fl.StringVar(&f.tests, "tests", strings.Join(spec.UsualTests(), ","), "tests, comma-separated, with parameters as in \"udp_rr size=64\" (or --test)")
	fl.StringVar(&f.sizes, "sizes", "", "message sizes in bytes, comma-separated, for tests that name none")
	fl.IntVar(&f.blocks, "blocks", 24, "number of blocks: how often every variant is run (a verdict needs 6); with --precision the most")
	fl.StringVar(&f.precision, "precision", "", "end as soon as every interval of what matters reaches no further than that from its estimate, as in 2% (default: run all blocks)")
	fl.DurationVar(&f.limit, "limit", 0, "begin no further block after that time")
	fl.DurationVar(&f.time, "time", 0, "measured window of one trial (default: 500ms, in a lab 200ms)")
	fl.DurationVar(&f.warmup, "warmup", 0, "warm-up before each window (default: a quarter of the window, at most 1s)")
	f.explain.add(fl)
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the random order (default: a new one each time, printed)")
	fl.StringVar(&f.margin, "margin", "2%", "smallest change that matters")
	fl.StringVar(&f.metrics, "metrics", "", "metrics that matter, comma-separated; the others are details (default: those of every report)")
	fl.StringVar(&f.label, "label", "", "name of the run")
	fl.StringVar(&f.store, "store", "", storeHelp)
	fl.BoolVar(&f.noStore, "no-store", false, "keep nothing")
	fl.StringVar(&f.resume, "resume", "", "go on with a run of the same plan, its id or label; blocks and limit may be others")
	fl.BoolVar(&f.exclusive, "exclusive", false, "have the agents serve nobody else meanwhile")
	fl.DurationVar(&f.wait, "wait", 0, "how long to wait for others to leave an agent")
	fl.DurationVar(&f.reconnect, "reconnect", 20*time.Second, "how long to wait for an agent that has gone in the middle of the run (a reboot takes minutes)")
	fl.StringVar(&f.cpuLocal, "cpu-local", "", "CPUs of the local end's threads, comma-separated: numbers, or none")
	fl.StringVar(&f.cpuRemote, "cpu-remote", "", "CPUs of the remote end's threads")
	fl.StringVar(&f.deviceLocal, "device-local", "", "interface that the local end's sockets are bound to")
	fl.StringVar(&f.deviceRemote, "device-remote", "", "interface that the remote end's sockets are bound to")
	fl.StringVar(&f.data, "data", "", "addresses of the path, REMOTE or LOCAL,REMOTE, where they are not those of the control connection")
	f.counting.add(fl)
	f.gate = addGate(fl)
	f.output.add(fl)
}

// changeFlags are the flags that say what varies.
type changeFlags struct {
	sets           []string
	slow           []string
	a, b           string
	restore        string
	checkA, checkB string
	at             string
}

func (f *changeFlags) add(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.sets, "set", nil, "a factor: NAME=[DEVICE.]KNOB[@local|@remote]:VALUE,VALUE..., the baseline first (netdelta plan knobs lists knobs); repeat it to cross several")
	fl.StringSliceVar(&f.slow, "slow", nil, "factors, by name, that are expensive to change: each block has one level of them after the other")
	fl.StringVar(&f.a, "a", "", "shell command that makes the first state, the baseline")
	fl.StringVar(&f.b, "b", "", "shell command that makes the second state")
	fl.StringVar(&f.restore, "restore", "", "shell command that puts back what was before (default: that of --a)")
	fl.StringVar(&f.checkA, "check-a", "", "shell command that succeeds if the first state is there")
	fl.StringVar(&f.checkB, "check-b", "", "shell command that succeeds if the second state is there")
	fl.StringVar(&f.at, "at", spec.EndLocal, "end at which the commands run: local, remote or both")
}

// any says whether the command line has a factor.
func (f *changeFlags) any() bool { return len(f.sets) > 0 || f.a != "" || f.b != "" }

// changeFactor is the name of the factor of two commands.
const changeFactor = "change"

// factors are those of the command line with their baselines.
func (f *changeFlags) factors() ([]spec.Factor, spec.Variant, error) {
	baseline := spec.Variant{}
	var all []spec.Factor
	for _, s := range f.sets {
		one, err := spec.ParseSet(s)
		if err != nil {
			return nil, nil, fmt.Errorf("--set: %w", err)
		}
		all = append(all, one)
		baseline[one.Name] = one.Levels[0]
	}
	if f.a != "" || f.b != "" {
		one, err := f.commands()
		if err != nil {
			return nil, nil, err
		}
		all = append(all, one)
		baseline[one.Name] = one.Levels[0]
	}
	return all, baseline, nil
}

// mark makes the factors slow that --slow names, be they of the command line or
// of a plan file.
func (f *changeFlags) mark(factors []spec.Factor) error {
	for _, name := range f.slow {
		i := slices.IndexFunc(factors, func(one spec.Factor) bool { return one.Name == name })
		if i < 0 {
			return fmt.Errorf("--slow %s: no factor of that name is given", name)
		}
		factors[i].Slow = true
	}
	return nil
}

// commandFlags are about the commands of --a and --b.
var commandFlags = []string{"restore", "check-a", "check-b", "at"}

// check refuses what would be passed over.
func (f *changeFlags) check(given func(name string) bool, args []string) error {
	if f.a == "" && f.b == "" {
		for _, name := range commandFlags {
			if given(name) {
				return fmt.Errorf("--%s is about the commands of --a and --b, and neither is given", name)
			}
		}
	}
	if !f.any() {
		return nil
	}
	for _, a := range args {
		if info, err := os.Stat(a); err == nil && info.Mode().IsRegular() {
			return fmt.Errorf("%s is a file: either a plan says what varies, or --set, --a and --b do", a)
		}
	}
	return nil
}

// commands is the factor of --a and --b.
func (f *changeFlags) commands() (spec.Factor, error) {
	if f.a == "" || f.b == "" {
		return spec.Factor{}, fmt.Errorf("--a and --b go together: the commands that make the one and the other state")
	}
	switch f.at {
	case spec.EndLocal, spec.EndRemote, spec.EndBoth:
	default:
		return spec.Factor{}, fmt.Errorf("--at %q is no end: valid are local, remote, both", f.at)
	}
	restore := f.restore
	if restore == "" {
		restore = f.a
	}
	level := func(apply, check string) []spec.Setting {
		return []spec.Setting{{End: f.at, Knob: "command", Command: &spec.Command{Apply: apply, Restore: restore, Check: check}}}
	}
	return spec.Factor{Name: changeFactor, Levels: []string{"a", "b"}, Settings: map[string][]spec.Setting{
		"a": level(f.a, f.checkA), "b": level(f.b, f.checkB),
	}}, nil
}
