package compare

import (
	"math"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/stats"
)

// unpaired is a comparison between separate runs in the making, with both
// sides' figures on the scale of its link: NaN where a trial has none.
type unpaired struct {
	Comparison
	a, b []float64
	// boots says that they are figures of boots, and not of trials.
	boots bool
	// hopeless says that more trials would not help.
	hopeless bool
}

// newUnpaired makes everything of a comparison but the family's p and the
// verdict. by is nil where trials are compared.
func newUnpaired(m *match, d result.Definition, names [2]string, share float64, known *common, by *byBoot) *unpaired {
	r := &unpaired{boots: by != nil, Comparison: Comparison{
		Test: m.test.Name, Params: m.test.Params, Under: m.under, Factor: wholeRun, Baseline: names[0], Variant: names[1],
		Metric: d.Name, End: d.End, Unit: d.Unit, Better: d.Better, Scale: d.Scale,
	}}
	old, new := m.trials(0), m.trials(1)
	both := slices.Concat(old, new)
	r.Warnings = known.warningsAbout(d.Taken(), both)
	r.Held = heldIn(d.Taken(), old, new)
	scale, hopeless := r.scaleOf(both)

	a, b := figuresOf(old, d.Taken()), figuresOf(new, d.Taken())
	if r.boots {
		a, b = by.figures(m, 0, d.Taken(), scale), by.figures(m, 1, d.Taken(), scale)
	}
	r.A, r.B = summarize(slices.Clone(a)), summarize(slices.Clone(b))
	r.NA, r.NB = present(a), present(b)
	r.N = min(r.NA, r.NB)
	r.Margin = margin(share, m.timing.window, d, value(r.A.Median))
	r.hopeless = hopeless || r.N == 0
	if r.hopeless {
		return r
	}
	r.a, r.b = linked(a, scale), linked(b, scale)
	if r.boots {
		r.setShift(stats.WelchShift(r.a, r.b, confidence))
		_, _, p := stats.Welch(r.a, r.b)
		r.P = number(p)
		return r
	}
	r.setShift(stats.Shift(r.a, r.b, confidence))
	_, p := stats.MannWhitney(r.a, r.b)
	r.P = number(p)
	r.setSpread(m, scale)
	return r
}

func figuresOf(trials []*cell, metric result.Taken) []float64 {
	all := make([]float64, len(trials))
	for i, x := range trials {
		all[i] = x.figure(metric)
	}
	return all
}

// linked is figures on the link's scale, those that are missing left out.
func linked(figures []float64, l link) []float64 {
	var all []float64
	for _, v := range figures {
		if !math.IsNaN(v) {
			all = append(all, l.to(v))
		}
	}
	return all
}

func present(figures []float64) int {
	n := 0
	for _, v := range figures {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

// judge gives the row its verdict.
//
//  1. So few trials that not even U at its extreme reaches 5%, or fewer boots
//     with a figure than count: unsure.
//  2. As decide says.
//  3. Else unsure, with the trials or boots on each side that would be needed.
//
// rows is the size of the family.
func (r *unpaired) judge(rows int) {
	r.Verdict = Unsure
	switch {
	case r.hopeless:
	case r.boots && r.N < MinBoots:
		r.BootsNeeded = MinBoots
	case r.boots:
		if !r.decide() {
			r.BootsNeeded = max(r.N+1, stats.NeededEach(r.a, r.b, r.linkedMargin(), rows))
		}
	case r.Confidence < confidence:
		r.TrialsNeeded = FewestTrials(rows)
	case !r.decide():
		est, _, _ := r.Shift()
		if r.Scale == Percent {
			est = math.Log1p(est / 100)
		}
		r.TrialsNeeded = max(r.N+1, trialsNeeded(r.a, r.b, est, r.linkedMargin(), rows))
	}
}

// Needed is an estimate of the blocks, or the trials or boots on each side, that
// would settle an unsure row; 0 where none is given.
func (c *Comparison) Needed() int { return max(c.BlocksNeeded, c.TrialsNeeded, c.BootsNeeded) }
