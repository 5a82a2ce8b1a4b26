package compare

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/stats"
)

// together is what there is to say of two changes that are made both, by the
// figures that stand for the tests; nothing where no figure is there or where
// there are too few blocks for any verdict.
//
// Only an interval within the margin says that they act independently. What is
// not sure is said to be so, with the blocks that would settle it.
func (r *Report) together(l Level) []string {
	var parts, independent, open []string
	for _, s := range r.sayings(l.Rows) {
		if !s.known || s.rows[0].N < r.Fewest() && s.verdict == Unsure {
			continue
		}
		for _, name := range s.names() {
			switch s.verdict {
			case Same:
				independent = append(independent, name)
			case Unsure:
				open = append(open, name+s.unsettled())
			default:
				parts = append(parts, name+s.beyond())
			}
		}
	}
	if len(parts)+len(independent)+len(open) == 0 {
		return nil
	}
	if others := r.oneWith(l.Factor); others != "" {
		// Which of them it is that acts, or whether two cancel out, is not known.
		if len(independent) > 0 {
			parts = append(parts, fmt.Sprintf("nothing, within %g%%, on %s", r.MarginPct, list(independent)))
		}
		if len(open) > 0 {
			parts = append(parts, "unsure on "+list(open))
		}
		return []string{fmt.Sprintf("%s %s, together with %s, which can't be told from it: %s.", l.Factor, l.Variant, others, strings.Join(parts, "; "))}
	}
	if len(independent) > 0 {
		parts = append(parts, fmt.Sprintf("they act independently, within %g%%, on %s", r.MarginPct, list(independent)))
	}
	if len(open) > 0 {
		parts = append(parts, "unsure whether they do on "+list(open))
		if len(independent) == 0 {
			parts[len(parts)-1] = "unsure whether they act independently on " + list(open)
		}
	}
	sentences := []string{fmt.Sprintf("%s %s, both changes together: %s.", l.Factor, l.Variant, strings.Join(parts, "; "))}
	return append(sentences, r.apart(l)...)
}

// oneWith are the effects that the variants that were run can't tell from one.
func (r *Report) oneWith(effect string) string {
	for _, group := range r.Aliases {
		if len(group) > 1 && group[0] == effect {
			return list(group[1:])
		}
	}
	return ""
}

// names are the rows of a saying, one by one if they are few.
func (s *saying) names() []string {
	if s.unders != nil && s.oneTest() {
		return []string{s.rows[0].short() + " " + shortMetric(s.metric) + " at " + s.conditions()}
	}
	if len(s.rows) > fewRows {
		return []string{fmt.Sprintf("%s %s %s", s.test, shortMetric(s.metric), s.where())}
	}
	var all []string
	for i := range s.rows {
		all = append(all, s.rows[i].Name()+" "+shortMetric(s.metric))
	}
	return all
}

// beyond is by how much both changes together differ from what each does alone.
func (s *saying) beyond() string {
	what := s.rows[0].change()
	if len(s.rows) > 1 {
		what = estimates(s.rows)
	}
	return fmt.Sprintf(" %s beyond what each does alone, %s", what, s.verdict)
}

// unsettled is how little is known, and what would help.
func (s *saying) unsettled() string {
	if len(s.rows) > 1 {
		return ""
	}
	c := &s.rows[0]
	text := " (" + c.change()
	if n := c.Needed(); n > 0 && n < stats.MaxNeeded {
		text += fmt.Sprintf("; about %d blocks would settle it", n)
	}
	return text + ")"
}

// apart tells what each of two changes does at either level of the other, of the
// figures on which they surely do not act independently. Of many such figures
// the tables have it.
func (r *Report) apart(l Level) []string {
	var sentences []string
	told := 0
	for i := range l.Rows {
		e := &l.Rows[i]
		if e.Rank() != result.Headline || e.Held != nil || e.Verdict != Better && e.Verdict != Worse {
			continue
		}
		if told++; told > fewRows {
			break
		}
		var parts []string
		for _, group := range r.simpleOf(e) {
			c := &group[0]
			text := fmt.Sprintf("%s %s is %s with %s", c.Factor, c.Variant, c.change(), c.beside(e.Under))
			for _, o := range group[1:] {
				text += fmt.Sprintf(" and %s with %s", o.change(), o.beside(e.Under))
			}
			parts = append(parts, text)
		}
		if len(parts) > 0 {
			sentences = append(sentences, fmt.Sprintf("On %s %s, %s.", e.Name(), shortMetric(e.Metric), strings.Join(parts, "; ")))
		}
	}
	return sentences
}

// simpleOf are the simple effects of an interaction's two changes, a group each.
func (r *Report) simpleOf(e *Comparison) [][]Comparison {
	f, fl, g, gl, ok := r.pairOf(e)
	if !ok {
		return nil
	}
	var all [][]Comparison
	for _, c := range [][4]string{{f, fl, g, gl}, {g, gl, f, fl}} {
		var group []Comparison
		for _, s := range r.Simple {
			other := s.beside(e.Under)
			at := s.Under == underBoth(e.Under, other) && (other == c[2]+"="+c[3] || other == c[2]+"="+r.baselineOf(c[2]))
			if s.Of() == e.Of() && s.Metric == e.Metric && s.End == e.End && s.Factor == c[0] && s.Variant == c[1] && at {
				group = append(group, s)
			}
		}
		if len(group) > 0 {
			all = append(all, group)
		}
	}
	return all
}

// beside is what a simple effect is under beside the conditions.
func (c *Comparison) beside(condition string) string {
	return strings.TrimSpace(strings.TrimPrefix(c.Under, condition))
}

// baselineOf is the level of a factor that its others are compared with.
func (r *Report) baselineOf(factor string) string {
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Factor == factor {
			return c.Baseline
		}
	}
	return ""
}

// pairOf are the two factors and levels of an interaction's row.
func (r *Report) pairOf(e *Comparison) (f, fl, g, gl string, ok bool) {
	for i, a := range r.Factors {
		for _, b := range r.Factors[i+1:] {
			if a.Name+":"+b.Name != e.Factor {
				continue
			}
			for _, al := range a.Levels {
				for _, bl := range b.Levels {
					if al+":"+bl == e.Variant {
						return a.Name, al, b.Name, bl, true
					}
				}
			}
		}
	}
	return "", "", "", "", false
}

// dependsOn are the factors on whose level a main effect surely depends.
func (r *Report) dependsOn(c *Comparison) []string {
	var all []string
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Of() != c.Of() || e.Under != c.Under || e.Metric != c.Metric || e.End != c.End || e.Verdict != Better && e.Verdict != Worse || r.oneWith(e.Factor) != "" {
			continue
		}
		f, fl, g, gl, ok := r.pairOf(e)
		other := ""
		switch {
		case !ok:
		case f == c.Factor && fl == c.Variant:
			other = g
		case g == c.Factor && gl == c.Variant:
			other = f
		}
		if other != "" && !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	return all
}
