package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"netdelta/internal/compare"
	"netdelta/internal/lab"
)

// parsed are the flags of a command line, and the words that are left.
func parsed(t testing.TB, args ...string) (*labFlags, []string, error) {
	t.Helper()
	var f labFlags
	fl := pflag.NewFlagSet("lab", pflag.ContinueOnError)
	f.add(fl)
	if err := fl.Parse(args); err != nil {
		return nil, nil, err
	}
	words := f.asked(fl, fl.Args())
	return &f, words, nil
}

func TestEachTakesItsNumber(t *testing.T) {
	for _, c := range []struct {
		args  string
		each  int
		words string
	}{
		{"", 0, ""},
		{"--each", 1000, ""},
		{"--each=7", 7, ""},
		{"--each 7", 7, ""},
		{"rx-context --each 7", 7, "rx-context"},
		{"--each rx-context", 1000, "rx-context"},
		{"--each=7 8", 7, "8"},
		{"7", 0, "7"},
	} {
		f, words, err := parsed(t, strings.Fields(c.args)...)
		if err != nil {
			t.Fatal(err)
		}
		o, err := f.options()
		if got := strings.Join(words, " "); err != nil || o.Each != c.each || got != c.words {
			t.Errorf("%q: each %d, words %q, %v; want %d, %q", c.args, o.Each, got, err, c.each, c.words)
		}
	}
}

// What is not given is the experiment's.
func TestDefaultsAreLeftOpen(t *testing.T) {
	f, _, err := parsed(t)
	if err != nil {
		t.Fatal(err)
	}
	o, err := f.options()
	if err != nil {
		t.Fatal(err)
	}
	if o.Link != "" || o.Tests != nil || o.Beside != nil || o.Levels != nil || o.Baseline != nil || o.Blocks != 0 || o.Window != 0 || o.Warmup >= 0 ||
		o.CPULocal != lab.Auto || o.CPURemote != lab.Auto || o.CPUWire != lab.Auto || o.CPUHandler != lab.Auto || o.Soak || o.Offload || o.Second != "" {
		t.Errorf("got %+v", o)
	}
}

func TestLevelsOfFactors(t *testing.T) {
	f, _, err := parsed(t, "--levels", "write, sendfile", "--levels", "rate=full,1Gbit/s", "--baseline", "rate=full", "--beside", "none", "--warmup", "0s")
	if err != nil {
		t.Fatal(err)
	}
	o, err := f.options()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Levels[""], []string{"write", "sendfile"}) || !slices.Equal(o.Levels["rate"], []string{"full", "1Gbit/s"}) || o.Baseline["rate"] != "full" || len(o.Levels) != 2 {
		t.Errorf("levels %v, baseline %v", o.Levels, o.Baseline)
	}
	if o.Beside == nil || len(o.Beside) != 0 || o.Warmup != 0 {
		t.Errorf("beside %v, warm-up %v", o.Beside, o.Warmup)
	}
}

func FuzzLevelFlags(f *testing.F) {
	for _, s := range []string{"a,b", "rx=a,b", "=", "a=b=c", ",", ""} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, levels, baseline string) {
		f, _, err := parsed(t, "--levels="+levels, "--baseline="+baseline)
		if err != nil {
			t.Fatal(err)
		}
		o, err := f.options()
		if err != nil {
			return
		}
		for _, exp := range lab.Experiments() {
			if o, err := exp.Complete(o); err == nil {
				exp.Plan(o)
			}
		}
	})
}

func TestChecksAreGates(t *testing.T) {
	found := 3.0
	passed := compare.Check{Name: "passed", Found: &found, Pass: true}
	failed := compare.Check{Name: "failed", Found: &found}
	unknown := compare.Check{Name: "unknown", Text: "no figure"}
	for _, c := range []struct {
		checks []compare.Check
		want   string
	}{
		{nil, ""},
		{[]compare.Check{passed, unknown}, ""},
		{[]compare.Check{passed, failed, unknown}, "failed 1 of 3 checks: failed"},
		{[]compare.Check{failed, failed, failed, failed}, "failed 4 of 4 checks: failed; failed; failed; and 1 more"},
	} {
		err := judgeChecks(c.checks)
		exit := (*exitError)(nil)
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &exit) || exit.status != ExitGate || err.Error() != c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
