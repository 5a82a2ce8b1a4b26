package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netdelta/internal/result"
)

// Kept is a run with its trials, as a store or a file has them.
type Kept struct {
	Run    result.Run
	Trials []result.Trial
}

// party is one side of a comparison between separate runs.
type party struct {
	name   string
	letter string // as in Source.Side
	kept   []*keptRun
	// ignoresVariant says that each run has one variant, which then is what
	// the run stands for and not something that its rows are apart by.
	ignoresVariant bool
}

// keptRun is a run with those of its trials that count, in their order.
type keptRun struct {
	result.Run
	trials   []*result.Trial
	watched  []*result.Trial // those in which round trips were watched: they are no figures
	variants []string        // keys of the variants, sorted
}

// newParties makes the two sides and names them.
func newParties(old, new []Kept, opts *RunsOptions) (a, b *party, err error) {
	a, b = &party{name: opts.Old, letter: "a"}, &party{name: opts.New, letter: "b"}
	seen := map[string]bool{}
	several := false
	for _, p := range []struct {
		*party
		from []Kept
		what string
	}{{a, old, "old"}, {b, new, "new"}} {
		for i := range p.from {
			k, err := newKeptRun(&p.from[i])
			if err != nil {
				return nil, nil, err
			}
			if seen[k.ID] {
				return nil, nil, fmt.Errorf("run %s is given twice: a run counts once, and not against itself", k.ID)
			}
			seen[k.ID] = true
			several = several || len(k.variants) > 1
			p.kept = append(p.kept, k)
		}
		if p.trials() == 0 {
			return nil, nil, fmt.Errorf("%w on the %s side: its %s no trial", ErrNothingInCommon, p.what, have(len(p.kept)))
		}
	}
	a.ignoresVariant, b.ignoresVariant = !several, !several
	return a, b, nameParties(a, b)
}

func have(runs int) string {
	if runs == 1 {
		return "run has"
	}
	return fmt.Sprintf("%d runs have", runs)
}

// nameParties gives each side without a name that of its label, or its ids
// where that does not tell the sides apart.
func nameParties(a, b *party) error {
	given := [2]bool{a.name != "", b.name != ""}
	for _, p := range []*party{a, b} {
		if p.name == "" {
			p.name = p.label()
		}
	}
	alike := a.name == b.name
	if alike && given[0] && given[1] {
		return fmt.Errorf("both sides are called %q: give them names that tell them apart", a.name)
	}
	for i, p := range []*party{a, b} {
		if p.name == "" || alike && !given[i] {
			p.name = p.ids()
		}
	}
	return nil
}

// label is the one that all runs have, or none.
func (p *party) label() string {
	for _, k := range p.kept {
		if k.Label != p.kept[0].Label {
			return ""
		}
	}
	return p.kept[0].Label
}

// ids names a side by its first run and how many there are beside it.
func (p *party) ids() string {
	if len(p.kept) == 1 {
		return p.kept[0].ID
	}
	return fmt.Sprintf("%s+%d", p.kept[0].ID, len(p.kept)-1)
}

func (p *party) trials() int {
	n := 0
	for _, k := range p.kept {
		n += len(k.trials)
	}
	return n
}

// place is what a trial was to be; attempts at one trial share it.
type place struct {
	block         int
	test, variant string
}

// newKeptRun picks the trials that count: of several attempts at one trial the
// last. Trials of one place and attempt are several all the same, since an
// import may know of no blocks.
func newKeptRun(k *Kept) (*keptRun, error) {
	last := map[place]int{}
	placeOf := func(x *result.Trial) place { return place{x.Block, x.Test.String(), variantKey(x)} }
	for i := range k.Trials {
		x := &k.Trials[i]
		last[placeOf(x)] = max(last[placeOf(x)], x.Attempt)
	}
	type identity struct {
		place
		order int
		start time.Time
	}
	run := &keptRun{Run: k.Run}
	seen := map[identity]bool{}
	for i := range k.Trials {
		x := &k.Trials[i]
		at := placeOf(x)
		if x.Attempt < last[at] {
			continue
		}
		id := identity{at, x.Order, x.Start.UTC()}
		if seen[id] {
			return nil, fmt.Errorf("run %s has trial %d (%q) twice: each trial counts once", k.Run.ID, x.Order, x.Test)
		}
		seen[id] = true
		if x.Test.Watched() {
			run.watched = append(run.watched, x)
			continue
		}
		run.trials = append(run.trials, x)
		if !slices.Contains(run.variants, at.variant) {
			run.variants = append(run.variants, at.variant)
		}
	}
	slices.SortStableFunc(run.trials, func(x, y *result.Trial) int {
		return cmp.Or(cmp.Compare(x.Order, y.Order), x.Start.Compare(y.Start))
	})
	slices.Sort(run.variants)
	return run, nil
}

// variantKey writes a variant without its plan: factors in alphabetical order.
func variantKey(x *result.Trial) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(x.Variant)) {
		parts = append(parts, name+"="+x.Variant[name])
	}
	return strings.Join(parts, " ")
}
