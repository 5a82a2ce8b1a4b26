package compare

import (
	"fmt"
	"slices"
	"strings"
)

// oneTest says that all rows are of one test but for the conditions.
func (s *saying) oneTest() bool {
	return !slices.ContainsFunc(s.rows, func(c Comparison) bool { return c.short() != s.rows[0].short() })
}

// short is the row's test in short, whatever the conditions.
func (c *Comparison) short() string { return shortName(c.Of(), c.Varied) }

// within tells of one test under conditions: "tcp_stream goodput -38% (-40 to -35) at
// rate=100Mbit/s and -30% (-33 to -27) at rate=full".
func (s *saying) within(end string) string {
	text := s.rows[0].short() + " " + shortMetric(s.metric)
	switch {
	case s.known && s.verdict == Same:
		return text + end + " at " + s.conditions()
	case len(s.rows) > fewRows && s.known:
		return text + " " + estimates(s.rows) + " at " + s.conditions() + end
	case len(s.rows) > fewRows:
		return text + " " + s.rows[0].Change(1) + " at " + s.conditions()
	}
	var changes []string
	for i := range s.rows {
		changes = append(changes, s.rows[i].change()+" at "+s.rows[i].Under)
	}
	return text + " " + list(changes) + end
}

// conditions names those of the rows.
func (s *saying) conditions() string {
	var at []string
	for _, c := range s.rows {
		if !slices.Contains(at, c.Under) {
			at = append(at, c.Under)
		}
	}
	if len(at) == len(s.unders) && len(at) > 1 {
		if name, _, _ := strings.Cut(at[0], "="); !strings.Contains(at[0], " ") {
			return "every " + name
		}
		return fmt.Sprintf("all %d conditions", len(at))
	}
	return underList(at)
}

// whereWithin tells at how many sizes, or in how many tests, and under which
// conditions, if each of them is at each; else in how many cases.
func (s *saying) whereWithin() string {
	var tests, at []string
	sizes := true
	for _, c := range s.rows {
		if name := c.short(); !slices.Contains(tests, name) {
			tests = append(tests, name)
		}
		if !slices.Contains(at, c.Under) {
			at = append(at, c.Under)
		}
		sizes = sizes && sameButSizes(s.rows[0].Of(), c.Of())
	}
	switch {
	case len(tests)*len(at) != len(s.rows):
		return fmt.Sprintf("in %d cases", len(s.rows))
	case len(tests) == 1:
		return "at " + s.conditions()
	case sizes:
		return fmt.Sprintf("at %d sizes at %s", len(tests), s.conditions())
	}
	return fmt.Sprintf("in %d tests at %s", len(tests), s.conditions())
}
