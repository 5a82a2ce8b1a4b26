package lab

import (
	"errors"
	"testing"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/run"
	"netdelta/internal/spec"
)

// small is how each experiment is run where only that it runs is of interest.
var small = []struct {
	experiment string
	change     func(*Options)
	tests      string
}{
	{"rx-context", func(o *Options) {}, "udp_rr,tcp_stream"},
	{"two-factor", func(o *Options) {}, "udp_rr"},
	{"two-factor", func(o *Options) { o.Second = secondLink }, "udp_rr"},
	{"two-factor", func(o *Options) { o.Second = secondBusyPoll }, "udp_rr"},
	{"send-path", func(o *Options) {
		o.Levels = map[string][]string{"send": {"read+write", "sendfile"}, "rate": {"100Mbit/s", fullSpeed}}
	}, ""},
	{"tun-rx", func(o *Options) {}, "udp_rr size=64,tcp_stream size=64"},
	{"mitigation", func(o *Options) { o.Levels = map[string][]string{"": {noMitigation, "4/50us"}} }, ""},
	{"truth", func(o *Options) {
		o.Levels = map[string][]string{"": {nothing, "delay-20us", "loss-1/100", "rate-100Mbit/s"}}
	}, ""},
}

// Every experiment runs, and concludes something of its trials.
func TestExperimentsRun(t *testing.T) {
	needTwoCPUs(t)
	for _, c := range small {
		e, err := Find(c.experiment)
		if err != nil {
			t.Fatal(err)
		}
		o := Usual()
		c.change(&o)
		t.Run(c.experiment+" "+o.Second, func(t *testing.T) {
			labtest.NoLeaks(t)
			o.Blocks, o.Window, o.Warmup, o.Counters = 1, spec.MinWindow, 10*time.Millisecond, []string{"none"}
			if c.tests != "" {
				var err error
				if o.Tests, err = spec.ParseTests(c.tests, nil); err != nil {
					t.Fatal(err)
				}
			}
			if e.Beside != "" { // one of them, not all
				o.Beside = []spec.Test{{Name: "wake", Params: spec.Params{By: "pipe", At: spec.WakeOther}}}
			}
			o, err := e.Complete(o)
			if err != nil {
				t.Fatal(err)
			}
			o.Soak = false // it would be calibrated first
			p, err := e.Plan(o)
			if err != nil {
				t.Fatal(err)
			}
			if err := Check(p, o); errors.Is(err, feature.ErrUnavailable) {
				labtest.Skip(t, err)
			} else if err != nil {
				t.Fatal(err)
			}
			trials, err := carryOut(t, p, o)
			if errors.Is(err, feature.ErrUnavailable) {
				labtest.Skip(t, err)
			} else if err != nil {
				t.Fatal(err)
			}
			if len(trials) != p.Trials() {
				t.Errorf("%d trials, want %d", len(trials), p.Trials())
			}
			r, err := compare.Build(p, trials, compare.Options{})
			if err != nil {
				t.Fatal(err)
			}
			e.Conclude(&p, trials, &r)
			// A test may need a privilege that its user lacks: the report says so, and goes on.
			for _, x := range trials {
				for _, w := range x.Warnings {
					if w.Code == run.CodeUnavailable {
						labtest.Skip(t, errors.New(w.Text))
					}
				}
			}
			if silent := r.Unmeasured(); len(silent) > 0 {
				t.Errorf("nothing came through in %v", silent)
			}
			if r.Brief != e.Brief || e.Brief && len(r.Sections)+len(r.Checks) == 0 {
				t.Errorf("brief is %v, with %d sections and %d checks", r.Brief, len(r.Sections), len(r.Checks))
			}
		})
	}
}
