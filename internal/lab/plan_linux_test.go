package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/compare"
	"netdelta/internal/feature"
	"netdelta/internal/knob"
	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// carryOut runs a plan with a journal of its own, in which nothing must be left.
func carryOut(t *testing.T, p spec.Plan, o Options) ([]result.Trial, error) {
	t.Helper()
	return watched(t, t.Context(), p, o, nil)
}

func watched(t *testing.T, ctx context.Context, p spec.Plan, o Options, each func(result.Trial)) (trials []result.Trial, err error) {
	t.Helper()
	journal := t.TempDir()
	t.Setenv("NETDELTA_JOURNAL", journal)
	err = Run(ctx, p, o, Watch{
		Sink: func(x result.Trial) error {
			trials = append(trials, x)
			if each != nil {
				each(x)
			}
			return nil
		},
	})
	left, pending := knob.Pending(journal)
	if pending != nil || len(left) > 0 {
		t.Errorf("the journal has %v, %v", left, pending)
	}
	return trials, err
}

// oneKnob is a factor whose levels set one knob each.
func oneKnob(name, knob string, values ...string) spec.Factor {
	f := spec.Factor{Name: name, Levels: values, Settings: map[string][]spec.Setting{}}
	for _, v := range values {
		f.Settings[v] = []spec.Setting{{End: spec.EndBoth, Knob: knob, Value: v}}
	}
	return f
}

