package text

import (
	"fmt"
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
func warnings(r *compare.Report) []Item {
	var all []Item
	for _, w := range r.Warnings {
		all = append(all, general(w))
	}
	return warned(append(all, rowWarnings(r)...))
}

// warned puts a title before warnings, if there are any.
func warned(all []Item) []Item {
	if len(all) == 0 {
		return nil
	}
	return append([]Item{titled("Warnings")}, all...)
}

// rowWarnings are those about rows that are shown. Where several factors vary,
// the rows of one figure rest on the same trials and differ in the example that
// they name: they are told once.
func rowWarnings(r *compare.Report) []Item {
	severalFactors := len(r.Compared()) > 1
	fold := severalFactors || brief(r)
	mostNamed := 0
	if brief(r) {
		mostNamed = mostSubjects
	}
	severalLevels := len(r.Levels())+len(r.Interactions()) > 1
	var order []result.Warning // the first of each
	about := map[result.Warning]*subjects{}
	rows := map[string][]string{} // the levels that are shown of each figure
	for _, c := range slices.Concat(r.Comparisons, r.Effects) {
		if !shown(&c) {
			continue
		}
		figure := func(w result.Warning) string {
			name := c.Name()
			if w.Metric != "" {
				name += " " + c.Metric + arrow(&c, r.Comparisons)
			}
			return name
		}
		level := ""
		switch {
		case severalFactors:
			level = c.Factor + " " + c.Variant
		case severalLevels:
			level = c.Variant
		}
		for _, w := range []result.Warning{{}, {Metric: c.Metric}} {
			if name := figure(w); !slices.Contains(rows[name], level) {
				rows[name] = append(rows[name], level)
			}
		}
		for _, w := range c.Warnings {
			k := w
			if fold {
				k = withoutExample(w)
			}
			if about[k] == nil {
				about[k] = &subjects{of: map[string][]string{}}
				order = append(order, w)
			}
			about[k].add(figure(w), level)
		}
	}
	byAdvice(order)
	var all []Item
	for i, w := range order {
		told, k := w, w
		if fold {
			k = withoutExample(w)
		}
		if i+1 < len(order) && order[i+1].Advice == w.Advice {
			told.Advice = ""
		}
		all = append(all, particular(about[k].text(rows, fold, mostNamed)+": "+sentence(told)))
	}
	return all
}

// withoutExample is a warning with nothing of one particular trial.
func withoutExample(w result.Warning) result.Warning {
	w.Text, _, _ = strings.Cut(w.Text, ", such as: ")
	w.Text = w.Code + ": " + w.Text // what was cut off told warnings of two codes apart
	return w
}

// subjects are the figures that a warning is about, each with the levels in whose
// rows it stands.
type subjects struct {
	names []string
	of    map[string][]string
}

func (s *subjects) add(name, level string) {
	if s.of[name] == nil {
		s.names = append(s.names, name)
	}
	if !slices.Contains(s.of[name], level) {
		s.of[name] = append(s.of[name], level)
	}
}

// mostSubjects is how many figures a warning names where their rows are not shown.
const mostSubjects = 4

// text lists them, the first few alone if most is not 0. Where it may be so, the
// levels are left out of a figure that is warned of in all its rows.
func (s *subjects) text(rows map[string][]string, fold bool, most int) string {
	var all []string
	more := 0
	for i, name := range s.names {
		if more = len(s.names) - i; most > 0 && i >= most {
			break
		}
		more = 0
		levels := s.of[name]
		switch {
		case levels[0] == "" || fold && len(levels) >= len(rows[name]):
			all = append(all, name)
		case fold:
			all = append(all, name+" ("+strings.Join(levels, "; ")+")")
		default:
			for _, l := range levels {
				all = append(all, name+" ("+l+")")
			}
		}
	}
	if more > 0 {
		return strings.Join(all, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(all, ", ")
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
