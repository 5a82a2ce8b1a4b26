package text

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
	"netdelta/internal/unit"
)

// RenderRun writes the report of one run as text: what ran, its figures, what
// was wrong with them, and if asked for the machines. next is what can be done
// with the run; it may be empty.
func RenderRun(w io.Writer, r *summary.Report, machines bool, next string) error {
	parts := [][]string{lay(slices.Concat(stageWhere(r.Stages), streamWhere(r.Streams), runHead(r), runSpeeds(r)))}
	parts = append(parts, sections([]block{{runTitle(r), figures(r)}})...)
	parts = append(append(parts, stageTexts(r.Stages)...), streamTexts(r.Streams)...)
	parts = append(parts, lay(runNotes(r)), lay(runWarnings(r)))
	if machines {
		both, apart, more := environments(r)
		parts = append(parts, list(bothTitle, both), list(apartTitle, apart), lay(further(more)))
		parts = append(parts, command(&compare.Report{Version: r.Version, Command: r.Command}))
	}
	if next != "" {
		parts = append(parts, wrap(next, "", "  "))
	}
	return write(w, parts)
}

// runHead names the run and says how far it came.
func runHead(r *summary.Report) []Item {
	head := "Run " + r.ID
	if r.Label != "" {
		head += fmt.Sprintf(" (%s)", r.Label)
	}
	if r.Target != "" {
		head += " to " + r.Target
	}
	head += ", " + r.Start.UTC().Format("2006-01-02 15:04:05 UTC") + ": "
	trials := unit.Count(r.Trials, "trial")
	if r.Planned != 0 && r.Trials != r.Planned {
		trials = fmt.Sprintf("%d of %s", r.Trials, unit.Count(r.Planned, "trial"))
	}
	return items(head + fmt.Sprintf("%s, %s.", r.State, trials))
}

func runTitle(r *summary.Report) string {
	if r.WindowNS == 0 {
		return "Figures are medians over trials"
	}
	return fmt.Sprintf("Figures are medians over trials, each %v long after %v of warm-up",
		time.Duration(r.WindowNS), time.Duration(r.WarmupNS))
}

// figures is the table, by test. One scale serves a whole row.
func figures(r *summary.Report) table {
	t := table{
		head:  []string{"", "end", "unit", "median", intervalHead(r), "min .. max", "n"},
		right: []bool{false, false, false, true, true, true, true},
	}
	var last spec.Test
	under := ""
	for i := range r.Figures {
		f := &r.Figures[i]
		if !runShows(f) {
			continue
		}
		if of := f.TestOf(); of != last || f.Under != under {
			title := of.String()
			if f.Under != "" {
				title += " (" + f.Under + ")"
			}
			t.add(title)
			last, under = of, f.Under
		}
		name := "  " + shortened(f.Metric)
		if len(f.Warnings) > 0 || f.N == 0 {
			name = "! " + shortened(f.Metric)
		}
		// The median's scale, or a single large one would make it 0.0.
		div, label := unit.Scale(f.Unit, value(f.Median))
		if f.Median != nil && *f.Median == 0 {
			div, label = unit.Scale(f.Unit, value(f.Max))
		}
		t.add(name, f.End, label, unit.Cell(value(f.Median), f.Unit, div),
			span(f.Lo, f.Hi, f.Unit, div), span(f.Min, f.Max, f.Unit, div), outOf(f.N, f.Of))
	}
	return t
}

// runShows says whether the text has the figure: the main ones, what a sender
// had to say beside its receiver, where datagrams were lost, and those that count mishaps where there
// were any or nobody counted them.
func runShows(f *summary.Figure) bool {
	if f.Metric == result.Offered {
		return true
	}
	if strings.HasPrefix(f.Metric, result.Loss+"_") { // where what was lost was lost
		return f.Max != nil && *f.Max != 0
	}
	switch f.Rank() {
	case result.Headline, result.Main:
		return true
	case result.NonZero:
		return f.Max != nil && *f.Max != 0 || uncounted(f.Warnings)
	}
	return false
}

