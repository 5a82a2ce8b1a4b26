package compare

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
)

func TestTally(t *testing.T) {
	steal := func(text string) result.Warning { return result.Warning{Code: "steal", Text: text} }
	var got []string
	var a tally
	a.add(note([]result.Warning{steal("3% stolen"), {Code: "lock", Text: "refused"}}))
	a.add(note([]result.Warning{steal("5% stolen"), steal("6% stolen"), {Code: "lock", Text: "refused", Metric: "rate"}}))
	a.add(nil)
	a.add(note([]result.Warning{{Code: "lock", Text: "refused"}}))
	for _, g := range a.groups {
		got = append(got, g.warning(a.trials).Text)
	}
	want := []string{"2 of 4 trials, such as: 3% stolen", "2 of 4 trials: refused", "1 of 4 trials: refused"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	all := group{first: steal("3% stolen"), count: 4}
	if got := all.warning(4).Text; got != "all 4 trials: 3% stolen" {
		t.Error(got)
	}
	one := group{first: steal("3% stolen"), count: 1}
	if got := one.warning(1).Text; got != "the one trial: 3% stolen" {
		t.Error(got)
	}
}

func TestReportWarnings(t *testing.T) {
	loop := result.Warning{Code: "loopback", Text: "the route is loopback"}
	lock := result.Warning{Code: "mlockall", Text: "refused", Advice: "run as root"}
	s := rxContext(t, 4)
	trials := s.run()
	for i := range trials {
		trials[i].Local.Warnings = []result.Warning{lock}
		if trials[i].Block == 0 && trials[i].Test.Name == "udp_rr" {
			trials[i].Warnings = []result.Warning{{Code: "steal", Text: "3% stolen"}}
		}
	}
	r := build(t, s.plan, trials, Options{Warnings: []result.Warning{loop, loop}})
	want := []result.Warning{loop,
		{Code: "few-blocks", Text: "a verdict needs 6 complete blocks, and this run has 4", Advice: "run with --blocks 6 or more"},
		{Code: "mlockall", Text: "all 80 trials: refused", Advice: "run as root"}}
	if d := cmp.Diff(want, r.Warnings); d != "" {
		t.Errorf("report:\n%s", d)
	}
	row := find(t, r.Comparisons, "kthread", "udp_rr", "rate")
	want = []result.Warning{{Code: "steal", Text: "2 of 8 trials: 3% stolen"}}
	if d := cmp.Diff(want, row.Warnings); d != "" {
		t.Errorf("row:\n%s", d)
	}
	if row := find(t, r.Comparisons, "kthread", "tcp_rr", "rate"); len(row.Warnings) != 0 {
		t.Errorf("a warning about udp_rr or about everything stands at tcp_rr: %+v", row.Warnings)
	}

	// A run that ended early says so, and its caller needn't.
	r = build(t, s.plan, trials[:50], Options{})
	if w := r.Warnings[0]; w.Code != "partial" || w.Text != "the run is not whole: 2 of 4 blocks complete" {
		t.Errorf("partial: %+v", r.Warnings)
	}
	if r := build(t, s.plan, trials, Options{Partial: true}); !r.Partial || r.Warnings[0].Code != "partial" {
		t.Errorf("the caller's word is lost: %+v", r.Warnings)
	}
}

// What all trials say is told once, and so is what all say that have a worker
// at the remote end; what only some say stays where it is.
func TestCommonWarnings(t *testing.T) {
	busy := func(n int) result.Warning {
		return result.Warning{Code: "busy", Text: fmt.Sprintf("%d threads share 2 CPUs for %d.5ms", n, n)}
	}
	lab := func(text string) result.Warning { return result.Warning{Code: "lab", Text: text} }
	s := rxContext(t, 6)
	for _, c := range []struct {
		name string
		say  func(x *result.Trial) []result.Warning
		want []string // of the report
		row  []string // of udp_rr, uthread
	}{
		{"all, with other numbers", func(x *result.Trial) []result.Warning { return []result.Warning{busy(x.Order)} },
			[]string{"all 120 trials, such as: 0 threads share 2 CPUs for 0.5ms"}, nil},
		{"all but icmp_echo", func(x *result.Trial) []result.Warning {
			if x.Test.Name == "icmp_echo" {
				return nil
			}
			return []result.Warning{busy(3)}
		}, []string{"all 96 trials with a remote end: 3 threads share 2 CPUs for 3.5ms"}, nil},
		{"some of icmp_echo as well", func(x *result.Trial) []result.Warning {
			if x.Test.Name == "icmp_echo" && x.Block > 0 {
				return nil
			}
			return []result.Warning{busy(3)}
		}, []string{"all 96 trials with a remote end and 4 more: 3 threads share 2 CPUs for 3.5ms"}, nil},
		{"one code for two things", func(x *result.Trial) []result.Warning {
			if x.Variant["rx"] != "uthread" {
				return []result.Warning{lab("no offload")}
			}
			return []result.Warning{lab("no offload"), lab("no third CPU")}
		}, []string{"all 120 trials: no offload", "all 30 trials of uthread: no third CPU"}, nil},
		{"one trial short of all", func(x *result.Trial) []result.Warning {
			if x.Block == 0 && x.Variant["rx"] == "inline" && x.Test.Name == "udp_rr" {
				return nil
			}
			return []result.Warning{lab("no offload")}
		}, []string{"all 90 trials of softirq, kthread and uthread and 29 more: no offload"}, nil},
		{"two variants otherwise than two, and one of them in words of its own", func(x *result.Trial) []result.Warning {
			switch {
			case x.Variant["rx"] == "kthread":
				return []result.Warning{{Code: "busy", Text: fmt.Sprintf("%d threads (the wire, a's NAPI thread) share 2 CPUs", 3+len(x.Test.Name)%2)}}
			case x.Variant["rx"] == "inline" || x.Test.Name == "icmp_echo":
				return nil
			}
			return []result.Warning{{Code: "busy", Text: "3 threads (the wire) share 2 CPUs"}}
		}, []string{"all 30 trials of kthread, such as: 4 threads (the wire, a's NAPI thread) share 2 CPUs; " +
			"all 48 trials of softirq and uthread with a remote end: 3 threads (the wire) share 2 CPUs"}, nil},
		{"one variant but for one trial", func(x *result.Trial) []result.Warning {
			if x.Variant["rx"] != "uthread" || x.Block == 0 && x.Test.Name == "udp_rr" {
				return nil
			}
			return []result.Warning{lab("slow")}
		}, nil, []string{"5 of 12 trials: slow"}},
		{"about one metric", func(x *result.Trial) []result.Warning {
			return []result.Warning{{Code: "few", Text: "few", Metric: result.RTTP50}}
		}, nil, []string{"all 12 trials: few"}},
	} {
		trials := s.run()
		for i := range trials {
			trials[i].Warnings = c.say(&trials[i])
		}
		r := build(t, s.plan, trials, Options{})
		if d := cmp.Diff(c.want, warningTexts(r.Warnings)); d != "" {
			t.Errorf("%s: report:\n%s", c.name, d)
		}
		row := find(t, r.Comparisons, "uthread", "udp_rr", "rtt_p50")
		if d := cmp.Diff(c.row, warningTexts(row.Warnings)); d != "" {
			t.Errorf("%s: row:\n%s", c.name, d)
		}
	}
}

func warningTexts(warnings []result.Warning) []string {
	var all []string
	for _, w := range warnings {
		all = append(all, w.Text)
	}
	return all
}

// A guard's warnings are one whichever end and figures they name, but for those
// that advise something else.
func TestGuardsAreOneByAdvice(t *testing.T) {
	kernel := result.Warning{Code: result.GuardToolBound, Text: "at the local end 97%", Advice: "more flows"}
	other := kernel
	other.Text = "at both ends 98% and 99%"
	own := kernel
	own.Advice = "larger messages"
	if kindOf(kernel) != kindOf(other) || kindOf(kernel) == kindOf(own) {
		t.Errorf("%+v, %+v, %+v", kindOf(kernel), kindOf(other), kindOf(own))
	}
}
