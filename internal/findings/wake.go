package findings

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// wakers is the table of receive-handler contexts in which a thread has to be woken
// for each frame that comes: at both ends, so twice in a round trip. In all others
// the frame is handled by whoever brings it, in its call or in softirq there.
var wakers = []struct{ context, what string }{
	{"kthread", "the kernel's NAPI thread"},
	{"napi-threaded", "the kernel's NAPI thread"},
	{"uthread", "the wire's second thread"},
}

// wokenIn is the thread that a level has woken for each frame; empty for none.
func (in *Input) wokenIn(factor, level string) string {
	context := spec.BaseLevel(level)
	if f := in.factor(factor); f != nil {
		for _, s := range f.Settings[level] {
			if s.Knob == "context" {
				context = s.Value
			}
		}
	}
	i := slices.IndexFunc(wakers, func(w struct{ context, what string }) bool { return w.context == context })
	if i < 0 {
		return ""
	}
	return wakers[i].what
}

// Wake tells what a thread's wake-up costs on this machine, by the wake tests beside
// the plan, and its share of what the receive handler's context changed.
func Wake(in *Input) {
	if !in.usable() {
		return
	}
	all := in.beside(result.RTTP50)
	cost := wakeCost(all)
	if len(all) > 0 {
		in.Report.Sections = append(in.Report.Sections, wakeSection(all, in.beside(result.RTTP99)))
	}
	test, ok := in.shortTest()
	if !ok {
		return
	}
	for _, p := range in.pairs() {
		before, after := in.wokenIn(p.factor, p.baseline), in.wokenIn(p.factor, p.level)
		if (before == "") == (after == "") {
			continue // neither adds a wake-up, or both do
		}
		without, with, more, thread := p.a, p.b, "more", after
		if after == "" {
			without, with, more, thread = p.b, p.a, "less", before
		}
		d := in.difference(in.averaged(test, without, rttP50), in.averaged(test, with, rttP50))
		if !finite(d.Est) {
			continue
		}
		in.found(fmt.Sprintf("%s: two wake-ups of a thread %s in a round trip (%s at either end)%s",
			in.title(p), more, thread, wakeShare(test, more, d, in.settled(d), cost)))
	}
}

// woken is what two wake-ups of a thread cost, in ns, by a test beside.
type woken struct {
	by, where string
	stats.Interval
}

// wakeCost are the tests that resemble a handler's thread most: a kernel thread is
// woken by the scheduler's call that a futex ends in, too, and in a round trip its CPU
// has nothing else to do. Whether it is on the CPU that wakes it is the scheduler's
// choice, so both places are there, if they were measured.
func wakeCost(all []compare.Beside) []woken {
	busy, kept := "", "" // awake where all CPUs are kept so, and none was idle
	if !slices.ContainsFunc(all, func(b compare.Beside) bool { return b.Params.Busy == "" }) {
		busy, kept = spec.WakeAwake, " kept awake"
	}
	for _, by := range []string{"futex", "eventfd", "cond", "pipe"} {
		var costs []woken
		for _, b := range all {
			if b.Test == "wake" && b.Params.By == by && b.Params.Busy == busy && b.Params.FIFO == 0 && b.Median != nil {
				costs = append(costs, woken{by, wakePlace(b.Params.At) + kept, intervalOf(&b)})
			}
		}
		if placed := slices.DeleteFunc(slices.Clone(costs), func(w woken) bool { return w.where == wakePlace("")+kept }); len(placed) > 0 {
			costs = placed
		}
		if len(costs) > 0 {
			slices.SortStableFunc(costs, func(x, y woken) int {
				if x.Est < y.Est {
					return -1
				}
				return 1
			})
			return costs
		}
	}
	return nil
}

// intervalOf is a figure of a test beside with its interval.
func intervalOf(b *compare.Beside) stats.Interval {
	i := stats.Interval{Est: deref(b.Median), Lo: deref(b.Lo), Hi: deref(b.Hi)}
	if !finite(i.Lo) || !finite(i.Hi) {
		i.Lo, i.Hi = i.Est, i.Est
	}
	return i
}

func wakePlace(at string) string {
	switch at {
	case spec.WakeSame:
		return "the same CPU"
	case spec.WakeOther:
		return "another CPU"
	}
	return "the end's CPUs"
}

// wakeShare tells how much of a difference two wake-ups can be. d is what round trips
// with them take longer than those without; settled says that blocks were enough for
// its interval.
func wakeShare(test spec.Test, more string, d stats.Interval, settled bool, costs []woken) string {
	shown := d
	if more == "less" {
		shown.Est, shown.Lo, shown.Hi = -d.Est, -d.Hi, -d.Lo
	}
	text := fmt.Sprintf("; %s p50 %s", test.Short(), plus(shown))
	if len(costs) == 0 {
		return text + "; what a wake-up costs here was not measured."
	}
	least, most := costs[0], costs[len(costs)-1]
	text += fmt.Sprintf("; by the test beside two cost %s by %s on %s", say(least.Interval, unit.Nanoseconds), least.by, least.where)
	if len(costs) > 1 {
		text += fmt.Sprintf(" and %s on %s", say(most.Interval, unit.Nanoseconds), most.where)
	}
	if !settled || !(d.Lo > 0) {
		return text + "; no share is told of a difference that is not sure."
	}
	// The ends of the share are those of both intervals at their worst.
	lo, hi := least.Lo/d.Hi, most.Hi/d.Lo
	if len(costs) == 1 {
		text += fmt.Sprintf(", %s of it (%s to %s)", share(least.Est/d.Est), bare(lo), bare(hi))
	} else {
		text += fmt.Sprintf(", %s to %s of it (%s to %s) as the scheduler places the thread",
			share(least.Est/d.Est), share(most.Est/d.Est), bare(lo), bare(hi))
	}
	switch {
	case hi < 1:
		text += fmt.Sprintf("; the rest, %s", unit.Format(d.Est-most.Est, unit.Nanoseconds))
		if len(costs) > 1 {
			text += " or more"
		}
		text += ", is not told apart"
	case lo > 1:
		text += "; they come cheaper there than in the test"
	}
	return text + "."
}

// wakeSection is the table of the tests beside.
func wakeSection(all, tails []compare.Beside) compare.Section {
	s := compare.Section{
		Name: "wake", Title: "A thread's wake-up on this machine, without a network",
		Columns: []compare.Column{
			{Name: "there and back p50", Unit: unit.Nanoseconds}, {Name: "p99", Unit: unit.Nanoseconds},
			{Name: "one wake-up", Unit: unit.Nanoseconds},
		},
		Notes: []string{"There and back is two wake-ups; one wake-up is half of it, named so and not measured by itself."},
	}
	for i := range all {
		b := &all[i]
		if b.Test != "wake" {
			continue
		}
		p50 := none("no figure")
		one := p50
		if b.Median != nil {
			p50 = ranged(intervalOf(b), "")
			half := intervalOf(b)
			half.Est, half.Lo, half.Hi = half.Est/2, half.Lo/2, half.Hi/2
			one = ranged(half, "")
		}
		p99 := none("no figure")
		for j := range tails {
			if t := &tails[j]; t.Of() == b.Of() && t.Median != nil {
				p99 = ranged(intervalOf(t), "")
			}
		}
		busy := "idle"
		if b.Params.Busy != "" {
			busy = b.Params.Busy
		}
		s.Rows = append(s.Rows, compare.Line{
			Label: fmt.Sprintf("%s, %s, %s", b.Params.By, strings.TrimPrefix(wakePlace(b.Params.At), "the "), busy), Cells: []compare.Datum{p50, p99, one}})
	}
	return s
}
