package compare

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// unpairedWarning stands in every report on separate runs.
func unpairedWarning(a, b *party) result.Warning {
	return result.Warning{Code: "unpaired",
		Text: fmt.Sprintf("%s and %s are separate runs, so drift of the machines between them and what differs from boot to boot are inside every change",
			a.name, b.name),
		Advice: "alternate the variants in one run (netdelta ab, netdelta lab)"}
}

// warnOfRuns passes on what the runs themselves say, and says which did not
// end as they should have.
func (r *Report) warnOfRuns(sides ...*party) {
	for _, p := range sides {
		for _, k := range p.kept {
			who := p.name
			if len(p.kept) > 1 || who != k.ID {
				who += " (run " + k.ID + ")"
			}
			if why := unfinished[k.State]; why != "" {
				r.Partial = true
				r.warn(result.Warning{Code: "partial", Text: fmt.Sprintf("%s %s, with %s", who, why, unit.Count(len(k.trials), "trial"))})
			}
			if slices.ContainsFunc(k.trials, func(x *result.Trial) bool { return !timingOf(k, x).planned }) {
				r.warn(result.Warning{Code: "timing-unknown",
					Text: fmt.Sprintf("no plan is kept with %s, so its warm-up is not known and its window only as measured", who)})
			}
			for _, w := range k.Warnings {
				w.Text = who + ": " + w.Text
				r.warn(w)
			}
		}
	}
}

// unfinished says of each state but complete what it means for the figures.
var unfinished = map[result.State]string{
	result.Running: "is still being measured",
	result.Partial: "ended early",
	result.Failed:  "failed",
}

// warnOfTrials says what so few trials in a family of so many rows can't tell,
// whatever the figures are.
func (r *Report) warnOfTrials() {
	members := r.Families.Main
	if r.Pairing == ByBoot {
		return // no number of boots is too small for Welch's t to reach 5%
	}
	most, same := 0, false
	for _, c := range r.Comparisons {
		if c.Rank() == result.Detail {
			continue
		}
		if c.P != nil && canTell(c.NA, c.NB, members) {
			return
		}
		most = max(most, c.N)
		same = same || c.Confidence >= confidence
	}
	if members == 0 {
		return
	}
	need := FewestTrials(members)
	can := "can tell at most what is the same"
	if !same {
		can = "can give no verdict"
	}
	r.warn(result.Warning{Code: "few-trials",
		Text: fmt.Sprintf("%s a side %s: with %s in one report, better or worse needs %d a side",
			unit.Count(most, "trial"), can, unit.Count(members, "figure"), need),
		Advice: fmt.Sprintf("run with --trials %d or more on both sides, or compare fewer tests", need)})
}

// texts joins warnings into one line.
func texts(warnings []result.Warning) string {
	var all []string
	for _, w := range warnings {
		all = append(all, w.Text)
	}
	return strings.Join(all, "; ")
}
