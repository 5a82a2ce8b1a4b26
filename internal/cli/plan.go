package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/compare"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

func newPlan() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Check a plan, and list what can be set",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPlanCheck(), newPlanKnobs(), newPlanSchema())
	return cmd
}

func newPlanCheck() *cobra.Command {
	var all bool
	var seed uint64
	cmd := &cobra.Command{
		Use:   "check PLAN",
		Short: "Say what a plan does, in which order, and how long that takes",
		Long: `Reads the plan without touching any host: what varies and how it is set, the
order in which variants run, and an estimate of how long that takes. What is
wrong with the plan is told with its line.`,
		Example: "  netdelta plan check plan.yaml\n  netdelta plan check plan.yaml --all --seed 7",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("plan check takes one plan file, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			doc, err := planFile(args[0])
			if err != nil {
				return err
			}
			drawn := !doc.SeedGiven
			if cmd.Flags().Changed("seed") {
				doc.Plan.Seed, drawn = seed, false
			}
			if err := valid(&doc.Plan); err != nil {
				return err
			}
			return printed(io.WriteString(cmd.OutOrStdout(), planText(doc, drawn, all)))
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the order of all blocks")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "seed of the random order, where the plan has none")
	return cmd
}

// firstBlocks is how many blocks' order is listed unless all are asked for.
const firstBlocks = 2

// planText tells what a plan does.
func planText(doc spec.Document, drawn, all bool) string {
	p := &doc.Plan
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	b.WriteString(p.Experiment)
	if p.Question != "" {
		b.WriteString(": " + p.Question)
	}
	b.WriteString("\n")
	line("where", "%s", whereText(doc))
	for i, f := range p.Factors {
		name := ""
		if i == 0 {
			name = "factors"
		}
		line(name, "%s", factorText(p, f))
		for _, l := range f.Levels {
			for _, s := range f.Settings[l] {
				line("", "  %s: %s", l, s)
			}
		}
	}
	for i, t := range p.Tests {
		name := ""
		if i == 0 {
			name = "tests"
		}
		line(name, "%s", t)
	}
	for i, t := range p.Beside {
		name := ""
		if i == 0 {
			name = "beside"
		}
		line(name, "%s", t)
	}
	slots := p.Schedule()
	variants, perBlock := len(p.Variants()), 0
	for _, s := range slots {
		if s.Block == 0 {
			perBlock += len(s.Tests)
		}
	}
	line("variants", "%d", variants)
	if p.Chosen != nil {
		line("", "of the full crossing's %d", crossing(p))
	}
	aliases, warnings := compare.Bears(p)
	if len(aliases) > 0 {
		line("", "what can't be told apart:")
		for _, g := range aliases {
			line("", "  %s", strings.Join(g, " = "))
		}
	}
	for _, w := range warnings {
		if len(aliases) == 0 || w.Code != "aliased" {
			line("", "%s", w.Text)
		}
	}
	most := ""
	if p.Precision > 0 {
		most = "at most "
	}
	line("blocks", "%s%d of %s each: %d", most, p.Blocks, unit.Count(perBlock, "trial"), p.Trials())
	if fewest := compare.FewestBlocks(p); p.Blocks < fewest {
		line("", "too few for a verdict, which needs %d", fewest)
	}
	line("trial", "%v warm-up, %v window", p.Warmup, p.Window)
	e := p.Takes(spec.UsualCosts)
	line("takes", "%sabout %v (%v a block), beside changes of settings", most, roundTime(e.Total), roundTime(e.Block))
	if p.Precision > 0 {
		line("", "less if every interval that matters is within %s%% before that", percentText(p.Precision))
	}
	if p.Limit > 0 {
		line("", "no block begins after %v", p.Limit)
	}
	for i, f := range p.Factors {
		name := ""
		if i == 0 {
			name = "changes"
		}
		line(name, "%s %s%d times", f.Name, most, changes(slots, f))
	}
	seed := fmt.Sprint(p.Seed)
	if drawn {
		seed = "drawn when it runs (the order below is that of 0)"
	}
	line("seed", "%s", seed)

	b.WriteString("\nOrder\n")
	shown := firstBlocks
	if all {
		shown = p.Blocks
	}
	slow := slices.ContainsFunc(p.Factors, func(f spec.Factor) bool { return f.Slow })
	block0, plot := -1, -1
	for _, s := range slots {
		if s.Block >= shown {
			fmt.Fprintf(&b, "  ... %s more (--all)\n", unit.Count(p.Blocks-shown, "block"))
			break
		}
		if s.Block != block0 {
			fmt.Fprintf(&b, "  block %d: %s\n", s.Block+1, shortTests(testsOf(slots, s.Block)))
			block0 = s.Block
		}
		if s.Beside {
			fmt.Fprintf(&b, "    beside: %s\n", shortTests(s.Tests))
			continue
		}
		mark := ""
		if slow && s.Plot != plot {
			mark = fmt.Sprintf("   plot %d", s.Plot+1)
			plot = s.Plot
		}
		fmt.Fprintf(&b, "    %s%s\n", s.Variant.Key(p.Factors), mark)
	}
	return b.String()
}

// testsOf are the tests of a block's variants, in their order.
func testsOf(slots []spec.Slot, block int) []spec.Test {
	i := slices.IndexFunc(slots, func(s spec.Slot) bool { return s.Block == block && !s.Beside })
	if i < 0 {
		return nil
	}
	return slots[i].Tests
}

func shortTests(tests []spec.Test) string {
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = t.Short()
	}
	return strings.Join(names, ", ")
}

// changes counts how often a factor's level is set to another one, the first
// time included. A slow one is set anew for each whole plot, by way of another
// level where the plot before had the same.
func changes(slots []spec.Slot, f spec.Factor) int {
	n, was, plot := 0, "", -1
	for _, s := range slots {
		if s.Beside {
			continue
		}
		switch l := s.Variant[f.Name]; {
		case l != was:
			n++
		case f.Slow && s.Plot != plot:
			n += 2
		}
		was, plot = s.Variant[f.Name], s.Plot
	}
	return n
}

// crossing is the number of variants of the full crossing.
func crossing(p *spec.Plan) int {
	n := 1
	for _, f := range p.Factors {
		n *= len(f.Levels)
	}
	return n
}

func roundTime(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

func percentText(share float64) string { return fmt.Sprintf("%.3g", 100*share) }

func whereText(doc spec.Document) string {
	switch {
	case doc.Lab != nil:
		link := doc.Lab.Link
		if link == "" {
			link = "its default link"
		}
		text := "a lab on this machine, " + link
		if doc.Lab.Context != "" {
			text += ", context " + doc.Lab.Context
		}
		return text
	case doc.Hosts != nil && doc.Hosts.Local != "":
		return fmt.Sprintf("from the agent at %s to that at %s", doc.Hosts.Local, doc.Hosts.Remote)
	case doc.Hosts != nil && doc.Hosts.Remote != "":
		return "from this host to the agent at " + doc.Hosts.Remote
	}
	return "between the hosts that the command line names"
}

func factorText(p *spec.Plan, f spec.Factor) string {
	levels := make([]string, len(f.Levels))
	for i, l := range f.Levels {
		if levels[i] = l; l == p.Baseline[f.Name] {
			levels[i] += " (baseline)"
		}
	}
	slow := ""
	if f.Slow {
		slow = " (slow)"
	}
	return fmt.Sprintf("%s%s: %s", f.Name, slow, strings.Join(levels, ", "))
}

func newPlanKnobs() *cobra.Command {
	return &cobra.Command{
		Use:   "knobs",
		Short: "List what a plan can set",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printed(io.WriteString(cmd.OutOrStdout(), knobsText()))
		},
	}
}

// knobScopes are the headings of the list of knobs.
var knobScopes = []struct {
	scope spec.Scope
	title string
}{
	{spec.OnDevice, "Of an interface ([DEVICE.]KNOB; without DEVICE the one that the path takes)"},
	{spec.OnHost, "Of a host"},
	{spec.OnCommand, "By a command of your own (in a plan file; or --a and --b)"},
	{spec.OnWorker, "Of the threads that carry the traffic"},
	{spec.OnTest, "Of the tests"},
	{spec.OnLink, "Of a lab's link"},
}

func knobsText() string {
	var b strings.Builder
	for i, s := range knobScopes {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.title + "\n")
		for _, k := range spec.Knobs() {
			if k.Scope != s.scope {
				continue
			}
			name := k.Name
			if k.Arg != "" {
				name += "." + k.Arg
			}
			fmt.Fprintf(&b, "  %s = %s\n", name, k.Form)
			fmt.Fprintf(&b, "      %s\n", k.About)
		}
	}
	return b.String()
}

func newPlanSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of plans, for editors",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printed(cmd.OutOrStdout().Write(spec.PlanSchema()))
		},
	}
}
