package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
)

func TestTally(t *testing.T) {
	steal := func(text string) result.Warning { return result.Warning{Code: "steal", Text: text} }
	var got []string
	var a tally
	a.add([]result.Warning{steal("3% stolen"), {Code: "lock", Text: "refused"}})
	a.add([]result.Warning{steal("5% stolen"), steal("6% stolen"), {Code: "lock", Text: "refused", Metric: "rate"}})
	a.add(nil)
	a.add([]result.Warning{{Code: "lock", Text: "refused"}})
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
		{Code: "few-blocks", Text: "4 complete blocks are too few for a verdict, which needs 6", Advice: "run with --blocks 6 or more"},
		{Code: "mlockall", Text: "all 80 trials: refused", Advice: "run as root"}}
	if d := cmp.Diff(want, r.Warnings); d != "" {
		t.Errorf("report:\n%s", d)
	}
	row := find(t, r.Comparisons, "kthread", "udp_rr", "rate")
	want = []result.Warning{{Code: "steal", Text: "2 of 8 trials: 3% stolen"}, {Code: "mlockall", Text: "all 8 trials: refused", Advice: "run as root"}}
	if d := cmp.Diff(want, row.Warnings); d != "" {
		t.Errorf("row:\n%s", d)
	}
	if row := find(t, r.Comparisons, "kthread", "tcp_rr", "rate"); len(row.Warnings) != 1 {
		t.Errorf("a warning about udp_rr stands at tcp_rr: %+v", row.Warnings)
	}

	// A run that ended early says so, and its caller needn't.
	r = build(t, s.plan, trials[:50], Options{})
	if w := r.Warnings[0]; w.Code != "partial" || w.Text != "the run is not whole: 2 of 4 blocks are complete" {
		t.Errorf("partial: %+v", r.Warnings)
	}
	if r := build(t, s.plan, trials, Options{Partial: true}); !r.Partial || r.Warnings[0].Code != "partial" {
		t.Errorf("the caller's word is lost: %+v", r.Warnings)
	}
}
