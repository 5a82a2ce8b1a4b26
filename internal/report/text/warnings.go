package text

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/result"
)

// warnings are those about the run, and then those about rows that are shown,
// each once with the tests and levels that it is about. Advice that several of
// them share stands after the last one.
func warnings(r *compare.Report) []string {
	var lines []string
	for _, w := range r.Warnings {
		lines = append(lines, wrap(sentence(w), "- ", "  ")...)
	}
	severalLevels := len(r.Levels())+len(r.Interactions()) > 1
	var order []result.Warning
	about := map[result.Warning][]string{}
	for _, c := range slices.Concat(r.Comparisons, r.Effects) {
		if !shown(&c) {
			continue
		}
		for _, w := range c.Warnings {
			if about[w] == nil {
				order = append(order, w)
			}
			name := c.Name()
			if w.Metric != "" {
				name += " " + c.Metric + arrow(&c, r.Comparisons)
			}
			if severalLevels {
				name += " (" + c.Variant + ")"
			}
			if !slices.Contains(about[w], name) {
				about[w] = append(about[w], name)
			}
		}
	}
	byAdvice(order)
	for i, w := range order {
		told := w
		if i+1 < len(order) && order[i+1].Advice == w.Advice {
			told.Advice = ""
		}
		lines = append(lines, wrap(strings.Join(about[w], ", ")+": "+sentence(told), "! ", "  ")...)
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"Warnings"}, lines...)
}

// byAdvice puts warnings with the same advice together, and else leaves them as
// they are.
func byAdvice(warnings []result.Warning) {
	first := map[string]int{}
	for i, w := range warnings {
		if _, seen := first[w.Advice]; !seen {
			first[w.Advice] = i
		}
	}
	slices.SortStableFunc(warnings, func(a, b result.Warning) int { return first[a.Advice] - first[b.Advice] })
}

// sentence is the warning with its advice.
func sentence(w result.Warning) string {
	text := w.Text + "."
	if w.Advice != "" {
		text += " Advice: " + w.Advice + "."
	}
	return rounded(text)
}

// durations are times as Go writes them, where they have a fraction. What is
// part of a longer word or number is none.
var durations = regexp.MustCompile(`\b(?:[0-9]+h)?(?:[0-9]+m)?[0-9]+\.[0-9]+(?:ns|µs|μs|us|ms|s)\b`)

// rounded writes the durations in a text with three digits: whoever measured
// them gave all that the clock had.
func rounded(text string) string {
	return durations.ReplaceAllStringFunc(text, func(s string) string {
		d, err := time.ParseDuration(s)
		if err != nil {
			return s
		}
		step := time.Duration(1)
		for d.Abs()/step >= 1000 {
			step *= 10
		}
		if d >= time.Minute {
			step = time.Second // 1m23s, rather than 1m20s
		}
		return strings.ReplaceAll(d.Round(step).String(), "µ", "u")
	})
}