// uncounted says that there is no figure because nothing counted it: that it is
// not shown would be taken for zero.
func uncounted(about []result.Warning) bool {
	return slices.ContainsFunc(about, func(w result.Warning) bool { return w.Code == result.NotCounted })
}

func span(lo, hi *float64, u unit.Unit, div float64) string {
	if lo == nil || hi == nil {
		return "n/a"
	}
	return unit.Cell(*lo, u, div) + " .. " + unit.Cell(*hi, u, div)
}

func outOf(n, of int) string {
	if n == of {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, of)
}

// leastConfidence is that of the shown intervals, 1 where there is none.
func leastConfidence(r *summary.Report) float64 {
	least := 1.0
	for i := range r.Figures {
		if f := &r.Figures[i]; runShows(f) && f.Confidence > 0 {
			least = min(least, f.Confidence)
		}
	}
	return least
}

func intervalHead(r *summary.Report) string {
	if least := leastConfidence(r); least < 0.95 {
		return fmt.Sprintf("%.0f%% interval", math.Floor(100*least))
	}
	return "95% interval"
}

func runNotes(r *summary.Report) []Item {
	if len(r.Figures) == 0 {
		return nil
	}
	text := "The interval is the median's, by order statistics."
	if !slices.ContainsFunc(r.Figures, func(f summary.Figure) bool { return runShows(&f) && f.Confidence > 0 }) {
		text = "There is no interval: it takes more than one trial."
	} else if least := leastConfidence(r); least < 0.95 {
		text = fmt.Sprintf("The interval is the median's, the widest that so few trials give (%.3g%%; 95%% takes 6).", 100*least)
	}
	if slices.ContainsFunc(r.Figures, func(f summary.Figure) bool { return runShows(&f) && len(f.Warnings) > 0 }) {
		text += " ! see the warnings."
	}
	if slices.ContainsFunc(r.Figures, func(f summary.Figure) bool { return runShows(&f) && shortened(f.Metric) != f.Metric }) {
		text += " cpu is CPU time beyond the idle baseline: cpu_per_op and cpu_per_byte, as the unit says."
	}
	all := []Item{flush(text)}
	if demand := runDemand(r); demand != "" {
		all = append(all, hanging(demand))
	}
	return all
}

// runWarnings are those of the run and those of the figures shown.
func runWarnings(r *summary.Report) []Item {
	var all []Item
	for _, w := range r.Warnings {
		all = append(all, general(w))
	}
	silent := r.Unmeasured()
	for i := range r.Figures {
		f := &r.Figures[i]
		if !runShows(f) || f.N == 0 && slices.Contains(silent, f.TestOf()) {
			continue // that nothing came through, and why, is said already
		}
		for _, w := range f.Warnings {
			all = append(all, particular(f.TestOf().Short()+" "+f.Metric+": "+sentence(w)))
		}
	}
	return warned(all)
}

const (
	bothTitle  = "The same at both ends"
	apartTitle = "Ends"
)

// environments is what is the same at both ends, and then what is not; and how many
// details are in neither.
func environments(r *summary.Report) (both, apart []result.Fact, more int) {
	var order []string
	values := map[string][2]string{}
	for _, e := range r.Environments {
		side := 0
		if e.End == result.Remote {
			side = 1
		}
		for _, f := range e.Facts {
			if result.DetailFact(f.Name) {
				more++
				continue
			}
			v, known := values[f.Name]
			if !known {
				order = append(order, f.Name)
			}
			v[side] = f.Value
			values[f.Name] = v
		}
	}
	for _, name := range order {
		if v := values[name]; v[0] == v[1] {
			both = append(both, result.Fact{Name: name, Value: v[0]})
			continue
		}
		for side, end := range []string{result.Local, result.Remote} {
			if v := values[name][side]; v != "" {
				apart = append(apart, result.Fact{Name: end + " " + name, Value: v})
			}
		}
	}
	return both, apart, more
}
