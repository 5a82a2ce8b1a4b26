package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/store"
	"netdelta/internal/unit"
)

// resumption finds the trials of the run that is gone on with, and takes its
// seed: the order is then the same.
func (f *abFlags) resumption(ctx context.Context, e *experiment, stderr io.Writer) error {
	if f.resume == "" {
		return nil
	}
	s, err := openKept(ctx, f.store)
	if err != nil {
		return err
	}
	defer s.Close()
	old, err := store.Latest(ctx, s, f.resume)
	if err != nil {
		return storeFailed(err)
	}
	plan := &e.doc.Plan
	if old.Plan == nil || old.Plan.Single() {
		return usageError("run %s has nothing that varies: --resume goes on with a run of ab", old.ID)
	}
	if old.State == result.Running {
		return usageError("run %s is still measured: it can be gone on with when it has ended", old.ID)
	}
	if (f.given("seed") || e.doc.SeedGiven) && plan.Seed != old.Plan.Seed {
		return usageError("run %s had the seed %d, not %d: leave the seed out to go on with its order", old.ID, old.Plan.Seed, plan.Seed)
	}
	plan.Seed = old.Plan.Seed
	if why := planDiffers(plan, old.Plan); why != "" {
		return usageError("run %s had another plan (%s): give the same one to go on with it", old.ID, why)
	}
	trials, damage := collect(ctx, s, old.ID)
	for _, d := range damage {
		fmt.Fprintf(stderr, "netdelta: %s\n", oneLine(d.Text))
	}
	for _, t := range trials {
		if t.Block >= plan.Blocks {
			return usageError("run %s has trials of block %d already: --blocks %d would leave them out", old.ID, t.Block+1, plan.Blocks)
		}
	}
	e.resumed, e.earlier = trials, &old
	return nil
}

// resumeWords is the command line that goes on with a run, from the one that
// began it.
func resumeWords(words []string, id string) []string {
	var all []string
	for i := 0; i < len(words); i++ {
		switch {
		case words[i] == "--resume":
			i++
			continue
		case strings.HasPrefix(words[i], "--resume="):
			continue
		}
		all = append(all, quoted(words[i]))
	}
	return append(all, "--resume", id)
}

// Codes of what is said of a run that went on with another.
const (
	codeExtended    = "extended"
	codePartsDiffer = "parts_differ"
)

// maxChanges is how many facts are named that changed between a run's parts.
const maxChanges = 4

// resumedWarnings says what makes a run less than one that was measured in one
// go: it was made longer when figures were known, or something else than what
// varies is not as it was. old is nil where no run is gone on with; trials is how
// many it had.
func resumedWarnings(old, run *result.Run, trials int) (all []result.Warning) {
	if old == nil {
		return nil
	}
	for _, w := range old.Warnings { // what was said of an earlier part holds for the whole
		if w.Code == codeExtended || w.Code == codePartsDiffer {
			all = append(all, w)
		}
	}
	if run.Plan.Blocks > old.Plan.Blocks && trials > 0 {
		all = append(all, result.Warning{Code: codeExtended,
			Text:   fmt.Sprintf("%d blocks were planned, and %d when the figures of run %s were known: if those had a say in that, verdicts are wrong more often than 5%%", old.Plan.Blocks, run.Plan.Blocks, old.ID),
			Advice: "for a decision measure anew with as many blocks, or with --precision, which allows for looks at the figures"})
	}
	facts := func(r *result.Run) []compare.Fact {
		return append([]compare.Fact{{Name: "netdelta", Value: r.Version}, {Name: "target", Value: r.Target}}, compare.FactsOf(r.Environments)...)
	}
	var changed []string
	for _, c := range compare.Changes("", facts(old), facts(run)) {
		changed = append(changed, fmt.Sprintf("%s was %s and is %s", c.Name, orNone(c.Old), orNone(c.New)))
	}
	if n := len(changed); n > maxChanges {
		changed = append(changed[:maxChanges], fmt.Sprintf("%d more changed", n-maxChanges))
	}
	if len(changed) > 0 {
		all = append(all, result.Warning{Code: codePartsDiffer,
			Text: fmt.Sprintf("since run %s, with whose %s this one went on: %s", old.ID, unit.Count(trials, "trial"), strings.Join(changed, "; "))})
	}
	return all
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// planDiffers names what two plans do not have in common, as plans' records call
// it; empty where they are one. How long they go on for is no difference: the
// first blocks are the same ones.
func planDiffers(a, b *spec.Plan) string {
	fields := func(p *spec.Plan) map[string]json.RawMessage {
		same := *p
		same.Blocks, same.Limit = 0, 0
		var of map[string]json.RawMessage
		data, err := json.Marshal(same)
		if err == nil {
			err = json.Unmarshal(data, &of)
		}
		if err != nil {
			return nil
		}
		return of
	}
	x, y := fields(a), fields(b)
	for _, name := range slices.Sorted(maps.Keys(x)) {
		if string(x[name]) != string(y[name]) {
			return strings.TrimSuffix(name, "_ns")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(y)) {
		if _, both := x[name]; !both {
			return strings.TrimSuffix(name, "_ns")
		}
	}
	return ""
}
