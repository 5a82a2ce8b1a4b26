package compare

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/result"
)

func TestEnvironmentDiff(t *testing.T) {
	facts := func(pairs ...string) []Fact {
		var all []Fact
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, Fact{Name: pairs[i], Value: pairs[i+1]})
		}
		return all
	}
	env := func(local, remote []Fact) []result.Environment {
		var all []result.Environment
		if remote != nil { // the order in which ends are kept means nothing
			all = append(all, result.Environment{End: result.Remote, Facts: remote})
		}
		if local != nil {
			all = append(all, result.Environment{End: result.Local, Facts: local})
		}
		return all
	}
	for _, c := range []struct {
		name     string
		old, new [][]result.Environment // of each run
		want     []FactChange
		same     []Fact
		unknown  []string
	}{
		{"nothing changed",
			[][]result.Environment{env(facts("kernel", "6.1", "cpu", "A"), facts("kernel", "6.1", "cpu", "B"))},
			[][]result.Environment{env(facts("kernel", "6.1", "cpu", "A"), facts("kernel", "6.1", "cpu", "B"))},
			nil, facts("kernel", "6.1", "local cpu", "A", "remote cpu", "B"), nil},
		{"values, and facts that come and go, at each end",
			[][]result.Environment{env(facts("kernel", "6.1", "governor", "powersave"), facts("kernel", "6.1", "tso", "on"))},
			[][]result.Environment{env(facts("kernel", "6.2", "hypervisor", "KVM"), facts("kernel", "6.1", "tso", "off"))},
			[]FactChange{
				{"local", "kernel", "6.1", "6.2"}, {"local", "governor", "powersave", ""}, {"local", "hypervisor", "", "KVM"},
				{"remote", "tso", "on", "off"}},
			facts("remote kernel", "6.1"), nil},
		{"runs of one side differ",
			[][]result.Environment{env(facts("kernel", "6.2"), facts("tso", "on")), env(facts("kernel", "6.1"), facts("tso", "on", "mtu", "9000"))},
			[][]result.Environment{env(facts("kernel", "6.1"), facts("tso", "on"))},
			[]FactChange{{"local", "kernel", "6.1 or 6.2", "6.1"}, {"remote", "mtu", "9000 or none", ""}},
			facts("remote tso", "on"), nil},
		{"an end of which nothing is kept",
			[][]result.Environment{env(facts("kernel", "6.1"), nil)},
			[][]result.Environment{env(facts("kernel", "6.1"), facts("kernel", "6.1"))},
			nil, facts("local kernel", "6.1"), []string{"nothing is kept about the remote end of old, so what differs there is not known"}},
		{"one run of several keeps nothing",
			[][]result.Environment{env(facts("kernel", "6.1"), facts("tso", "on")), nil},
			[][]result.Environment{env(facts("kernel", "6.2"), facts("tso", "on"))},
			[]FactChange{{"local", "kernel", "6.1", "6.2"}}, facts("remote tso", "on"), nil},
		{"nothing at all", [][]result.Environment{nil}, [][]result.Environment{nil}, nil, nil,
			[]string{"nothing is kept about the local end of either side, so what differs there is not known",
				"nothing is kept about the remote end of either side, so what differs there is not known"}},
	} {
		b := newBoots(t, 1, "tcp_stream")
		side := func(label string, environments [][]result.Environment) []Kept {
			runs := b.runs(len(environments), label, 4, 1)
			for i := range runs {
				runs[i].Run.Environments, runs[i].Run.Target, runs[i].Run.Version = environments[i], "", ""
			}
			return runs
		}
		r := compareRuns(t, side("old", c.old), side("new", c.new), RunsOptions{})
		if r.EnvironmentDiff == nil {
			t.Errorf("%s: the list is nil", c.name)
		}
		if d := cmp.Diff(append([]FactChange{}, c.want...), r.EnvironmentDiff); d != "" {
			t.Errorf("%s: changes:\n%s", c.name, d)
		}
		if d := cmp.Diff(c.same, r.Environment); d != "" {
			t.Errorf("%s: the same:\n%s", c.name, d)
		}
		if d := cmp.Diff(c.unknown, withCode(r.Warnings, "environment-unknown")); d != "" {
			t.Errorf("%s: unknown:\n%s", c.name, d)
		}
	}
}

