package text

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// postedSources tells which files and runs posted figures come from.
func postedSources(r *compare.Report) []Item {
	title := r.Experiment + ": what other programs printed"
	if r.Question != "" {
		title = r.Experiment + ": " + r.Question
	}
	all := items(title)
	names := map[string]string{}
	if r.Variants == len(r.Factors[0].Levels) && len(r.Factors) == 1 {
		for i, level := range r.Factors[0].Levels {
			names[string(rune('a'+i))] = level
		}
	}
	of := map[string]int{}
	for _, s := range r.Sources {
		of[s.Side]++
	}
	said := map[string]int{}
	for _, s := range r.Sources {
		who := names[s.Side]
		if len(of) == 1 {
			who = "" // one file has all variants
		}
		if said[s.Side]++; said[s.Side] > maxSources {
			if said[s.Side] == of[s.Side] {
				all = append(all, hanging(fmt.Sprintf("%s: and %s more", who, unit.Count(of[s.Side]-maxSources, "file"))))
			}
			continue
		}
		text := "run " + s.ID
		if s.File != "" {
			text = s.File
		}
		if who != "" {
			text = who + ": " + text
		}
		if s.Label != "" && s.Label != who {
			text += ", label " + s.Label
		}
		all = append(all, hanging(text+", "+unit.Count(s.Trials, "test")))
	}
	return all
}

// postedDiffers is what was said of the tests beside their figures, and differs.
func postedDiffers(r *compare.Report) []result.Fact {
	var all []result.Fact
	for _, c := range r.EnvironmentDiff {
		all = append(all, result.Fact{Name: c.Name, Value: known(c.Old) + " -> " + known(c.New)})
	}
	return all
}

// postedNote says what the table's figures are; several is what it says of several
// runs each.
func postedNote(rows []compare.Comparison, several string) string {
	text := several
	if !slices.ContainsFunc(rows, func(c compare.Comparison) bool { return c.NA > 1 || c.NB > 1 }) {
		text = "Each figure is of one run, as it was printed; the change is from the one to the other."
	}
	if slices.ContainsFunc(rows, func(c compare.Comparison) bool { return strings.HasPrefix(c.Metric, "half_rtt") }) {
		text += " half_rtt is half of a round trip, which the program calls latency."
	}
	return text
}

// claimsTitle stands above what was said of posted figures.
const claimsTitle = "What was said, and what the figures bear"

// claims is what was said of the figures, against what they bear.
func claims(r *compare.Report) []Item {
	var all []Item
	for i := range r.Checks {
		all = append(all, indented(claimText(&r.Checks[i])))
	}
	return all
}

// claimText is one claim, and what came of recomputing it.
func claimText(c *compare.Check) string {
	text := fmt.Sprintf("says %q; ", c.Name)
	if c.Found == nil {
		return text + c.Text
	}
	verdict := "borne"
	if !c.Pass {
		verdict = "not borne"
	}
	return text + fmt.Sprintf("bears %s: %s", claimAmount(*c.Found, c.Unit), verdict)
}

// claimAmount is a ratio or a change.
func claimAmount(v float64, u unit.Unit) string {
	if u != unit.Share {
		return "x" + unit.FormatIn(v, 1)
	}
	text := unit.FormatIn(100*v, 1) + "%"
	if v > 0 {
		return "+" + text
	}
	return text
}

// postedChecked says in sentences which claims are not borne.
func postedChecked(r *compare.Report) []string {
	var sentences []string
	for i := range r.Checks {
		if c := &r.Checks[i]; c.Failed() {
			sentences = append(sentences, "The post "+claimText(c)+".")
		}
	}
	return sentences
}
