package compare

import (
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Unmeasured is the tests of which no trial has the figure that stands for
// them, or none above zero: nothing came through, or it could not be had here.
func (r *Report) Unmeasured() []spec.Test {
	var silent, measured []spec.Test
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.Rank() != result.Headline {
			continue
		}
		test, list := c.Of(), &silent
		if some(c.A) || some(c.B) {
			list = &measured
		}
		if !slices.Contains(*list, test) {
			*list = append(*list, test)
		}
	}
	return slices.DeleteFunc(silent, func(t spec.Test) bool { return slices.Contains(measured, t) })
}

// some says that a side has a figure above zero.
func some(s Summary) bool { return s.Max != nil && *s.Max > 0 }
