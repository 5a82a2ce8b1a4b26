package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// waking adds tests beside to a bench's plan.
func waking(t *testing.T, b *bench) {
	t.Helper()
	var err error
	if b.cfg.Plan.Beside, err = spec.ParseTests("wake at=same, wake by=pipe at=other busy=awake", nil); err != nil {
		t.Fatal(err)
	}
}

// ran are trials and slots in short, with all of their tests.
func ran(trials []result.Trial) (all []string) {
	for _, x := range trials {
		all = append(all, fmt.Sprint(x.Block, x.Variant, x.Test))
	}
	return all
}

func planned(p spec.Plan) (all []string) {
	for _, s := range p.Schedule() {
		for _, x := range s.Tests {
			all = append(all, fmt.Sprint(s.Block, s.Variant, x))
		}
	}
	return all
}

// Tests beside have no variant and no path, nothing is asked of the far host for
// them and nothing is set; all else is as without them.
func TestBeside(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		waking(t, b)
		b.cfg.Plan.Soak, b.cfg.Plan.Each = true, 5
		tuned(b, []spec.Setting{setting(spec.EndBoth, "1500")}, []spec.Setting{setting(spec.EndBoth, "9000")})
		b.cfg.Plan.Factors[0].Slow = true
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(planned(b.cfg.Plan), ran(b.trials)); d != "" {
			t.Errorf("trials (-want +got)\n%s", d)
		}
		beside := 0
		for i, x := range b.trials {
			if x.Order != i || x.Schema != result.Schema || x.Validate() != nil {
				t.Errorf("trial %d: order %d, schema %q, %v", i, x.Order, x.Schema, x.Validate())
			}
			if x.Test.Kind().Pattern != spec.Wake {
				continue
			}
			if beside++; x.Variant != nil || x.Remote != nil || x.Path.Counts != nil || len(x.Changes) > 0 || len(x.Warnings) > 0 || x.Window != b.cfg.Plan.Window || x.Local.Messages == 0 {
				t.Errorf("trial %d: %+v", i, x)
			}
		}
		if want := 2 * b.cfg.Plan.Blocks; beside != want {
			t.Errorf("%d trials beside, want %d", beside, want)
		}
		if last := b.shown[len(b.shown)-1]; last.Done != len(b.trials) || last.Total != len(b.trials) {
			t.Errorf("told %+v at the end of %d trials", last, len(b.trials))
		}
		for _, p := range b.shown {
			if strings.HasPrefix(p.Test, "wake") != (p.Variant == "" && p.Test != "") {
				t.Errorf("told of %q under %q", p.Test, p.Variant)
			}
		}
		steps := slices.Clone(b.log)
		with := len(steps)

		// The far host and the setup see nothing of it.
		synctest.Wait() // until the hosts have seen the first run leave
		b.trials, b.log = nil, nil
		b.cfg.Plan.Beside = nil
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(of("b", b.log), of("b", steps)); d != "" {
			t.Errorf("the far host without and with tests beside (-without +with)\n%s", d)
		}
		if more := with - len(b.log); more != 3*beside { // prepare, arm, run
			t.Errorf("%d steps more for %d trials beside", more, beside)
		}
	})
}

// The one end's worker of a test beside is bound to nothing, and no loops run; of
// the plan's tests it is told how many round trips to keep, and the other end not.
func TestBesideConfig(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		waking(t, b)
		b.cfg.Plan.Soak, b.cfg.Plan.Each, b.cfg.Plan.Blocks = true, 5, 1
		told := map[string]bool{}
		var mu sync.Mutex // both hosts prepare at once
		b.fail = func(step string, _ int) error {
			if host, is := strings.CutSuffix(step, " prepare"); is {
				c := b.given(host)
				mu.Lock()
				defer mu.Unlock()
				told[fmt.Sprint(host, " ", c.Test.Name, " each=", c.Each, " soak=", c.Soak, " cpu=", c.CPU, " ", c.Addr)] = true
			}
			return nil
		}
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"a icmp_echo each=5 soak=true cpu=0 192.0.2.1", "a udp_rr each=5 soak=true cpu=0 192.0.2.1",
			"b udp_rr each=0 soak=true cpu=1 192.0.2.2", "a wake each=0 soak=false cpu=-1 127.0.0.1",
		} {
			if !told[want] {
				t.Errorf("nobody was told %q: %v", want, told)
			}
		}
		if len(told) != 4 {
			t.Errorf("told %v", told)
		}
	})
}

