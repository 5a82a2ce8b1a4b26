package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"netdelta/internal/spec"
)

// sameFact is by how much a fact that is a number may differ and still be the same:
// a test of ten seconds takes 10.00 or 10.03.
const sameFact = 0.05

// factChanges are what is said of the tests of a pair beside their figures, and
// differs.
func (p *posted) factChanges(all []*match, pair postedPair) []FactChange {
	type change struct{ name, old, new string }
	var order []change
	of := map[change][]string{}
	for _, m := range all {
		a, b := factsOf(m, 0), factsOf(m, 1)
		for _, c := range Changes(wholeRun, a, b) {
			if alikeFacts(c.Old, c.New) {
				continue
			}
			k := change{c.Name, c.Old, c.New}
			if of[k] == nil {
				order = append(order, k)
			}
			of[k] = append(of[k], shortName(m.test, nil))
		}
	}
	var changes []FactChange
	for _, k := range order {
		name := k.name
		if len(of[k]) < len(all) {
			name += " of " + fewOf(of[k])
		}
		if where := p.where(pair); where != "" {
			name += " (" + where + ")"
		}
		changes = append(changes, FactChange{End: wholeRun, Name: name, Old: k.old, New: k.new})
	}
	return changes
}

// where names the pair, if there are several.
func (p *posted) where(pair postedPair) string {
	switch {
	case len(p.parties) == 2:
		return ""
	case pair.under == "":
		return pair.variant
	}
	return pair.variant + ", " + pair.under
}

// factsOf are the facts of a test on one side, the program's version among them.
func factsOf(m *match, side int) []Fact {
	var lists [][]Fact
	for _, c := range m.trials(side) {
		var facts []Fact
		if c.posted.Version != "" {
			facts = append(facts, Fact{Name: c.posted.Tool + " version", Value: c.posted.Version})
		}
		lists = append(lists, append(facts, c.posted.Facts...))
	}
	return merged(lists)
}

// alikeFacts says that two values are the same number, or nearly so, in one unit.
func alikeFacts(a, b string) bool {
	x, unitA, okA := quantityIn(a)
	y, unitB, okB := quantityIn(b)
	return okA && okB && unitA == unitB && math.Abs(x-y) <= sameFact*math.Max(math.Abs(x), math.Abs(y))
}

// quantityIn takes a number and its unit apart. A whole number is exact: ports, sizes
// and flows are no measurements.
func quantityIn(s string) (v float64, unit string, ok bool) {
	s = strings.TrimSpace(s)
	end := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.", r) })
	if end < 0 {
		end = len(s)
	}
	if !strings.Contains(s[:end], ".") {
		return 0, "", false
	}
	v, err := strconv.ParseFloat(s[:end], 64)
	return v, strings.TrimSpace(s[end:]), err == nil
}

// pairName is how a claim or a finding names levels.
func pairName(factor, level string, under spec.Variant, factors []spec.Factor) string {
	name := level
	if len(factors) > 1 {
		name = fmt.Sprintf("%s=%s", factor, level)
	}
	var rest []string
	for _, f := range factors {
		if l, ok := under[f.Name]; ok && f.Name != factor {
			rest = append(rest, f.Name+"="+l)
		}
	}
	slices.Sort(rest)
	return strings.TrimSpace(name + " " + strings.Join(rest, " "))
}
