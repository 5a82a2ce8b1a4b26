// Package run is the coordinator: it takes a plan to two agents, trial by
// trial in the plan's order, and hands each finished trial on at once. It
// never measures; it meets the agents only through package ctl.
package run

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"runtime"
	"sync"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// How a run goes wrong. All come wrapped, with what had been reached; what was
// finished has gone to the sink.
var (
	// ErrStopped: a trial failed twice, or its outcome could not be kept.
	ErrStopped = errors.New("measurement stopped")
	// ErrInterrupted: the context ended.
	ErrInterrupted = errors.New("interrupted")
	// ErrUnrestored: a setting of a host could not be put back, which its journal
	// still has; or the host has gone, and whether it has put back its settings is
	// not known. It may come alone, when everything was measured.
	ErrUnrestored = errors.New("not all settings are known to be put back")
)

// attempts is how often a trial is tried.
const attempts = 2

// Bounds of what is not a step of a host: making a path, and ending a trial
// that is given up.
const (
	setupBound = 30 * time.Second
	abortBound = 3 * time.Second
)

// Config is all that a run needs.
type Config struct {
	// Plan is carried out; it may be one of a single variant.
	Plan spec.Plan
	// Live has the workers tell of each interval of a window while it runs,
	// through the clients' Options.Interval.
	Live bool
	// Local and Remote are the agents of the two ends. Remote may be nil if
	// no test has a remote end.
	Local, Remote *ctl.Client
	Setup         Setup
	// Sink takes each trial as soon as it is finished. An error stops the
	// run.
	Sink func(result.Trial) error
	// Done are trials of an earlier part of the same plan, which are not run again.
	Done []result.Trial
	// Enough is asked after each complete block, and at the start if there are any
	// in Done, with the number of complete blocks; true ends the run in good order.
	// It may be nil.
	Enough func(blocks int) bool
	// Ended is told why the run ends, if it does so in good order; settings are
	// put back after that. It may be nil.
	Ended func(Ending)
	// Progress is told where the run is, before each trial and at the end;
	// never while traffic flows. It may be nil.
	Progress func(Progress)
	// Patience is how long a host is waited for that was there and has gone:
	// a link that is down for some seconds, or an agent that is started anew,
	// need not end a run.
	Patience time.Duration
	// CPUs is how many CPUs of this machine can be used; 0 stands for what
	// the runtime found at its start.
	CPUs int

	clock func() reading
}

// Run carries out the plan. It returns nil when every trial is finished, or no
// more are needed (see Ending); an error that wraps ErrStopped or ErrInterrupted
// when it went wrong, ErrUnrestored if a setting could not be put back, and
// another one if it could not begin.
func Run(ctx context.Context, cfg Config) (err error) {
	if err := cfg.check(); err != nil {
		return err
	}
	r := &runner{Config: cfg, began: time.Now(), silent: map[spec.Test][]result.Warning{}}
	if r.CPUs == 0 {
		r.CPUs = runtime.NumCPU()
	}
	if r.clock == nil {
		r.clock = func() reading { return read(r.began) }
	}
	blocks, err := r.remaining()
	if err != nil {
		return err
	}
	r.sides()
	defer r.disconnect()
	defer func() { err = and(err, r.unset(ctx, true)) }()
	if r.done < r.Plan.Trials() {
		if err := r.connect(ctx); err != nil {
			if ctx.Err() != nil {
				return r.interrupted(ctx)
			}
			return err
		}
	}
	ending, err := r.blocks(ctx, blocks)
	if err != nil {
		return err
	}
	if ending == EndedWhole {
		r.block = cfg.Plan.Blocks - 1
	}
	r.report(spec.Slot{Block: r.block}, "", 0)
	if r.Ended != nil {
		r.Ended(ending)
	}
	return nil
}

func (c *Config) check() error {
	validate := c.Plan.Validate
	if c.Plan.Single() {
		validate = c.Plan.ValidateSingle
	}
	if err := validate(); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if c.Local == nil || c.Setup == nil || c.Sink == nil {
		return errors.New("run: a local agent, a setup and a sink are needed")
	}
	for _, t := range c.Plan.Tests { // of those beside none has a remote end
		if c.Remote == nil && hasRemote(t) {
			return fmt.Errorf("run: test %s needs an agent at its remote end", t)
		}
	}
	for _, v := range c.Plan.Variants() {
		if err := new(Path).Bind(c.Plan.SettingsOf(v)); err != nil {
			return fmt.Errorf("plan: %s: %w", v.Key(c.Plan.Factors), err)
		}
		if far := agentSettings(&c.Plan, v, spec.EndRemote); c.Remote == nil && len(far) > 0 {
			return fmt.Errorf("run: %s needs an agent at the remote end", far[0])
		}
	}
	return nil
}

func hasRemote(t spec.Test) bool { return t.Kind().HasRemote() }

