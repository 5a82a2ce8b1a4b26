package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"netdelta/internal/lab"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// labFlags holds what the command line gives, before it is checked. What is empty or
// zero is the experiment's, unless given says that it was asked for.
type labFlags struct {
	given            map[string]bool
	list, full       bool
	link, ip         string
	context, second  string
	wire             string
	levels, baseline []string
	tests, sizes     string
	beside           string
	each             string
	explain          explainFlag
	blocks           int
	time, warmup     time.Duration
	seed             uint64
	margin           string
	output           outputFlags
	label, store     string
	offload, awake   bool
	cpuLocal         string
	cpuRemote        string
	cpuWire          string
	cpuHandler       string
	counting         countingFlags
	gate             *gateFlags
}

// usualEach is how many round trips are kept one by one where it is not said.
const usualEach = "1000"

// theirs ends the help of a flag whose default is the experiment's.
const theirs = " (default: the experiment's)"

func (f *labFlags) add(fl *pflag.FlagSet) {
	fl.BoolVar(&f.list, "list", false, "list the experiments, or with one what can be chosen of it")
	fl.StringVar(&f.second, "second", "", "second factor of an experiment that has a choice: pinned, busypoll or link"+theirs)
	fl.StringArrayVar(&f.levels, "levels", nil, "[FACTOR=]LEVELS, comma-separated: what is compared of a factor, the first one unless named; repeatable (NAME-again compares NAME with itself)"+theirs)
	fl.StringArrayVar(&f.baseline, "baseline", nil, "[FACTOR=]LEVEL that the others are compared with; repeatable"+theirs)
	fl.StringVar(&f.link, "link", "", "link between the hosts: ether (our own wire between two TAPs) or veth"+theirs)
	fl.StringVar(&f.context, "context", "", "where received frames are handled, if the experiment doesn't vary that"+theirs)
	fl.StringVar(&f.wire, "wire", "", "what ether's wire does to frames, as in delay=100us,rate=1Gbit/s; NAME is "+strings.Join(spec.WireNames(), ", "))
	fl.StringVar(&f.tests, "tests", "", "tests, comma-separated, with parameters as in \"udp_rr size=64\""+theirs)
	fl.StringVar(&f.sizes, "sizes", "", "message sizes in bytes, comma-separated, for tests that name none")
	fl.StringVar(&f.beside, "beside", "", "wake tests that run beside the variants, comma-separated, or none"+theirs)
	fl.StringVar(&f.each, "each", "", "keep the first `N` round trips of each window one by one, and list them (without N: "+usualEach+")")
	fl.Lookup("each").NoOptDefVal = usualEach
	f.explain.add(fl)
	fl.IntVar(&f.blocks, "blocks", 0, "number of blocks, from 1: how often every variant is run (a verdict needs 6)"+theirs)
	fl.DurationVar(&f.time, "time", 0, "measured window of one trial, as in 60ms or 1.5s"+theirs)
	fl.DurationVar(&f.warmup, "warmup", 0, "warm-up before each window (default: a quarter of the window, at most 100ms)")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the random order (default: a new one each time, printed)")
	fl.StringVar(&f.margin, "margin", "2%", "smallest change that matters")
	f.output.add(fl)
	fl.StringVar(&f.label, "label", "", "keep the run in the store, under this label, for show, plot, export and web")
	fl.StringVar(&f.store, "store", "", storeHelp)
	fl.BoolVar(&f.full, "full", false, "have the text list all rows, where the experiment shows tables of its own instead")
	fl.BoolVar(&f.awake, "awake", false, "keep all CPUs from sleeping by loops of idle priority: steadier round trips, and no figures of CPU time"+theirs)
	fl.BoolVar(&f.offload, "offload", false, "leave checksums and segmentation to the link (on veth only with backlog: its NAPI is passed by for such frames)")
	fl.StringVar(&f.cpuLocal, "cpu-local", "auto", "CPUs of the local end's threads, comma-separated: numbers, or auto or none")
	fl.StringVar(&f.cpuRemote, "cpu-remote", "auto", "CPUs of the remote end's threads")
	fl.StringVar(&f.ip, "ip", "4", "version of IP: 4 or 6")
	fl.StringVar(&f.cpuWire, "cpu-wire", "auto", "CPU of the wire's threads")
	fl.StringVar(&f.cpuHandler, "cpu-handler", "auto", "CPU of the kernel threads that handle received frames, and of a backlog")
	f.counting.add(fl)
	f.gate = addGate(fl)
}

// asked notes which flags were given. A number among the words behind them is the N
// of an --each that has none of its own; the other words are returned.
func (f *labFlags) asked(fl *pflag.FlagSet, words []string) []string {
	f.given = map[string]bool{}
	fl.Visit(func(flag *pflag.Flag) { f.given[flag.Name] = true })
	if !f.given["each"] || f.each != usualEach {
		return words
	}
	i := slices.IndexFunc(words, func(w string) bool { _, err := strconv.Atoi(w); return err == nil })
	if i < 0 {
		return words
	}
	f.each = words[i]
	return slices.Delete(slices.Clone(words), i, i+1)
}

