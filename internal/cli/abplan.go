package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/netlab"
	"netdelta/internal/spec"
)

// maxPlan is the largest plan file, in bytes.
const maxPlan = 1 << 20

// Windows of a trial where neither plan nor command line say: between hosts, and
// in a lab, where nothing has to come up to speed over a long way.
const (
	hostsWindow = 500 * time.Millisecond
	labWindow   = 200 * time.Millisecond
)

// planFile reads a plan file, "-" for standard input.
func planFile(name string) (spec.Document, error) {
	fail := func(err error) (spec.Document, error) { return spec.Document{}, usageError("plan %s: %w", name, err) }
	in := io.Reader(os.Stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err
			}
			return fail(err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return fail(errors.New("it is a directory"))
		}
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxPlan+1))
	if err != nil {
		return fail(err)
	}
	if len(data) > maxPlan {
		return fail(fmt.Errorf("it has more than %d KiB", maxPlan>>10))
	}
	doc, err := spec.ParseDocument(data)
	if err != nil {
		return spec.Document{}, &exitError{ExitUsage, &linesError{fmt.Errorf("plan %s: %w", name, err)}}
	}
	return doc, nil
}

// document is what the command line asks for: a plan file with what flags say
// otherwise, or flags alone. targets are the agents that it names.
func (f *abFlags) document(args []string) (doc spec.Document, targets []string, err error) {
	if err := f.change.check(f.given, args); err != nil {
		return doc, nil, &exitError{ExitUsage, err}
	}
	if f.change.any() {
		if doc, err = f.fromFlags(); err != nil {
			return doc, nil, &exitError{ExitUsage, err}
		}
		targets = args
	} else {
		if len(args) == 0 && f.resume != "" {
			return doc, nil, usageError("--resume goes on with a run, and what is to be done has to be said again: repeat its command (netdelta show %s has it) with --resume", quoted(f.resume))
		}
		if len(args) == 0 {
			return doc, nil, usageError("ab takes a plan file, or what varies: --set NAME=KNOB:V1,V2 TARGET, or --a CMD --b CMD TARGET (see netdelta ab --help)")
		}
		if doc, err = planFile(args[0]); err != nil {
			return doc, nil, err
		}
		if f.lab != "" && doc.Lab == nil {
			doc.Lab, doc.Hosts = &spec.Lab{}, nil
		}
		targets = args[1:]
	}
	if err := f.over(&doc); err != nil {
		return doc, nil, &exitError{ExitUsage, err}
	}
	if targets, err = f.where(&doc, targets); err != nil {
		return doc, nil, err
	}
	if err := valid(&doc.Plan); err != nil {
		return doc, nil, err
	}
	if doc.Lab == nil {
		if all := doc.Plan.Scoped(func(s spec.Scope) bool { return s == spec.OnLink }); len(all) > 0 {
			return doc, nil, usageError("%s is of a lab's link, and the plan is for hosts", all[0])
		}
	}
	return doc, targets, nil
}

// valid checks a plan, and that its tests have the metrics that matter to it.
func valid(p *spec.Plan) error {
	if err := p.Validate(); err != nil {
		return &exitError{ExitUsage, err}
	}
	if err := compare.CheckMetrics(p); err != nil {
		return &exitError{ExitUsage, err}
	}
	return nil
}

// fromFlags is the document of a command line without a file. What f.over does
// is not done yet.
func (f *abFlags) fromFlags() (doc spec.Document, err error) {
	p := &doc.Plan
	if p.Factors, p.Baseline, err = f.change.factors(); err != nil {
		return doc, err
	}
	var names []string
	for _, factor := range p.Factors {
		names = append(names, factor.Name)
	}
	p.Experiment = strings.Join(names, "-by-")
	sizes, err := spec.ParseSizes(f.sizes)
	if err != nil {
		return doc, err
	}
	if p.Tests, err = spec.ParseTests(f.tests, sizes); err != nil {
		return doc, err
	}
	if p.Margin, err = parsePercent(f.margin); err != nil {
		return doc, fmt.Errorf("margin: %w", err)
	}
	p.Blocks = f.blocks
	if f.lab != "" {
		doc.Lab = &spec.Lab{}
	}
	p.Window = hostsWindow
	if doc.Lab != nil {
		p.Window = labWindow
	}
	return doc, nil
}

