package compare

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/spec"
)

// Aliases worked out from the signs of the chosen variants are those of the report,
// which come from least squares: of every regular fraction there is of up
// to seven factors.
func TestAliasesAreThoseOfTheSigns(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	n := 0
	for k := 3; k <= len(names); k++ {
		for share := 2; share <= 16; share *= 2 {
			plan := onOff(names[:k]...)
			var err error
			if plan.Chosen, err = spec.FractionOf(plan.Factors, plan.Baseline, fmt.Sprintf("1/%d", share)); err != nil {
				continue // too small for so many factors
			}
			n++
			aliases, _ := Bears(plan)
			// Which comes first in a group differs: the report has the factors' order.
			if d := cmp.Diff(inSomeOrder(aliasesBySigns(plan, 2)), inSomeOrder(aliases)); d != "" {
				t.Errorf("1/%d of %d factors:\n%s", share, k, d)
			}
		}
	}
	if n < 8 {
		t.Errorf("only %d fractions were compared", n)
	}
}

func inSomeOrder(groups [][]string) [][]string {
	for _, g := range groups {
		slices.Sort(g)
	}
	slices.SortFunc(groups, slices.Compare)
	return groups
}

// Of what is no regular fraction the report knows more than equal signs show.
func TestBearsOfIrregularChoices(t *testing.T) {
	plan := onOff("a", "b", "c")
	if aliases, warnings := Bears(plan); aliases != nil || warnings != nil {
		t.Errorf("a full crossing: %v, %v", aliases, warnings)
	}
	plan.Chosen = []spec.Variant{{"a": "off", "b": "off", "c": "off"}, {"a": "on", "b": "off", "c": "off"},
		{"a": "off", "b": "on", "c": "off"}, {"a": "off", "b": "off", "c": "on"}}
	if _, warnings := Bears(plan); codesOf(warnings) != "no-interactions not-estimable" {
		t.Errorf("each change alone: %v", warnings)
	}
}
