package cli

import (
	"slices"
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/memory"
)

func TestBisecting(t *testing.T) {
	for _, c := range []struct {
		args string
		want bool
	}{
		{"compare a b", false}, {"compare a b --bisect", true}, {"compare --bisect=0 a", false}, {"compare --bisect=1", true},
		{"compare --bisect=perhaps", true}, {"compare -- --bisect", false}, {"compare --bisect --bisect=false", false},
	} {
		if got := bisecting(strings.Fields(c.args)); got != c.want {
			t.Errorf("%s: %v", c.args, got)
		}
	}
	for status, want := range map[int]int{
		ExitDone: 0, ExitGate: 1, ExitUsage: 129, ExitUnmeasured: 125, ExitInterrupted: 130, 125: 125, 129: 129, 130: 130, 137: 137,
	} {
		if got := forBisect(status); got != want {
			t.Errorf("%d is %d to git bisect, want %d", status, got, want)
		}
	}
}

// onBoot is a run that stands for a boot of the remote end.
func onBoot(id, label, boot string) result.Run {
	r := someRun()
	r.ID, r.Label, r.PerBoot = id, label, true
	for _, end := range []struct{ name, boot string }{{result.Local, "here"}, {result.Remote, boot}} {
		r.Environments = append(r.Environments, result.Environment{End: end.name, Facts: []result.Fact{{Name: result.FactBoot, Value: end.boot}}})
	}
	return r
}

// A second run of one boot is told at once; a run that stands for a boot is
// compared together with its label's others that do.
func TestRunsOfBoots(t *testing.T) {
	s := memory.New()
	keptAs := func(r result.Run) {
		t.Helper()
		if err := s.Begin(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), r.ID, someTrial(t, 0)); err != nil {
			t.Fatal(err)
		}
	}
	keptAs(onBoot("0000000001", "k1", "one"))
	keptAs(onBoot("0000000002", "k1", "two"))
	keptAs(onBoot("0000000003", "k2", "three"))
	plain := onBoot("0000000004", "k1", "four")
	plain.PerBoot = false
	keptAs(plain)
	for _, c := range []struct {
		boot, told string
		err        error
	}{{"two", "run 0000000002 of the label k1 is of this boot too", nil}, {"three", "", nil}, {"four", "", nil}, {"", "", errNoBoot}} {
		var said strings.Builder
		k := &keeper{store: s, wanted: true, stderr: &said}
		run := onBoot("0000000009", "k1", c.boot)
		if err := k.warnOfBoot(t.Context(), &run); err != c.err {
			t.Errorf("boot %q: %v", c.boot, err)
		}
		if told := c.told != ""; !strings.Contains(said.String(), c.told) || told != (len(run.Warnings) == 1) || told != (said.Len() > 0) {
			t.Errorf("boot %q: said %q, warnings %+v", c.boot, said.String(), run.Warnings)
		}
		k.run = run
		k.trials = []result.Trial{someTrial(t, 0)}
		var ids []string
		for _, of := range k.sideOfRun(t.Context(), nil) {
			ids = append(ids, of.Run.ID)
		}
		if slices.Sort(ids); !slices.Equal(ids, []string{"0000000001", "0000000002", "0000000009"}) {
			t.Errorf("boot %q is compared as %v", c.boot, ids)
		}
		if of := k.sideOfRun(t.Context(), []compare.Kept{{Run: onBoot("0000000001", "k1", "one")}}); len(of) != 2 {
			t.Errorf("against one of them it is compared as %d runs, want 2", len(of))
		}
		k.run.PerBoot = false
		if of := k.sideOfRun(t.Context(), nil); len(of) != 1 || of[0].Run.ID != "0000000009" {
			t.Errorf("a run of no boot is compared as %d runs", len(of))
		}
	}
}

func TestBaselineCommands(t *testing.T) {
	s := memory.New()
	run := onBoot("0000000001", "k1", "one")
	if err := s.Begin(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), run.ID, result.Complete, run.Start, nil); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	list := func() string {
		out.Reset()
		if err := listBaselines(t.Context(), s, "text", &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := list(); got != "no baselines are kept\n" {
		t.Errorf("%q", got)
	}
	out.Reset()
	if err := setBaseline(t.Context(), s, "@good", "k1", &out); err != nil || !strings.HasPrefix(out.String(), "@good is run 0000000001 (k1) of ") {
		t.Errorf("%q, %v", out.String(), err)
	}
	if got := list(); !strings.HasPrefix(got, "name  id         label start (UTC)      state\n@good 0000000001 k1    ") || !strings.HasSuffix(got, " complete\n") {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"", "@", " x", "@@x"} {
		if err := setBaseline(t.Context(), s, name, "k1", &out); err == nil {
			t.Errorf("a baseline called %q was taken", name)
		}
	}
	for _, err := range []error{setBaseline(t.Context(), s, "x", "nothing", &out), removeBaseline(t.Context(), s, "x", &out)} {
		if exit, ok := err.(*exitError); !ok || exit.status != ExitUsage {
			t.Errorf("%v is no usage error", err)
		}
	}
	if _, err := s.Find(t.Context(), store.BaselineMark+"good"); err != nil {
		t.Error(err)
	}
	if err := removeBaseline(t.Context(), s, "@good", &out); err != nil {
		t.Error(err)
	}
	if got := list(); got != "no baselines are kept\n" {
		t.Errorf("%q", got)
	}
}
