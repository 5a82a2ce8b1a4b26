package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// postedRows is what a pair of variants gives.
type postedRows struct {
	rows     []*unpaired
	lonely   []result.Warning // what only one of the two has
	hazards  []result.Warning // of whole tests
	changes  []FactChange
	findings []string
}

// compare makes the rows of a pair.
func (p *posted) compare(pair postedPair) postedRows {
	var of postedRows
	sides := [2]*party{p.parties[pair.a], p.parties[pair.b]}
	names := [2]string{pair.baseline, pair.variant}
	all := matches(sides)
	nameMatches(all)
	if len(p.factors) > 1 {
		for _, m := range all {
			m.under = strings.TrimSpace(m.under + " " + pair.under)
		}
	}
	of.lonely = append(methodsDiffer(sides[0], sides[1]), unmatched(all, names)...)
	var both []*match
	for _, m := range all {
		if m.both() {
			both = append(both, m)
		}
	}
	// What all trials say stands once in the report.
	known := commonTo(reportedOf(both, [2]string{sides[0].name, sides[1].name}), ofSides)
	of.hazards = append(of.hazards, known.warnings...)
	for _, m := range both {
		rows, warnings := p.rowsOf(m, pair, names, &known)
		of.rows, of.hazards = append(of.rows, rows...), append(of.hazards, warnings...)
		of.hazards = append(of.hazards, udpAtSender(m, names)...)
		of.findings = append(of.findings, windowBound(m, both, names)...)
	}
	of.hazards = append(of.hazards, oneEndCPU(both)...)
	of.changes = p.factChanges(both, pair)
	return of
}

// rowsOf are the rows of one test, and what of it can't be compared.
func (p *posted) rowsOf(m *match, pair postedPair, names [2]string, known *common) ([]*unpaired, []result.Warning) {
	var rows []*unpaired
	defined := importedOf(append(m.trials(0), m.trials(1)...))
	slices.SortStableFunc(defined, func(a, b result.Definition) int { return cmp.Compare(rankPlace(a), rankPlace(b)) })
	drop, warnings := unlike(m, defined, names)
	for _, d := range defined {
		if drop[d.Taken()] {
			continue
		}
		r := newUnpaired(m, d, names, p.opts.Margin, known, nil)
		r.Factor, r.Spread = pair.factor, runSpread(r.Spread)
		for side, name := range names {
			if present(figuresOf(m.trials(side), d.Taken())) == 0 {
				r.Warnings = append(r.Warnings, result.Warning{Code: "no-data", Metric: d.Name, End: d.End,
					Text: fmt.Sprintf("%s has no such figure, which is not zero", name)})
			}
		}
		if r.NA <= 1 && r.NB <= 1 {
			r.P, r.A.Lo, r.A.Hi, r.B.Lo, r.B.Hi = nil, nil, nil, nil, nil
		}
		r.setSingle(m)
		r.Warnings = append(r.Warnings, r.lineRate()...)
		r.Warnings = append(r.Warnings, r.withinSpread(m)...)
		rows = append(rows, r)
	}
	tailOnly(rows)
	return rows, warnings
}

// runSpread leaves out a spread that rests on one trial a run: there is nothing
// within a run to hold it against.
func runSpread(s *Spread) *Spread {
	if s == nil || s.WithinA == nil && s.WithinB == nil {
		return nil
	}
	return s
}

// rankPlace is where a metric stands by how far forward it belongs; those of one
// rank keep their order.
func rankPlace(d result.Definition) int {
	if d.Rank == result.Headline {
		return 0
	}
	return 1
}

