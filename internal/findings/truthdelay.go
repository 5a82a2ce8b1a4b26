package findings

import (
	"fmt"
	"math"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// Delays are to be found within delayWithin ns, or that share of them if it is more.
const (
	delayWithin = 2000
	delayShare  = 0.1
)

// delayed holds half of what round trips grew by against the delay of each way.
func (p *put) delayed() []compare.Check {
	wanted, err := time.ParseDuration(p.value)
	if err != nil {
		return p.unread(err)
	}
	var all []compare.Check
	// What several requests wait for one another is not the wire's delay.
	tests := p.in.testsOf(func(t spec.Test) bool { return udpRR(t) && lone(t) })
	for _, test := range tests {
		c := compare.Check{Name: "delay " + p.value + " each way" + namedAmong(test, tests),
			Wanted: float64(wanted), Within: math.Max(delayWithin, delayShare*float64(wanted)), Unit: unit.Nanoseconds}
		trials := p.made(test)
		found(&c, p.grown(test, 0.5))
		if p.none == "" {
			c.Text = "no trials without a delay to hold against it"
		}
		c.Text = joinTexts(c.Text, held(trials))
		if !c.Pass {
			c.Text = joinTexts(c.Text, trouble(trials))
		}
		all = append(all, c)
	}
	return all
}

// grown is a part of what the median round trip grew by since nothing was put in,
// over blocks, in ns.
func (p *put) grown(test spec.Test, part float64) stats.Interval {
	var delayed, without [][]float64
	for _, v := range p.variants {
		delayed = append(delayed, p.in.figures(test, v, local(result.RTTP50)))
		without = append(without, p.in.figures(test, with(v, putIn, p.none), local(result.RTTP50)))
	}
	i := p.in.difference(mean(without...), mean(delayed...))
	return stats.Interval{Est: part * i.Est, Lo: part * i.Lo, Hi: part * i.Hi, Level: i.Level}
}

// found fills in what was found and whether that passes.
func found(c *compare.Check, i stats.Interval) {
	if math.IsNaN(i.Est) || math.IsInf(i.Est, 0) {
		c.Text = "no figure to hold against it"
		return
	}
	c.Found = &i.Est
	if i.Level > 0 {
		c.Lo, c.Hi = &i.Lo, &i.Hi
	}
	c.Pass = math.Abs(i.Est-c.Wanted) <= c.Within
	c.Unsure = !c.Pass && c.Lo != nil && i.Lo <= c.Wanted+c.Within && i.Hi >= c.Wanted-c.Within
}

// held says how long the wire itself held frames, and how late it let go of them.
func held(trials []*result.Trial) string {
	var w wireCounts
	w.add(trials)
	if w.heldFrames == 0 {
		return ""
	}
	text := fmt.Sprintf("the wire held frames for %s on average", unit.Format(w.mean(), unit.Nanoseconds))
	if late := w.late(0.99); late != "" {
		text += ", and wrote 99% of them " + late + " late"
	}
	return text
}