func TestBesideResumed(t *testing.T) {
	for _, had := range []int{1, 3, 7, 18} {
		on(t, func(t *testing.T, b *bench) {
			waking(t, b)
			if err := Run(t.Context(), b.cfg); err != nil {
				t.Fatal(err)
			}
			whole := ran(b.trials)
			b.cfg.Done, b.trials = slices.Clone(b.trials[:had]), nil
			if err := Run(t.Context(), b.cfg); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(whole, append(ran(b.cfg.Done), ran(b.trials)...)); d != "" {
				t.Errorf("%d had: trials (-want +got)\n%s", had, d)
			}
		})
	}
}

// With more blocks each has fewer tests beside. Those that are there already stay.
func TestBesideResumedForLonger(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		waking(t, b)
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		b.cfg.Done, b.trials = slices.Clone(b.trials), nil
		b.cfg.Plan.Blocks = 14
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for _, x := range append(b.cfg.Done, b.trials...) {
			if x.Variant == nil {
				count[x.Test.String()]++
			} else {
				count[fmt.Sprint(x.Variant, x.Test.Name)]++
			}
		}
		for name, n := range count {
			if strings.HasPrefix(name, "wake") && n < spec.MinBlocks || !strings.HasPrefix(name, "wake") && n != 14 {
				t.Errorf("%s ran %d times: %v", name, n, count)
			}
		}
		if last := b.shown[len(b.shown)-1]; last.Done != b.cfg.Plan.Trials() {
			t.Errorf("told %+v at the end of %d", last, b.cfg.Plan.Trials())
		}
	})
}

// A test beside that this machine can't carry out says why, once in each trial; one
// that fails is tried twice.
func TestBesideFails(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		waking(t, b)
		b.fail = func(step string, nth int) error {
			c := b.given("a").Test
			switch {
			case step == "a prepare" && c.Params.At == spec.WakeOther:
				return &feature.Error{Feature: "two CPUs", Tried: "find them", Need: "two CPUs", Kernel: "Linux"}
			case step == "a run" && c.Params.At == spec.WakeSame && !slices.Contains(b.log[:len(b.log)-1], "once"):
				b.log = append(b.log, "once")
				return errBroken
			}
			return nil
		}
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		refused, again := 0, 0
		for _, x := range b.trials {
			if hasCode(x.Warnings, CodeUnavailable) {
				refused++
			}
			if x.Attempt == 2 {
				again++
			}
		}
		if refused != 3 || again != 1 || len(b.trials) != b.cfg.Plan.Trials() {
			t.Errorf("%d refused, %d repeated of %d trials", refused, again, len(b.trials))
		}
	})
}

func TestBesideStops(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		waking(t, b)
		b.fail = func(step string, nth int) error {
			if step == "a run" && b.given("a").Test.Kind().Pattern == spec.Wake {
				return errBroken
			}
			return nil
		}
		err := Run(t.Context(), b.cfg)
		if err == nil || !strings.Contains(err.Error(), "block 1, beside the variants, wake") {
			t.Errorf("got %v", err)
		}
	})
}

func TestBesideOfOneVariant(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		single(b)
		waking(t, b)
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(planned(b.cfg.Plan), ran(b.trials)); d != "" {
			t.Errorf("trials (-want +got)\n%s", d)
		}
	})
}