// unlike are the figures that only one side has and of which the other has another
// kind: half of a round trip and the whole, what was sent and what came, or one in
// another unit. They are not compared.
func unlike(m *match, defined []result.Definition, names [2]string) (drop map[result.Taken]bool, warnings []result.Warning) {
	drop = map[result.Taken]bool{}
	has := func(side int, t result.Taken) bool { return present(figuresOf(m.trials(side), t)) > 0 }
	say := func(format string, args ...any) {
		warnings = append(warnings, result.Warning{Code: "units-differ", Text: m.describe(m.under) + ": " + fmt.Sprintf(format, args...) + ": not compared"})
	}
	for _, d := range defined {
		if a, b, differ := unitsOf(m, d.Taken()); differ {
			drop[d.Taken()] = true
			say("%s is in %s and in %s", d.Name, a, b)
		}
	}
	for _, a := range defined {
		if !has(0, a.Taken()) || has(1, a.Taken()) {
			continue
		}
		for _, b := range defined {
			if has(1, b.Taken()) && !has(0, b.Taken()) && quantity(a.Name) == quantity(b.Name) {
				drop[a.Taken()], drop[b.Taken()] = true, true
				say("%s has %s and %s has %s", names[0], kindText(a), names[1], kindText(b))
			}
		}
	}
	return drop, warnings
}

// kindText names a figure with its end, if that is known.
func kindText(d result.Definition) string {
	if d.End == "" {
		return d.Name
	}
	return d.Name + " of the " + d.End + " end"
}

// quantity is what figures are of, whatever part of it they are and wherever they
// were taken.
func quantity(metric string) string {
	switch metric {
	case result.Goodput, result.Throughput, result.Offered:
		return result.Throughput
	}
	return strings.TrimPrefix(metric, "half_")
}

// unitsOf are two units that trials have one figure in.
func unitsOf(m *match, t result.Taken) (a, b string, differ bool) {
	for _, c := range append(m.trials(0), m.trials(1)...) {
		f := c.posted.Figure(t)
		switch {
		case f == nil:
		case a == "":
			a = string(f.Unit)
		case string(f.Unit) != a:
			return a, string(f.Unit), true
		}
	}
	return "", "", false
}

// methodsDiffer says that two sides were measured by different programs, and what of
// them is therefore not compared.
func methodsDiffer(a, b *party) []result.Warning {
	tools := [2][]string{toolsOf(a), toolsOf(b)}
	only := [2][]string{}
	for side, names := range tools {
		for _, name := range names {
			if !slices.Contains(tools[1-side], name) {
				only[side] = append(only[side], name)
			}
		}
	}
	if len(only[0]) == 0 || len(only[1]) == 0 {
		return nil
	}
	return []result.Warning{{Code: "methods-differ",
		Text: fmt.Sprintf("%s has figures of %s, and %s of %s: different programs measure by different methods, so these are not compared",
			a.name, list(only[0]), b.name, list(only[1])),
		Advice: "measure both sides with the same program"}}
}

// toolsOf are the programs that measured a side, in alphabetical order.
func toolsOf(p *party) []string {
	var all []string
	for _, k := range p.kept {
		for _, t := range k.trials {
			name := "netdelta"
			if t.Imported != nil {
				name = t.Imported.Tool
			}
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return all
}

// firstOf is where each name of a test first stood: of the baseline's trials, and
// then of the others'.
func firstOf(all []*match) map[string]int {
	first := map[string]int{}
	const apart = 1 << 32
	for _, m := range all {
		at := math.MaxInt
		for side := range m.cells {
			for _, c := range m.trials(side) {
				if c.posted != nil {
					at = min(at, side*apart+c.order)
				}
			}
		}
		if at == math.MaxInt {
			continue // ours have a place of their own
		}
		name := baseOf(m.test)
		if old, ok := first[name]; !ok || at < old {
			first[name] = at
		}
	}
	return first
}

// baseOf is a test's name without its parameters.
func baseOf(t spec.Test) string {
	words := strings.Fields(t.Name)
	i := slices.IndexFunc(words, func(w string) bool { return strings.ContainsRune(w, '=') })
	if i < 0 {
		return t.Name
	}
	return strings.Join(words[:i], " ")
}
