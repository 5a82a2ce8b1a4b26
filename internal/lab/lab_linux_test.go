package lab

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/roles"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// TestMain lets the binary be started as a worker or a wire: without it, a test
// that made a lab would start all tests again for each of them.
func TestMain(m *testing.M) { os.Exit(labtest.Main(m, roles.Dispatch)) }

func options(t *testing.T) Options {
	t.Helper()
	tests, err := spec.ParseTests("udp_rr", nil)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Link: netlab.Ether, Tests: tests, Blocks: 6, Window: 50 * time.Millisecond, Margin: 0.02,
		CPULocal: Auto, CPURemote: Auto, CPUWire: Auto, CPUHandler: Auto, Beside: []spec.Test{}}
}

func TestRxContextPlan(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(*Options)
		levels   []string
		baseline string
		err      string
	}{
		{"ether's defaults", func(*Options) {}, []string{"softirq", "kthread"}, "softirq", ""},
		{"veth's defaults", func(o *Options) { o.Link = netlab.Veth }, []string{"napi", "napi-threaded"}, "napi", ""},
		{"levels without the usual baseline", func(o *Options) { o.Levels = map[string][]string{"": {"uthread", "inline"}} }, []string{"uthread", "inline"}, "uthread", ""},
		{"a level against itself", func(o *Options) { o.Levels = map[string][]string{"": {"softirq", "softirq-again"}} }, []string{"softirq", "softirq-again"}, "softirq", ""},
		{"a baseline of one's own", func(o *Options) { o.Baseline = map[string]string{"": "kthread"} }, []string{"softirq", "kthread"}, "kthread", ""},
		{"an unknown link", func(o *Options) { o.Link = "ppp" }, nil, "", "valid are ether, veth"},
		{"a level of the other link", func(o *Options) { o.Levels = map[string][]string{"": {"napi"}} }, nil, "", "valid are inline, "},
		{"an unknown baseline", func(o *Options) { o.Baseline = map[string]string{"": "uthread"} }, nil, "", "none of its levels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t)
			c.change(&o)
			p, err := rxContext.Plan(o)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.levels, p.Factors[0].Levels); diff != "" {
				t.Errorf("levels (-want +got):\n%s", diff)
			}
			for _, l := range c.levels {
				if s := p.SettingsOf(spec.Variant{rxFactor: l}); len(s) != 1 || s[0].Knob != knobContext || s[0].Value != spec.BaseLevel(l) {
					t.Errorf("level %s sets %v", l, s)
				}
			}
			if got := p.Baseline[rxFactor]; got != c.baseline {
				t.Errorf("baseline %s, want %s", got, c.baseline)
			}
		})
	}
}

// TestDefaultsAreContexts guards the table of defaults against a context that
// was renamed.
func TestDefaultsAreContexts(t *testing.T) {
	for _, d := range rxDefaults {
		o := options(t)
		o.Link = d.link
		if _, err := rxContext.Plan(o); err != nil {
			t.Errorf("%s: %v", d.link, err)
		}
	}
}

func TestPlace(t *testing.T) {
	auto := Usual()
	bound := Usual()
	bound.bound = true
	own := bound
	own.CPUWire, own.CPUHandler = sys.NoCPU, 1
	for _, c := range []struct {
		name string
		o    Options
		cpus []int
		want places
	}{
		{"four CPUs", auto, []int{0, 1, 2, 3}, places{0, 1, 2, sys.NoCPU}},
		{"some CPUs of a larger machine", auto, []int{8, 9, 12}, places{8, 9, 12, sys.NoCPU}},
		{"two CPUs", auto, []int{0, 1}, places{0, 1, sys.NoCPU, sys.NoCPU}},
		{"one CPU", auto, []int{3}, places{sys.NoCPU, sys.NoCPU, sys.NoCPU, sys.NoCPU}},
		{"two CPUs, bound", bound, []int{4, 6}, places{4, 6, 4, 4}},
		{"three CPUs, bound", bound, []int{0, 1, 2}, places{0, 1, 2, 2}},
		{"one CPU, bound", bound, []int{3}, places{sys.NoCPU, sys.NoCPU, sys.NoCPU, sys.NoCPU}},
		{"bound otherwise", own, []int{0, 1}, places{0, 1, sys.NoCPU, 1}},
		{"as asked", Options{CPULocal: 1, CPURemote: sys.NoCPU, CPUWire: 0, CPUHandler: Auto}, []int{0, 1}, places{1, sys.NoCPU, 0, sys.NoCPU}},
	} {
		if got := c.o.place(c.cpus); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestBaseLevel(t *testing.T) {
	for level, want := range map[string]string{"softirq": "softirq", "softirq-again": "softirq", "napi-threaded": "napi-threaded"} {
		if got := spec.BaseLevel(level); got != want {
			t.Errorf("%s: %s, want %s", level, got, want)
		}
	}
}

// TestRun runs a small plan and looks at what it leaves.
func TestRun(t *testing.T) {
	labtest.Need(t, feature.Veth)
	labtest.NoLeaks(t)
	o := options(t)
	o.Link, o.Blocks, o.Levels = netlab.Veth, 2, map[string][]string{"": {"backlog", "napi"}}
	p, err := rxContext.Plan(o)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := carryOut(t, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) != p.Trials() {
		t.Fatalf("%d trials, want %d", len(trials), p.Trials())
	}
	for i, trial := range trials {
		if trial.Local.Messages == 0 || trial.Path.Counts["a.tx_packets"] < trial.Local.Messages {
			t.Errorf("trial %d: %d round trips, %d frames sent", i, trial.Local.Messages, trial.Path.Counts["a.tx_packets"])
		}
	}
}

func TestFindNamesTheValidOnes(t *testing.T) {
	if _, err := Find("rx-context"); err != nil {
		t.Error(err)
	}
	if _, err := Find("tx-context"); err == nil || !strings.Contains(err.Error(), "rx-context") {
		t.Errorf("error %v does not name rx-context", err)
	}
}
