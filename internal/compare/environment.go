package compare

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/result"
)

// FactChange is one thing that differs between two sides beside what they
// measured: often the answer to why they differ.
type FactChange struct {
	// End is result.Local or result.Remote, or "run" for what belongs to a run
	// as a whole: the program's version, the target, the variant.
	End  string `json:"end"`
	Name string `json:"name"`
	// Old and New are empty where a side does not have the fact. Where a
	// side's runs have several values, all of them stand here.
	Old string `json:"old"`
	New string `json:"new"`
}

// wholeRun is the end of what belongs to no end.
const wholeRun = "run"

// Changes is what differs between two lists of facts about one end: in the
// order of old, and then what only new has.
func Changes(end string, old, new []Fact) []FactChange {
	changes := []FactChange{}
	for _, f := range old {
		if v := factOf(new, f.Name); v != f.Value {
			changes = append(changes, FactChange{End: end, Name: f.Name, Old: f.Value, New: v})
		}
	}
	for _, f := range new {
		if !hasFact(old, f.Name) {
			changes = append(changes, FactChange{End: end, Name: f.Name, New: f.Value})
		}
	}
	return changes
}

func factOf(facts []Fact, name string) string {
	for _, f := range facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func hasFact(facts []Fact, name string) bool {
	return slices.ContainsFunc(facts, func(f Fact) bool { return f.Name == name })
}

// merged is the facts of several runs as one list. A fact that has several
// values has them all, in alphabetical order; runs that lack a fact that
// others have are "none" among them.
func merged(lists [][]Fact) []Fact {
	var all []Fact
	for _, list := range lists {
		for _, f := range list {
			if hasFact(all, f.Name) {
				continue
			}
			var values []string
			for _, other := range lists {
				v := "none"
				if hasFact(other, f.Name) {
					v = factOf(other, f.Name)
				}
				if !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
			slices.Sort(values)
			all = append(all, Fact{Name: f.Name, Value: strings.Join(values, " or ")})
		}
	}
	return all
}

// ends are the places whose facts a run keeps, in the order of reports.
var ends = []string{wholeRun, result.Local, result.Remote}

// factsAt is what the side's runs keep about one end. A run that keeps nothing
// about it is left out.
func (p *party) factsAt(end string) []Fact {
	var lists [][]Fact
	for _, k := range p.kept {
		facts := k.runFacts(p.ignoresVariant)
		if end != wholeRun {
			facts = environmentOf(&k.Run, end)
		}
		if len(facts) > 0 {
			lists = append(lists, facts)
		}
	}
	return merged(lists)
}

func environmentOf(r *result.Run, end string) []Fact {
	for _, e := range r.Environments {
		if e.End == end {
			return e.Facts
		}
	}
	return nil
}

// runFacts are the facts of the run as a whole, with its variant if asked for.
func (k *keptRun) runFacts(variant bool) []Fact {
	facts := []Fact{
		{Name: "netdelta", Value: k.Run.Version},
		{Name: "experiment", Value: k.Run.Experiment},
		{Name: "target", Value: k.Run.Target},
	}
	if variant && len(k.variants) == 1 {
		facts = append(facts, Fact{Name: "variant", Value: k.variants[0]})
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// compareEnvironments finds what differs between the sides and what does not.
// An end of which a side keeps nothing can't be compared, which is a warning.
func (r *Report) compareEnvironments(old, new *party) {
	r.EnvironmentDiff = []FactChange{}
	same := map[string][]Fact{}
	for _, end := range ends {
		a, b := old.factsAt(end), new.factsAt(end)
		if end != wholeRun && (len(a) == 0 || len(b) == 0) {
			r.warn(nothingKept(end, old.name, new.name, len(a), len(b)))
			continue
		}
		r.EnvironmentDiff = append(r.EnvironmentDiff, oneSided(end, Changes(end, a, b))...)
		for _, f := range a {
			if slices.Contains(b, f) {
				same[end] = append(same[end], f)
			}
		}
	}
	// A machine that was booted in between differs by that in any case.
	slices.SortStableFunc(r.EnvironmentDiff, func(a, b FactChange) int { return bootRank(a) - bootRank(b) })
	r.Environment = named(same)
}

func bootRank(c FactChange) int {
	if c.Name == result.FactBoot {
		return 1
	}
	return 0
}

// maxOneSided is how many details one side may lack before that is taken for
// what a record of an older program lacks.
const maxOneSided = 20

// oneSided puts the details that only one side has, where they are many, into
// one change, so that they do not hide what differs.
func oneSided(end string, changes []FactChange) []FactChange {
	var old, new int
	for _, c := range changes {
		if !result.DetailFact(c.Name) {
			continue
		}
		switch {
		case c.New == "":
			old++
		case c.Old == "":
			new++
		}
	}
	if old+new <= maxOneSided {
		return changes
	}
	kept := []FactChange{}
	for _, c := range changes {
		if c.Old != "" && c.New != "" || !result.DetailFact(c.Name) {
			kept = append(kept, c)
		}
	}
	count := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("%d that the other side does not have", n)
	}
	return append(kept, FactChange{End: end, Name: "details", Old: count(old), New: count(new)})
}

// named puts the ends' names before the facts but for those that are the same
// at both ends.
func named(same map[string][]Fact) []Fact {
	all := same[wholeRun]
	both := func(f Fact) bool {
		return slices.Contains(same[result.Local], f) && slices.Contains(same[result.Remote], f)
	}
	for _, end := range []string{result.Local, result.Remote} {
		for _, f := range same[end] {
			switch {
			case !both(f):
				all = append(all, Fact{Name: end + " " + f.Name, Value: f.Value})
			case end == result.Local:
				all = append(all, f)
			}
		}
	}
	return all
}

func nothingKept(end, old, new string, a, b int) result.Warning {
	who := "either side"
	switch {
	case a > 0:
		who = new
	case b > 0:
		who = old
	}
	return result.Warning{Code: "environment-unknown",
		Text: fmt.Sprintf("nothing is kept about the %s end of %s, so what differs there is not known", end, who)}
}
