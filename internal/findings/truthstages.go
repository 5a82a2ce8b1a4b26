package findings

import (
	"fmt"
	"slices"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/stages"
	"netdelta/internal/unit"
)

// Names of stages that truth looks at, as package stages has them.
const (
	stageWire = "wire"
	stageWake = "wake-up"
)

// stageWithin is how far a delay may be from what it adds to the wire's stage, in ns.
const stageWithin = 2000

// keptShare is the least of a change that is to be found where a busy CPU puts it, in
// percent.
const keptShare = 80

// changes are those of each test that was watched, from the level in which nothing is put
// in to this one.
func (p *put) changes() (tables []*stages.Table, changes []*stages.Change) {
	for i := range p.in.Report.Stages {
		t := &p.in.Report.Stages[i]
		k := slices.IndexFunc(t.Changes, func(c stages.Change) bool { return c.Baseline == p.none && c.Variant == p.level })
		if k >= 0 {
			tables, changes = append(tables, t), append(changes, &t.Changes[k])
		}
	}
	return tables, changes
}

// staged holds a delay against what the stage of the wire has more, in each direction.
func (p *put) staged() (checks []compare.Check) {
	if p.what != "delay" {
		return nil
	}
	delay, err := time.ParseDuration(p.value)
	if err != nil {
		return nil // the other check says so
	}
	tables, changes := p.changes()
	for i, t := range tables {
		for k := range t.Stages {
			if t.Stages[k].Name != stageWire {
				continue
			}
			way := "request"
			if t.Stages[k].Leg == result.LegAnswer {
				way = "answer"
			}
			checks = append(checks, shiftCheck(fmt.Sprintf("delay %s in the wire's stage, %s of %s", p.value, way, t.TestOf()),
				&changes[i].Parts[k], float64(delay), stageWithin))
		}
	}
	return checks
}

func shiftCheck(name string, s *stages.Shift, wanted, within float64) compare.Check {
	c := compare.Check{Name: name, Wanted: wanted, Found: s.Est, Lo: s.Lo, Hi: s.Hi, Unit: unit.Nanoseconds, Within: within}
	if s.Est == nil {
		c.Text = "no block has both"
		return c
	}
	off := func(v float64) bool { return v < wanted-within || v > wanted+within }
	c.Pass = !off(*s.Est)
	c.Unsure = !c.Pass && s.Lo != nil && *s.Lo <= wanted+within && *s.Hi >= wanted-within
	return c
}

// kept looks for what a busy CPU adds in the wake-up of the thread that is bound to it.
func (p *put) kept() (checks []compare.Check) {
	tables, changes := p.changes()
	for i, t := range tables {
		c := changes[i]
		for k := range t.Stages {
			if t.Stages[k].Name != stageWake || t.Stages[k].End != result.Remote || c.Shares[k] == nil || *c.Total.Est <= 0 {
				continue
			}
			found := *c.Shares[k] / 100
			checks = append(checks, compare.Check{
				Name: fmt.Sprintf("busy CPU at the remote end: share of %s in its thread's wake-up", t.TestOf()), Wanted: 1, Found: &found, Unit: unit.Share,
				Within: 1 - keptShare/100.0, Pass: found >= keptShare/100.0 && found <= 2-keptShare/100.0,
				Text: fmt.Sprintf("%s more in all, %s of it there", unit.Format(*c.Total.Est, unit.Nanoseconds), unit.Format(c.MeansNS[k], unit.Nanoseconds)),
			})
		}
	}
	return checks
}
