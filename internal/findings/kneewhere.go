package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// point is a level with what it costs and what it saves.
type point struct {
	level    string
	rtt, cpu float64 // ns, and the cost's unit
	// sure says that its CPU time is less than the baseline's for sure.
	sure bool
	// distance is how far it lies above the chord between the extremes, both axes
	// from 0 to 1.
	distance float64
}

// knee names the level from which on latency rises by more than CPU time falls. Both
// are taken as shares of their whole range, and of the levels whose CPU time is less
// for sure it is the one that lies farthest above the chord between the extremes
// (Satopaa, Albrecht, Irwin and Raghavan: Finding a "Kneedle" in a Haystack, 2011).
func (s *sweep) knee() []string {
	switch {
	case len(s.levels) < 2:
		return []string{"No knee to be named: one level of mitigation was run."}
	case s.rr == nil:
		return []string{"No knee to be named: no round trips were measured."}
	case s.cost.name == "":
		return []string{"No knee to be named: CPU time was not measured."}
	}
	points := s.points()
	if len(points) < 2 || points[0].level != s.levels[0] {
		return []string{"No knee to be named: too few levels have both latency and CPU time."}
	}
	off := points[0]
	if !slices.ContainsFunc(points, func(p point) bool { return p.sure }) {
		return []string{fmt.Sprintf("No knee to be named: no level's %s is less than %s's for sure%s.", s.cost.name, off.level, s.closest(points[1:]))}
	}
	best := farthest(points)
	if best == nil {
		return []string{fmt.Sprintf("No knee to be named: CPU time falls no faster than latency rises at any level (farthest: %s).", s.tradeOf(points[len(points)-1:], &off))}
	}
	return []string{fmt.Sprintf("The knee is at %s (frames/wait): %s; from there on latency rises by more than CPU time falls.", best.level, s.tradeOf([]point{*best}, &off))}
}

// points are the levels that have both figures, the baseline first.
func (s *sweep) points() []point {
	var all []point
	for _, level := range s.levels {
		p := point{level: level, rtt: s.figure(level, *s.rr, local(result.RTTP50)), cpu: s.figure(level, s.cost.test, s.cost.of...)}
		if !finite(p.rtt) || !finite(p.cpu) {
			continue
		}
		if saved := s.saved(level); level != s.levels[0] {
			p.sure = s.in.settled(saved) && saved.Hi < 0
		}
		all = append(all, p)
	}
	return all
}

// saved is the change of the cost under a level, in percent.
func (s *sweep) saved(level string) stats.Interval {
	return s.in.change(s.blocks(s.levels[0], s.cost.test, s.cost.of), s.blocks(level, s.cost.test, s.cost.of))
}

// farthest is the point that is sure and lies farthest above the chord; nil where
// none lies above it. The chord goes from what the baseline is to the longest round
// trip and the least CPU time of what is sure.
func farthest(points []point) *point {
	off := points[0]
	rtt, cpu := 0.0, 0.0 // the ranges
	for _, p := range points {
		if p.sure {
			rtt, cpu = math.Max(rtt, p.rtt-off.rtt), math.Max(cpu, off.cpu-p.cpu)
		}
	}
	var best *point
	for i := range points {
		p := &points[i]
		if !p.sure || cpu <= 0 {
			continue
		}
		risen := 0.0
		if rtt > 0 {
			risen = math.Max(0, p.rtt-off.rtt) / rtt
		}
		p.distance = (off.cpu-p.cpu)/cpu - risen
		if p.distance > 0 && (best == nil || p.distance > best.distance) {
			best = p
		}
	}
	return best
}

// tradeOf says what levels cost and save against the baseline.
func (s *sweep) tradeOf(points []point, off *point) string {
	var parts []string
	for _, p := range points {
		if p.level == off.level {
			continue
		}
		text := fmt.Sprintf("p50 %s to %s, %s %s", unit.Format(off.rtt, unit.Nanoseconds), unit.Format(p.rtt, unit.Nanoseconds),
			s.cost.name, percentOff(100*(p.cpu/off.cpu-1)))
		if irq, was := s.interrupts(p.level), s.interrupts(off.level); finite(irq) && finite(was) {
			text += fmt.Sprintf(", interrupts per packet %s to %s", unit.FormatIn(was, 1), unit.FormatIn(irq, 1))
		}
		if len(points) > 1 {
			text = p.level + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// interrupts is a level's handler runs for each packet of the stream whose cost is
// told.
func (s *sweep) interrupts(level string) float64 {
	return s.figure(level, s.cost.test, remote(result.InterruptsPerPacket))
}

// closest tells of the level that saves most, though not for sure.
func (s *sweep) closest(points []point) string {
	least := slices.MinFunc(points, func(a, b point) int {
		switch {
		case a.cpu < b.cpu:
			return -1
		case a.cpu > b.cpu:
			return 1
		}
		return 0
	})
	c := s.saved(least.level)
	if !finite(c.Est) {
		return ""
	}
	return fmt.Sprintf("; the least is %s's, %s", least.level, percents(c))
}