// runner is a run under way.
type runner struct {
	Config
	began         time.Time
	done          int          // finished trials, those of an earlier part included
	earlier       int          // of those, the ones of an earlier part
	order         int          // of the next trial
	block         int          // the one under way
	inBlock       int          // trials that are left of it
	local, remote *ctl.Session // nil until they are needed, and after a loss
	connected     bool         // both hosts were there once
	path          *Path        // nil between slots, and after a failure
	before        *spec.Slot   // the latest one; nil at first
	between       spec.Variant // to be set before the next trial's own; nil for none
	near, far     side
	localAddr     netip.Addr // the local end's address, once its host has told it
	// silent is what was found out about tests in which nothing came through.
	silent map[spec.Test][]result.Warning
	// rest are the baselines of each variant, by its key.
	rest map[string]*baselines

	mu      sync.Mutex
	changes []result.Change // what was set for the slot under way
}

// slot runs every test of a slot on one path.
func (r *runner) slot(ctx context.Context, slot spec.Slot) (err error) {
	r.changes = nil
	if !slot.Beside {
		r.between = r.remake(slot)
		r.before = &slot
	}
	defer func() {
		if closing := r.closePath(ctx, false); closing != nil {
			err = and(err, r.stopped(slot, "", closing))
		}
	}()
	for _, test := range slot.Tests {
		t, err := r.repeat(ctx, slot, test)
		if err != nil {
			return err
		}
		if err := r.Sink(t); err != nil {
			return r.stopped(slot, test.String(), fmt.Errorf("keep the trial: %w", err))
		}
		r.done++
		r.order++
		r.inBlock--
	}
	return nil
}

// repeat tries a trial until it succeeds or has failed too often. After a
// failure everything that may be broken is made anew.
func (r *runner) repeat(ctx context.Context, slot spec.Slot, test spec.Test) (result.Trial, error) {
	var first error
	for attempt := 1; ; attempt++ {
		if ctx.Err() != nil {
			return result.Trial{}, r.interrupted(ctx)
		}
		r.report(slot, test.String(), attempt)
		t, err := r.attempt(ctx, slot, test, attempt)
		if err == nil {
			if first != nil {
				t.Warnings = append(t.Warnings, repeated(first))
			}
			return t, nil
		}
		r.release(ctx, err)
		var unset *settingError
		wrong := errors.As(err, &unset)
		if why := unavailable(err); why != nil && !wrong && ctx.Err() == nil {
			t.Local.Role = result.Local
			t.Warnings = append(t.Warnings, *why)
			return t, nil
		}
		closing := r.closePath(ctx, wrong)
		if ctx.Err() != nil {
			return result.Trial{}, and(r.interrupted(ctx), closing)
		}
		err = and(err, closing)
		if attempt == 1 {
			first = err
		}
		if attempt < attempts && !isHopeless(err) {
			continue
		}
		if told(first) != told(err) {
			err = fmt.Errorf("%w (and before: %w)", err, first)
		}
		return result.Trial{}, r.stopped(slot, test.String(), fmt.Errorf("failed %s: %w", times(attempt), err))
	}
}

// workerNumber is the one thing in which the same error of two workers differs.
var workerNumber = regexp.MustCompile(`worker [0-9]+: `)

func told(err error) string { return workerNumber.ReplaceAllString(err.Error(), "") }

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (r *runner) interrupted(ctx context.Context) error {
	return fmt.Errorf("%w after %d of %d trials: %w", ErrInterrupted, r.done, r.Plan.Trials(), context.Cause(ctx))
}

func (r *runner) stopped(slot spec.Slot, test string, cause error) error {
	where := fmt.Sprintf("block %d, %s", slot.Block+1, slot.Variant.Key(r.Plan.Factors))
	switch {
	case r.Plan.Single():
		where = fmt.Sprintf("trial %d", slot.Block+1)
	case slot.Beside:
		where = fmt.Sprintf("block %d, beside the variants", slot.Block+1)
	}
	if test != "" {
		where += ", " + test
	}
	return fmt.Errorf("%w after %d of %d trials: %s: %w", ErrStopped, r.done, r.Plan.Trials(), where, cause)
}

// attempt makes sure of sessions and path and tries the trial once.
func (r *runner) attempt(ctx context.Context, slot spec.Slot, test spec.Test, attempt int) (result.Trial, error) {
	if err := r.connect(ctx); err != nil {
		return result.Trial{}, err
	}
	if slot.Beside {
		return r.attemptBeside(ctx, slot, test, attempt)
	}
	if r.path == nil {
		if err := r.makePath(ctx, slot.Variant); err != nil {
			return result.Trial{}, fmt.Errorf("make the path%s: %w", forVariant(slot.Variant.Key(r.Plan.Factors)), err)
		}
	}
	if v := r.between; v != nil && !r.path.Fresh {
		if err := r.detour(ctx, v); err != nil {
			return result.Trial{}, err
		}
		r.near.on, r.far.on = nil, nil
	}
	r.between = nil
	if err := r.change(ctx, slot.Variant); err != nil {
		return result.Trial{}, err
	}
	t := result.Trial{
		Schema:  result.Schema,
		Block:   slot.Block,
		Order:   r.order,
		Attempt: attempt,
		Variant: slot.Variant,
		Test:    test,
		Changes: r.slotChanges(),
	}
	if err := r.trial(ctx, &t); err != nil {
		return t, err
	}
	r.explainSilence(ctx, &t)
	return t, nil
}

func forVariant(key string) string {
	if key == "" {
		return ""
	}
	return " for " + key
}
