package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"netdelta/internal/lab"
	"netdelta/internal/spec"
)

// listExperiments lists each experiment: its question, what it varies, how long that
// takes, and the page that explains it.
func listExperiments(w io.Writer) error {
	var b strings.Builder
	for _, e := range lab.Experiments() {
		fold(&b, e.Name, e.Question, listIndent)
		o, plan, err := usualPlan(e, lab.Usual())
		if err != nil {
			fold(&b, "", fmt.Sprintf("n/a here: %v", err), listIndent)
		} else {
			var names []string
			for _, f := range plan.Factors {
				names = append(names, f.Name)
			}
			what := strings.Join(names, " x ")
			if e.Seconds != nil {
				what += fmt.Sprintf(" (or %s, by --second)", strings.Join(e.Seconds[1:], ", "))
			}
			fold(&b, "", fmt.Sprintf("%s on %s; about %s; docs/%s", what, o.Link, labTime(plan), e.Page), listIndent)
		}
	}
	fmt.Fprintf(&b, "\nnetdelta lab EXPERIMENT --list tells more of one.\n")
	return printed(io.WriteString(w, b.String()))
}

// usualPlan is what an experiment does under options.
func usualPlan(e lab.Experiment, o lab.Options) (lab.Options, spec.Plan, error) {
	o, err := e.Complete(o)
	if err != nil {
		return o, spec.Plan{}, err
	}
	plan, err := e.Plan(o)
	return o, plan, err
}

// labTime is how long a plan takes in a lab.
func labTime(p spec.Plan) time.Duration { return lab.Takes(&p).Round(time.Second) }

// listExperiment tells what there is to choose of one experiment, and what runs with
// the options given.
func listExperiment(w io.Writer, e lab.Experiment, o lab.Options) error {
	o, plan, err := usualPlan(e, o)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	varied, err := e.Varies(o)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	var b strings.Builder
	fold(&b, e.Name, e.Question, listIndent)
	b.WriteString("\n")
	for i, f := range plan.Factors {
		about, levels := varied[i].About, strings.TrimPrefix(factorText(&plan, f), f.Name+": ")
		if f.Condition {
			about += " (a condition: all else is compared within each of its levels)"
			levels = strings.Join(f.Levels, ", ")
		}
		fold(&b, f.Name, about, listIndent)
		fold(&b, "", "runs "+levels, listIndent)
		valid := "valid "
		if varied[i].Free {
			valid = "written "
		}
		fold(&b, "", valid+strings.Join(varied[i].Levels, ", "), listIndent)
		for _, m := range varied[i].Missing {
			fold(&b, "", "not here: "+oneLine(m), listIndent)
		}
	}
	if e.Seconds != nil {
		fold(&b, "second", fmt.Sprintf("%s, by --second; valid %s", o.Second, strings.Join(e.Seconds, ", ")), listIndent)
	}
	if !slices.ContainsFunc(plan.Factors, func(f spec.Factor) bool { return f.Name == "link" }) {
		fold(&b, "link", o.Link+"; valid "+strings.Join(e.Links, ", "), listIndent)
	}
	if o.Context != "" {
		fold(&b, "context", o.Context, listIndent)
	}
	if o.Offload {
		fold(&b, "offload", "on", listIndent)
	}
	if text := o.Wire.String(); text != "" {
		fold(&b, "wire", text, listIndent)
	}
	fold(&b, "tests", testWords(plan.Tests), listIndent)
	if len(plan.Beside) > 0 {
		fold(&b, "beside", testWords(plan.Beside), listIndent)
	}
	fold(&b, "blocks", fmt.Sprintf("%d of %v windows, %d trials", plan.Blocks, plan.Window, plan.Trials()), listIndent)
	if plan.Soak {
		fold(&b, "soak", "a loop of idle priority takes what CPU time is left", listIndent)
	}
	if o.Awake {
		fold(&b, "awake", "loops of idle priority keep all CPUs from sleeping", listIndent)
	}
	fold(&b, "takes", "about "+labTime(plan).String(), listIndent)
	fold(&b, "page", "docs/"+e.Page, listIndent)
	return printed(io.WriteString(w, b.String()))
}

func testWords(tests []spec.Test) string {
	words := make([]string, len(tests))
	for i, t := range tests {
		words[i] = t.String()
	}
	return strings.Join(words, ", ")
}

// listIndent is where the text of the lists begins.
const listIndent = 13