// options checks the flags and turns them into the lab's options.
func (f *labFlags) options() (lab.Options, error) {
	o := lab.Usual()
	o.Link, o.Context, o.Second, o.Offload, o.Awake = f.link, f.context, f.second, f.offload, f.awake
	o.Blocks, o.Window, o.Seed, o.Soak = f.blocks, f.time, f.seed, f.counting.soak
	if f.given["warmup"] {
		if o.Warmup = f.warmup; o.Warmup < 0 {
			return o, fmt.Errorf("warm-up %v is out of range: 0 to %v", f.warmup, spec.MaxWindow)
		}
	}
	if err := f.notEmpty(); err != nil {
		return o, err
	}
	for _, read := range []func(*lab.Options) error{f.readLevels, f.readTests, f.readWire, f.readCPUs} {
		if err := read(&o); err != nil {
			return o, err
		}
	}
	var err error
	if o.Counters, err = f.counting.sources(); err != nil {
		return o, err
	}
	if o.Margin, err = parsePercent(f.margin); err != nil {
		return o, fmt.Errorf("margin: %w", err)
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

// notEmpty refuses what is given and stands for the experiment's own all the same.
func (f *labFlags) notEmpty() error {
	for _, c := range []struct{ flag, value string }{
		{"link", f.link}, {"context", f.context}, {"second", f.second}, {"wire", f.wire}, {"beside", f.beside}, {"each", f.each},
	} {
		if f.given[c.flag] && strings.TrimSpace(c.value) == "" {
			return fmt.Errorf("--%s is empty: leave it out, and it is the experiment's", c.flag)
		}
	}
	// The plan's own words for what no plan can have.
	p := spec.Plan{Blocks: 1}
	switch {
	case f.given["blocks"] && f.blocks == 0:
		p.Blocks = 0
	case !f.given["time"] || f.time != 0:
		return nil
	}
	return p.Validate()
}

// readLevels reads [FACTOR=]LEVELS and [FACTOR=]LEVEL.
func (f *labFlags) readLevels(o *lab.Options) error {
	for _, text := range f.levels {
		name, list := ofFactor(text)
		if _, twice := o.Levels[name]; twice {
			return fmt.Errorf("--levels%s is given twice: give its levels in one, comma-separated", of(name))
		}
		levels := strings.Split(list, ",")
		for i := range levels {
			levels[i] = strings.TrimSpace(levels[i])
		}
		if o.Levels == nil {
			o.Levels = map[string][]string{}
		}
		o.Levels[name] = levels
	}
	for _, text := range f.baseline {
		name, level := ofFactor(text)
		if _, twice := o.Baseline[name]; twice {
			return fmt.Errorf("--baseline%s is given twice", of(name))
		}
		if level == "" {
			return fmt.Errorf("--baseline%s names no level", of(name))
		}
		if o.Baseline == nil {
			o.Baseline = map[string]string{}
		}
		o.Baseline[name] = level
	}
	return nil
}

// ofFactor cuts [FACTOR=]REST: no level has a = in its name.
func ofFactor(text string) (name, rest string) {
	if name, rest, ok := strings.Cut(text, "="); ok {
		return strings.TrimSpace(name), strings.TrimSpace(rest)
	}
	return "", strings.TrimSpace(text)
}

func of(factor string) string {
	if factor == "" {
		return ""
	}
	return " of " + factor
}

func (f *labFlags) readTests(o *lab.Options) (err error) {
	if o.Sizes, err = spec.ParseSizes(f.sizes); err != nil {
		return err
	}
	if f.tests != "" || f.given["tests"] {
		if o.Tests, err = spec.ParseTests(f.tests, o.Sizes); err != nil {
			return err
		}
	}
	switch f.beside {
	case "":
	case "none":
		o.Beside = []spec.Test{}
	default:
		if o.Beside, err = spec.ParseTests(f.beside, nil); err != nil {
			return fmt.Errorf("--beside: %w", err)
		}
	}
	if o.Explain, err = f.explain.way(); err != nil {
		return err
	}
	if f.each != "" {
		if o.Each, err = strconv.Atoi(f.each); err != nil || o.Each < 1 || o.Each > spec.MaxEach {
			return fmt.Errorf("--each %q is no number of round trips: 1 to %d", f.each, spec.MaxEach)
		}
	}
	return nil
}

func (f *labFlags) readWire(o *lab.Options) (err error) {
	if f.wire == "" {
		return nil
	}
	if o.Wire, err = spec.ParseWire(f.wire); err != nil {
		return fmt.Errorf("--wire: %w", err)
	}
	return nil
}

func (f *labFlags) readCPUs(o *lab.Options) (err error) {
	for _, c := range []struct {
		flag, value string
		cpu         *int
		more        *[]int
	}{{"cpu-local", f.cpuLocal, &o.CPULocal, &o.CPUsLocal}, {"cpu-remote", f.cpuRemote, &o.CPURemote, &o.CPUsRemote},
		{"cpu-wire", f.cpuWire, &o.CPUWire, nil}, {"cpu-handler", f.cpuHandler, &o.CPUHandler, nil}} {
		switch {
		case c.value == "" && !f.given[c.flag]: // auto
		case c.more == nil:
			*c.cpu, err = parseCPU(c.value)
		default:
			*c.cpu, *c.more, err = parseCPUs(c.value, parseCPU)
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", c.flag, err)
		}
	}
	return nil
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
