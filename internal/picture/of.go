package picture

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
)

// Of are the figures that a document bears, in the order in which a page shows them.
func Of(d *compare.Document) []Figure {
	all := slices.Concat(forests(d), staged(d), distributions(d), overTime(d), sweeps(d), costs(d), singles(d))
	taken := map[string]int{}
	for i := range all {
		name := all[i].Name
		taken[name]++
		if n := taken[name]; n > 1 {
			all[i].Name = fmt.Sprintf("%s-%d", name, n)
		}
	}
	return all
}

// Names are what figures can be asked for by.
func Names(all []Figure) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// Named are the figures of a name, or all whose name begins with it and a point: "ecdf"
// is every "ecdf.TEST".
func Named(all []Figure, name string) ([]Figure, error) {
	var found []Figure
	for _, f := range all {
		if f.Name == name {
			return []Figure{f}, nil
		}
		if strings.HasPrefix(f.Name, strings.TrimSuffix(name, ".")+".") {
			found = append(found, f)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(all) == 0:
		return nil, fmt.Errorf("there is nothing here that can be drawn, and no figure %q", name)
	}
	return nil, fmt.Errorf("there is no figure %q: those there are are %s", name, strings.Join(Names(all), ", "))
}

// safe makes a part of a figure's name of any text.
func safe(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '=', r == '-':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-.")
}

// nameOf is the name of a figure of a test, under conditions where there are some.
func nameOf(kind, test, under string, more ...string) string {
	parts := []string{kind, safe(test)}
	for _, m := range append([]string{under}, more...) {
		if m = safe(m); m != "" {
			parts = append(parts, m)
		}
	}
	return strings.Join(parts, ".")
}

// titled is a title with what the figure is under.
func titled(title, under string) string {
	if under == "" {
		return title
	}
	return title + ", " + under
}

// group is the trials of one test under one set of conditions, by variant.
type group struct {
	test, under string
	// variants have the trials of each, at the variant's place; empty for those that
	// have none.
	variants [][]compare.Of
}

// groups are the document's trials, in the order of their tests.
func groups(d *compare.Document) (all []*group, names []string) {
	names = d.Variants()
	for _, o := range d.Trials() {
		test := o.Trial.Test.String()
		i := slices.IndexFunc(all, func(g *group) bool { return g.test == test && g.under == o.Under })
		if i < 0 {
			i = len(all)
			all = append(all, &group{test: test, under: o.Under, variants: make([][]compare.Of, max(1, len(names)))})
		}
		all[i].variants[o.At] = append(all[i].variants[o.At], o)
	}
	slices.SortStableFunc(all, func(a, b *group) int { return result.Natural(a.test+"\x00"+a.under, b.test+"\x00"+b.under) })
	return all, names
}

// variantName is a variant's, or something for a single run.
func variantName(names []string, at int) string {
	if at < len(names) && names[at] != "" {
		return names[at]
	}
	return "this run"
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// or is what a nullable number holds, NaN for null.
func or(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}
