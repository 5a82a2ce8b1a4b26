package stages

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Title names the stream: its test, the conditions, and where it comes from if that is
// not what the test's name says.
func (s *Stream) Title() string {
	title := s.TestOf().String()
	if s.TestOf().Kind().Pattern == spec.Duplex {
		title += ", from the " + s.From + " end"
	}
	if s.Under != "" {
		title += " (" + s.Under + ")"
	}
	return title
}

// leastShare is the smallest change that is told of: of a share of the time, or as a part
// of what there was before.
const leastShare = 0.05

// sentence says of a change what limits the stream, where data waits and how much is
// handled at once, before and after. What is not sure to have changed is not told.
func (s *Stream) sentence(from, to *StreamVariant, a, b []*flow, paired bool) string {
	text := fmt.Sprintf("%s, %s to %s: ", s.Title(), from.Name, to.Name)
	var parts []string
	few := false
	for i, by := range limitNames {
		d := differs(a, b, func(f *flow) float64 { return f.limit(i) }, paired)
		if d.Est == nil || by == LimitNone {
			continue
		}
		few = few || d.Lo == nil
		if d.Sure() && math.Abs(*d.Est) >= leastShare {
			parts = append(parts, fmt.Sprintf("limited by the %s %s -> %s of the time", by, percent(from.Limits[i].Share), percent(to.Limits[i].Share)))
		}
	}
	if from.Largest != to.Largest && from.Largest != "" && to.Largest != "" {
		sure := false
		for _, place := range []string{from.Largest, to.Largest} {
			d := differs(a, b, func(f *flow) float64 { return f.share(place) }, paired)
			few = few || d.Est != nil && d.Lo == nil
			sure = sure || d.Sure()
		}
		if sure {
			parts = append(parts, fmt.Sprintf("queueing moved from %s to %s", strings.TrimPrefix(placeIn(from.Largest), "in "), strings.TrimPrefix(placeIn(to.Largest), "in ")))
		}
	}
	if len(parts) == 0 {
		parts = grown(from, to, a, b, paired)
	}
	for _, c := range []struct {
		name     string
		from, to *float64
		of       func(*flow) float64
		digits   int
	}{
		{FramesPerRun, from.FramesPerRun, to.FramesPerRun, func(f *flow) float64 { return f.perPoll }, 1},
		{"bytes per packet", from.BytesPerPacket, to.BytesPerPacket, func(f *flow) float64 { return f.bytesPerPacket }, 0},
	} {
		d := differs(a, b, c.of, paired)
		if c.from != nil && c.to != nil && d.Sure() && math.Abs(*d.Est) >= leastShare**c.from {
			parts = append(parts, fmt.Sprintf("%s %.*f -> %.*f", c.name, c.digits, *c.from, c.digits, *c.to))
		}
	}
	switch {
	case len(parts) > 0:
		return text + strings.Join(parts, "; ") + "."
	case few:
		return text + fmt.Sprintf("%s are too few to say what has changed of where data waits.", unit.Count(min(len(a), len(b)), "trial"))
	}
	return text + "what limits it, where data waits and how much comes at once are not different for sure."
}

// mostGrown is of how many places it is told how much more or less waits there.
const mostGrown = 2

// grown says where more or less waits than before, the most first.
func grown(from, to *StreamVariant, a, b []*flow, paired bool) []string {
	type change struct {
		by   float64
		text string
	}
	var all []change
	for i, name := range placeNames {
		d := differs(a, b, func(f *flow) float64 { return f.places[i] }, paired)
		was, is := from.Places[i].Bytes, to.Places[i].Bytes
		if name == PlaceSend || !d.Sure() || was == nil || is == nil || math.Abs(*d.Est) < max(aPacket, leastShare**was) {
			continue
		}
		all = append(all, change{math.Abs(*d.Est), fmt.Sprintf("%s -> %s %s", unit.Format(*was, unit.Bytes), unit.Format(*is, unit.Bytes), placeIn(name))})
	}
	slices.SortStableFunc(all, func(x, y change) int { return cmp.Compare(y.by, x.by) })
	var parts []string
	for _, c := range all[:min(mostGrown, len(all))] {
		parts = append(parts, c.text)
	}
	return parts
}

func percent(share *float64) string {
	if share == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.0f%%", 100**share)
}

// placeIn is a place in a sentence.
func placeIn(place string) string {
	switch place {
	case PlaceWay:
		return "between the hosts (rings, wire, receive handler)"
	case PlaceSoftnet:
		return "in the receiver's softnet backlog"
	}
	return "in the " + place
}

// Where says of one variant where most waits, and what limits it most.
func (s *Stream) Where(v *StreamVariant) string {
	text := s.Title()
	if v.Name != "" {
		text += ", " + v.Name
	}
	if v.Largest == "" {
		text += ": nothing waits that could be seen"
	}
	for _, p := range v.Places {
		if p.Name == v.Largest {
			text += fmt.Sprintf(": most is %s, %s in the mean", placeIn(p.Name), unit.Format(*p.Bytes, unit.Bytes))
		}
	}
	if l := v.mainLimit(); l != nil && *l.Share >= leastShare {
		text += fmt.Sprintf("; limited by the %s %s of the time", l.By, percent(l.Share))
	}
	return text + "."
}

// Source says what the figures rest on, one sentence each.
func (s *Stream) Source() []string {
	var missing []result.Fact
	samples, trials := int64(0), 0
	for i := range s.Variants {
		v := &s.Variants[i]
		missing = facts(missing, v.Missing, "")
		samples, trials = samples+v.Samples, trials+v.Trials
	}
	all := []string{fmt.Sprintf("Queues were looked at %s in %s, at each end; medians of the trials' means.", unit.Count(int(samples), "time"), unit.Count(trials, "trial"))}
	for _, f := range missing {
		all = append(all, fmt.Sprintf("No %s: %s.", f.Name, strings.TrimSuffix(f.Value, ".")))
	}
	return all
}