// crossed is a plan of one block, as a file would have it.
func crossed(t *testing.T, link, tests string, factors ...spec.Factor) (spec.Plan, Options) {
	t.Helper()
	list, err := spec.ParseTests(tests, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := spec.Plan{Experiment: "plan", Factors: factors, Baseline: spec.Variant{}, Tests: list,
		Blocks: 1, Window: spec.MinWindow, Margin: 0.02, Seed: 5, Counters: []string{"none"}}
	for _, f := range factors {
		p.Baseline[f.Name] = f.Levels[0]
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	o, err := OptionsOf(spec.Lab{Link: link})
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(p, o); errors.Is(err, feature.ErrUnavailable) {
		labtest.Skip(t, err)
	} else if err != nil {
		t.Fatal(err)
	}
	return p, o
}

// set are the changes of a trial as "knob=value", each with what it was.
func set(x result.Trial, end string) map[string]string {
	all := map[string]string{}
	for _, c := range x.Changes {
		if c.End == end {
			all[c.Knob+"="+c.Value] = c.Was
		}
	}
	return all
}

// Two settings of the hosts, crossed: each slot begins with what the link is made
// with, and only what is another way is a change.
func TestCrossing(t *testing.T) {
	labtest.NoLeaks(t)
	p, o := crossed(t, netlab.Veth, "udp_rr", oneKnob("mtu", "mtu", "1500", "1400"), oneKnob("queue", "txqueuelen", "1000", "500"))
	trials, err := carryOut(t, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) != 4 {
		t.Fatalf("%d trials, want 4", len(trials))
	}
	for _, x := range trials {
		want := map[string]string{}
		if x.Variant["mtu"] == "1400" {
			want["mtu=1400"] = "1500"
		}
		if x.Variant["queue"] == "500" {
			want["txqueuelen=500"] = "1000"
		}
		for _, end := range []string{result.Local, result.Remote} {
			if d := cmp.Diff(want, set(x, end)); d != "" {
				t.Errorf("%v at the %s end (-want +got)\n%s", x.Variant, end, d)
			}
		}
		for _, c := range x.Changes {
			if want := map[string]string{result.Local: "lab-a", result.Remote: "lab-b"}[c.End]; c.Device != want {
				t.Errorf("%v: %s of %q", x.Variant, c.Knob, c.Device)
			}
		}
		if x.Local.Messages == 0 {
			t.Errorf("%v: nothing came through", x.Variant)
		}
	}
}

// The factors of which veth has not all: its NAPI is there with GRO alone.
func TestOffloadAndThreads(t *testing.T) {
	labtest.NoLeaks(t)
	labtest.Need(t, feature.ThreadedNAPI)
	p, o := crossed(t, netlab.Ether, "tcp_rr", oneKnob("gro", "gro", "on", "off"), oneKnob("threaded", "threaded", "off", "on"))
	trials, err := carryOut(t, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) != 4 {
		t.Errorf("%d trials, want 4", len(trials))
	}
	for _, x := range trials {
		got := set(x, result.Remote)
		if _, off := got["gro=off"]; off != (x.Variant["gro"] == "off") {
			t.Errorf("%v: changes %v", x.Variant, x.Changes)
		}
		if _, on := got["threaded=on"]; on != (x.Variant["threaded"] == "on") {
			t.Errorf("%v: changes %v", x.Variant, x.Changes)
		}
		if x.Local.Messages == 0 {
			t.Errorf("%v: nothing came through", x.Variant)
		}
	}
}

// Parameters of the tests and the link itself can be factors, too: none of them
// is a change of a host.
func TestParametersAndLinks(t *testing.T) {
	labtest.NoLeaks(t)
	p, o := crossed(t, netlab.Veth, "tcp_stream", oneKnob("send", "param.send", "write", "sendfile"), oneKnob("mtu", "link-mtu", "1500", "4000"))
	trials, err := carryOut(t, p, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range trials {
		if !strings.Contains(x.Test.String(), "send="+x.Variant["send"]) && x.Variant["send"] != "write" {
			t.Errorf("%v ran %s", x.Variant, x.Test)
		}
		if len(x.Changes) > 0 {
			t.Errorf("%v: changes %v", x.Variant, x.Changes)
		}
	}
	want := compare.Fact{Name: "link", Value: "veth, IPv4, MTU 1500 or 4000, checksum and segmentation offload off"}
	if got := o.Facts(p); !slices.Contains(got, want) {
		t.Errorf("facts %v, want %v", got, want)
	}
}

// An interrupt in the middle of a window puts everything back.
func TestInterruptedPlan(t *testing.T) {
	labtest.NoLeaks(t)
	p, o := crossed(t, netlab.Veth, "udp_rr", oneKnob("mtu", "mtu", "1400", "1300"))
	p.Blocks, p.Window = 3, time.Second/10
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	trials, err := watched(t, ctx, p, o, func(result.Trial) {
		// The next trial has begun by then, or its link is being made.
		time.AfterFunc(50*time.Millisecond, cancel)
	})
	if !errors.Is(err, run.ErrInterrupted) || errors.Is(err, run.ErrUnrestored) {
		t.Errorf("got %v", err)
	}
	if len(trials) == 0 || len(trials) == p.Trials() {
		t.Errorf("%d trials of %d", len(trials), p.Trials())
	}
}

// A setting that the hosts can't have ends the run at once, with all put back.
func TestImpossibleSetting(t *testing.T) {
	labtest.NoLeaks(t)
	p, o := crossed(t, netlab.Veth, "udp_rr", oneKnob("ring", "ring.rx", "256", "512"))
	trials, err := carryOut(t, p, o)
	if !errors.Is(err, run.ErrStopped) || !strings.Contains(err.Error(), "ring") || len(trials) > 0 {
		t.Errorf("%d trials, %v", len(trials), err)
	}
}

func TestLinkOfSettings(t *testing.T) {
	at := func(knob, value string) spec.Setting {
		return spec.Setting{End: spec.EndBoth, Knob: knob, Value: value}
	}
	for _, c := range []struct {
		name string
		o    Options
		set  []spec.Setting
		want netlab.LinkConfig
	}{
		{"the lab's", Options{Link: netlab.Ether, Context: "inline", MTU: 4000, Offload: true}, nil,
			netlab.LinkConfig{Kind: netlab.Ether, Context: "inline", MTU: 4000, Offload: true}},
		{"usual ones", Options{Link: netlab.Ether}, nil, netlab.LinkConfig{Kind: netlab.Ether, Context: "softirq", MTU: 1500}},
		{"of veth", Options{Link: netlab.Veth}, nil, netlab.LinkConfig{Kind: netlab.Veth, Context: "napi", MTU: 1500}},
		{"of veth with offload", Options{Link: netlab.Veth, Offload: true}, nil, netlab.LinkConfig{Kind: netlab.Veth, Context: "backlog", MTU: 1500, Offload: true}},
		{"all set", Options{Link: netlab.Ether, Context: "softirq", MTU: 9000},
			[]spec.Setting{at("link", "veth"), at("context", "backlog"), at("offload", "on"), at("link-mtu", "1400"), at("mtu", "1300")},
			netlab.LinkConfig{Kind: netlab.Veth, Context: "backlog", MTU: 1400, Offload: true}},
		{"the other kind's usual context", Options{Link: netlab.Ether}, []spec.Setting{at("link", "veth")},
			netlab.LinkConfig{Kind: netlab.Veth, Context: "napi", MTU: 1500}},
		{"a wire", Options{Link: netlab.Ether, Wire: spec.Wire{Line: true, Rate: 1e9}}, []spec.Setting{at("wire.delay", "10us"), at("wire.loss", "1/100")},
			netlab.LinkConfig{Kind: netlab.Ether, Context: "softirq", MTU: 1500,
				Wire: spec.Wire{Line: true, Rate: 1e9, Delay: 10 * time.Microsecond, Loss: spec.Share{Every: 100}}}},
		{"offload off", Options{Link: netlab.Veth, Offload: true}, []spec.Setting{at("offload", "off")},
			netlab.LinkConfig{Kind: netlab.Veth, Context: "napi", MTU: 1500}},
	} {
		got, err := c.o.link(c.set, places{wire: 2, handler: 3})
		c.want.WireCPU, c.want.HandlerCPU = 2, 3
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

func TestOptionsOf(t *testing.T) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	first := cpuName(cpus[0])
	o, err := OptionsOf(spec.Lab{CPULocal: first, CPURemote: "none"})
	if err != nil || o.Link != netlab.Ether || o.CPULocal != cpus[0] || o.CPURemote != sys.NoCPU || o.CPUWire != Auto {
		t.Errorf("%+v, %v", o, err)
	}
	for want, l := range map[string]spec.Lab{
		"cpu-local: ":           {CPULocal: "x"},
		"CPU 60000 is not":      {CPURemote: "60000"},
		"it is one CPU at most": {CPUWire: first + ",60001"},
	} {
		if _, err := OptionsOf(l); err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "is not usable") {
			t.Errorf("%+v: %v, want %q", l, err, want)
		}
	}
}

// Every variant is looked at, and a wire's CPU is refused where there is no wire.
func TestCheckOfAllVariants(t *testing.T) {
	p, o := crossed(t, netlab.Veth, "udp_rr", oneKnob("context", "context", "backlog", "napi"))
	if err := Check(p, o); err != nil {
		t.Error(err)
	}
	o.CPUWire = 0
	if err := Check(p, o); !errors.Is(err, errNoWire) {
		t.Errorf("got %v", err)
	}
	o.CPUWire = Auto
	p.Factors[0] = oneKnob("context", "context", "backlog", "uthread")
	if err := Check(p, o); err == nil || !strings.Contains(err.Error(), `unknown context "uthread" of veth`) {
		t.Errorf("got %v", err)
	}
}
