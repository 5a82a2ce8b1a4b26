package stages

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Kind is what is drawn alike of stages: both legs', and those that are much the same.
type Kind struct {
	// Place is the kind's among all, from 0.
	Place  int
	Letter string // in bars of characters
	Name   string
	first  []string // names of stages, or first words of those of several
}

// kinds is the table, in the order of the way.
var kinds = []Kind{
	{0, "s", "sending", []string{"call", "send", "qdisc"}},
	{1, "=", "wire", []string{"wire", "far host"}},
	{2, "d", "handler due", []string{"handler due"}},
	{3, "h", "handler and stack", []string{"handler", "stack", "signal", "answer in kernel"}},
	{4, "W", "wake-up", []string{"wake-up"}},
	{5, "r", "receive and return", []string{"receive", "return"}},
	{6, "R", "from stack to return", nil},
	{7, "t", "turn-around", []string{"turn-around"}},
	{8, "?", "not attributed", []string{"not attributed"}},
}

// toReturn is the kind of what has more than the stack in it.
const toReturn = 6

// KindOf is a stage's.
func KindOf(s *Stage) Kind {
	for _, k := range kinds {
		if slices.Contains(k.first, s.Name) {
			return k
		}
	}
	if strings.HasSuffix(s.Name, "return") || strings.HasSuffix(s.Name, "receive") {
		return kinds[toReturn]
	}
	word, _, _ := strings.Cut(s.Name, " ")
	for _, k := range kinds {
		if slices.Contains(k.first, word) {
			return k
		}
	}
	return kinds[len(kinds)-1]
}

// Step is one step of the way from one variant's round trip to another's, in ns.
type Step struct {
	Name     string
	From, To float64
	Whole    bool
}

// mostSteps is how many stages have a step by name; the others are one.
const mostSteps = 8

// Steps are those of the ith change: the stages that changed most in the order of the
// way, all others as one, and the whole. They add up to it. None where nothing is known.
func (t *Table) Steps(i int) []Step {
	c := &t.Changes[i]
	if c.Total.Est == nil {
		return nil
	}
	whole := 0.0
	order := make([]int, len(c.MeansNS))
	for k, ns := range c.MeansNS {
		order[k] = k
		whole += ns
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(c.MeansNS[b]), math.Abs(c.MeansNS[a])) })
	named := slices.DeleteFunc(slices.Clone(order[:min(mostSteps, len(order))]), func(k int) bool { return math.Abs(c.MeansNS[k]) < math.Abs(whole)/100 })
	slices.Sort(named)
	var steps []Step
	at := 0.0
	for _, k := range named {
		steps = append(steps, Step{Name: t.Stages[k].Label(), From: at, To: at + c.MeansNS[k]})
		at += c.MeansNS[k]
	}
	if math.Abs(whole-at) > 0.5 {
		steps = append(steps, Step{Name: "all others", From: at, To: whole})
	}
	return append(steps, Step{Name: "whole", To: whole, Whole: true})
}