// A boot comes after all that differs, and details that a record of an older
// program lacks are one change that hides none.
func TestBootsAndOneSidedDetails(t *testing.T) {
	b := newBoots(t, 1, "tcp_stream")
	old, new := b.run("old", 4, 1), b.run("new", 4, 1)
	facts := func(more ...Fact) []Fact {
		return append([]Fact{{Name: result.FactBoot, Value: more[0].Value}, {Name: "kernel", Value: "6.1"}}, more...)
	}
	a := facts(Fact{Name: "net.core.rmem_max", Value: "1"})
	c := facts(Fact{Name: "net.core.rmem_max", Value: "2"}, Fact{Name: "governor", Value: "powersave"})
	old.Run.Environments = []result.Environment{{End: result.Local, Facts: a}, {End: result.Remote, Facts: a}}
	new.Run.Environments = []result.Environment{{End: result.Local, Facts: c}, {End: result.Remote, Facts: c}}
	r := compareRuns(t, []Kept{old}, []Kept{new}, RunsOptions{})
	want := []FactChange{
		{"local", "net.core.rmem_max", "1", "2"}, {"local", "governor", "", "powersave"},
		{"remote", "net.core.rmem_max", "1", "2"}, {"remote", "governor", "", "powersave"},
		{"local", "boot", "1", "2"}, {"remote", "boot", "1", "2"}}
	if d := cmp.Diff(want, r.EnvironmentDiff); d != "" {
		t.Error(d)
	}
	for i := range maxOneSided {
		c = append(c, Fact{Name: "net.x" + strconv.Itoa(i), Value: "1"})
	}
	new.Run.Environments = []result.Environment{{End: result.Local, Facts: c}, {End: result.Remote, Facts: c}}
	if r := compareRuns(t, []Kept{old}, []Kept{new}, RunsOptions{}); len(r.EnvironmentDiff) != 6+2*maxOneSided {
		t.Errorf("%d one-sided details are no longer told: %v", maxOneSided, r.EnvironmentDiff)
	}
	c = append(c, Fact{Name: "net.y", Value: "1"})
	new.Run.Environments = []result.Environment{{End: result.Local, Facts: c}, {End: result.Remote, Facts: a}}
	r = compareRuns(t, []Kept{old}, []Kept{new}, RunsOptions{})
	want = []FactChange{{"local", "net.core.rmem_max", "1", "2"}, {"local", "governor", "", "powersave"},
		{"local", "details", "", "21 that the other side does not have"}, {"local", "boot", "1", "2"}}
	if d := cmp.Diff(want, r.EnvironmentDiff); d != "" {
		t.Error(d)
	}
}

func TestRunFactsDiffer(t *testing.T) {
	b := newBoots(t, 1, "tcp_stream")
	old, new := b.run("old", 4, 1), b.run("new", 4, 1)
	vary(&old, "softirq")
	vary(&new, "kthread")
	new.Run.Version, new.Run.Experiment = "0.2.0", "rx-context"
	r := compareRuns(t, []Kept{old}, []Kept{new}, RunsOptions{})
	want := []FactChange{{"run", "netdelta", "0.1.0", "0.2.0"}, {"run", "variant", "rx=softirq", "rx=kthread"}, {"run", "experiment", "", "rx-context"}}
	if d := cmp.Diff(want, r.EnvironmentDiff); d != "" {
		t.Error(d)
	}
}

// Changes are none between a list and itself, and the other way round they are
// the same with both values exchanged. Applied to old they give new.
func TestChangesHold(t *testing.T) {
	list := rapid.Custom(func(t *rapid.T) []Fact {
		values := rapid.MapOfN(rapid.SampledFrom([]string{"kernel", "cpu", "memory", "tso", "governor"}), rapid.SampledFrom([]string{"a", "b"}), 0, 5).Draw(t, "facts")
		var all []Fact
		for _, name := range rapid.Permutation([]string{"kernel", "cpu", "memory", "tso", "governor"}).Draw(t, "order") {
			if v, ok := values[name]; ok {
				all = append(all, Fact{Name: name, Value: v})
			}
		}
		return all
	})
	rapid.Check(t, func(t *rapid.T) {
		old, new := list.Draw(t, "old"), list.Draw(t, "new")
		if got := Changes("local", old, old); len(got) != 0 {
			t.Fatalf("a list differs from itself: %v", got)
		}
		values := map[string]string{}
		for _, f := range old {
			values[f.Name] = f.Value
		}
		back := map[FactChange]bool{}
		for _, c := range Changes("local", new, old) {
			back[FactChange{c.End, c.Name, c.New, c.Old}] = true
		}
		changes := Changes("local", old, new)
		for _, c := range changes {
			if c.End != "local" || c.Old == c.New || values[c.Name] != c.Old || !back[c] {
				t.Fatalf("%+v of %v and %v", c, old, new)
			}
			values[c.Name] = c.New
			if c.New == "" {
				delete(values, c.Name)
			}
		}
		want := map[string]string{}
		for _, f := range new {
			want[f.Name] = f.Value
		}
		if d := cmp.Diff(want, values); d != "" || len(back) != len(changes) {
			t.Fatalf("%v applied to %v:\n%s", changes, old, d)
		}
	})
}