// over puts what the command line gives over what the document has.
func (f *abFlags) over(doc *spec.Document) (err error) {
	p := &doc.Plan
	if err := f.change.mark(p.Factors); err != nil {
		return err
	}
	if f.given("tests") || f.given("sizes") {
		sizes, err := spec.ParseSizes(f.sizes)
		if err != nil {
			return err
		}
		if p.Tests, err = spec.ParseTests(f.tests, sizes); err != nil {
			return err
		}
	}
	if f.given("blocks") {
		p.Blocks = f.blocks
	}
	if f.given("margin") {
		if p.Margin, err = parsePercent(f.margin); err != nil {
			return fmt.Errorf("--margin: %w", err)
		}
	}
	if f.given("precision") {
		if p.Precision, err = parsePercent(f.precision); err != nil {
			return fmt.Errorf("--precision: %w", err)
		}
	}
	if f.given("limit") {
		p.Limit = f.limit
	}
	if f.given("metrics") {
		p.Metrics = nil
		for _, m := range strings.Split(f.metrics, ",") {
			p.Metrics = append(p.Metrics, strings.TrimSpace(m))
		}
	}
	if f.given("time") {
		p.Window = f.time
	}
	switch {
	case f.given("warmup"):
		p.Warmup = f.warmup
	case f.given("time") || p.Warmup == 0 && f.change.any():
		p.Warmup = min(p.Window/4, time.Second)
	}
	if f.given("explain") {
		if p.Explain, err = f.explain.way(); err != nil {
			return err
		}
	}
	if f.given("soak") {
		p.Soak = f.counting.soak
	}
	if f.given("counters") {
		if p.Counters, err = f.counting.sources(); err != nil {
			return err
		}
	}
	switch {
	case f.given("seed"):
		p.Seed = f.seed
	case !doc.SeedGiven:
		p.Seed = uint64(rand.Uint32())
	}
	return nil
}

// where settles between which ends the plan is carried out.
func (f *abFlags) where(doc *spec.Document, targets []string) ([]string, error) {
	if doc.Lab != nil {
		if len(targets) > 0 {
			return nil, usageError("the plan is for a lab on this machine, and %s names a host: leave one of them out", strings.Join(targets, " "))
		}
		for _, name := range []string{"data", "device-local", "device-remote", "exclusive", "wait", "reconnect", "secret-file", "insecure"} {
			if f.given(name) {
				return nil, usageError("--%s is about hosts, and a lab has its own", name)
			}
		}
		l := doc.Lab
		for _, o := range []struct {
			flag, value string
			into        *string
		}{{"lab", f.lab, &l.Link}, {"cpu-local", f.cpuLocal, &l.CPULocal}, {"cpu-remote", f.cpuRemote, &l.CPURemote}} {
			if f.given(o.flag) {
				*o.into = o.value
			}
		}
		if l.Link == "" {
			l.Link = netlab.Veth
		}
		return nil, nil
	}
	if f.lab != "" {
		return nil, usageError("--lab and the plan's hosts exclude each other")
	}
	if doc.Hosts == nil {
		doc.Hosts = &spec.Hosts{}
	}
	h := doc.Hosts
	if len(targets) > 2 {
		return nil, usageError("ab takes TARGET, the agent at the far end, or two of them, got %d: %s", len(targets), strings.Join(targets, " "))
	}
	if len(targets) == 0 {
		if h.Remote == "" {
			return nil, usageError("no host named: give TARGET, the agent at the far end, or a plan with hosts: or lab: (see netdelta ab --help)")
		}
		if h.Local != "" {
			targets = append(targets, h.Local)
		}
		targets = append(targets, h.Remote)
	}
	for _, o := range []struct {
		flag, value string
		into        *string
	}{
		{"data", f.data, &h.Data}, {"cpu-local", f.cpuLocal, &h.CPULocal}, {"cpu-remote", f.cpuRemote, &h.CPURemote},
		{"device-local", f.deviceLocal, &h.DeviceLocal}, {"device-remote", f.deviceRemote, &h.DeviceRemote},
	} {
		if f.given(o.flag) {
			*o.into = o.value
		}
	}
	return targets, nil
}
