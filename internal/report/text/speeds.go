package text

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
)

// speed is how fast a test ran: at full speed where nothing held it.
type speed struct {
	name string // the test's, with what it is under
	test spec.Test
	held *result.Held
}

// comparedSpeeds names what the report compared: throughput that nothing held,
// or the cost of throughput that was held.
func comparedSpeeds(r *compare.Report) []Item {
	var all []speed
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; tellsSpeed(c.Of(), c.Metric) && (c.A.Median != nil || c.B.Median != nil) {
			all = append(all, speed{c.Name(), c.Of(), c.Held})
		}
	}
	return speeds(all, ", so throughput is compared", ", so cost is compared")
}

// runSpeeds is the same of a single run.
func runSpeeds(r *summary.Report) []Item {
	var all []speed
	for i := range r.Figures {
		if f := &r.Figures[i]; tellsSpeed(f.TestOf(), f.Metric) && f.Median != nil {
			all = append(all, speed{f.TestOf().Short(), f.TestOf(), f.Held})
		}
	}
	return speeds(all, "", "")
}

// tellsSpeed says whether a test's speed is told of by its rows of a metric:
// goodput of streams, and the rate of round trips that have a fixed one.
// Of another program's test it is not known.
func tellsSpeed(t spec.Test, metric string) bool {
	if _, ours := spec.KindOf(t.Name); !ours {
		return false
	}
	return metric == result.Goodput || metric == result.Rate && t.OpenLoop()
}

// speeds is a line for each way in which tests ran.
func speeds(all []speed, free, held string) []Item {
	var said []Item
	for _, way := range []struct {
		name string
		in   func(speed) bool
	}{
		{"At full speed, nothing held" + free, func(s speed) bool { return s.held == nil && !asked(s.test) }},
		{"Held by the link" + held, func(s speed) bool { return s.held != nil && s.held.By == result.HeldByLink }},
		{"Held at a fixed rate" + held, func(s speed) bool { return s.held != nil && s.held.By != result.HeldByLink }},
		{"At a fixed rate that was not always kept" + free, func(s speed) bool {
			return s.held == nil && asked(s.test) && s.test.Kind().IsStream()
		}},
		{"Requests at a fixed rate", func(s speed) bool { return s.test.OpenLoop() && !s.test.Kind().IsStream() }},
	} {
		var names []string
		for _, s := range all {
			if way.in(s) && !slices.Contains(names, s.name) {
				names = append(names, s.name)
			}
		}
		if more := len(names) - mostNames; more > 0 {
			names = append(names[:mostNames], fmt.Sprintf("%d more", more))
		}
		if len(names) > 0 {
			said = append(said, hanging(way.name+": "+strings.Join(names, ", ")+"."))
		}
	}
	return said
}

// asked says that the test has a rate to keep.
func asked(t spec.Test) bool { return t.OpenLoop() || t.Params.Pacing != 0 }

// mostNames is how many tests of one way are named.
const mostNames = 6
