package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/interop"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// operand is what one argument of compare stands for: as find has it, several files
// with commas between them, and a name before either.
func (l *library) operand(ctx context.Context, ref string) (side, error) {
	name, rest := "", ref
	if _, err := os.Stat(ref); err != nil {
		if n, r, ok := strings.Cut(ref, "="); ok && n != "" && !strings.ContainsAny(n, "/,") {
			name, rest = n, r
		}
	}
	parts := []string{rest}
	if _, err := os.Stat(rest); err != nil && strings.Contains(rest, ",") {
		parts = strings.Split(rest, ",")
	}
	var of side
	for _, part := range parts {
		one, err := l.find(ctx, part)
		if err != nil {
			return side{}, err
		}
		of.runs, of.damage = append(of.runs, one.runs...), append(of.damage, one.damage...)
		of.files = append(of.files, one.files...)
		if of.table == nil {
			of.table = one.table
		}
	}
	of.name = name
	return of, nil
}

// compared is the report on what the arguments stand for.
func compared(sides []side, claims []compare.Claim, opts compare.RunsOptions) (compare.Report, error) {
	for _, s := range sides {
		opts.Warnings = append(opts.Warnings, s.damage...)
	}
	posted := true
	for i := range sides {
		posted = posted && sides[i].imported()
	}
	switch {
	case len(sides) == 1:
		return comparedAlone(&sides[0], claims, opts)
	case posted && !slices.ContainsFunc(sides, func(s side) bool { return len(variantsIn(s.runs)) > 1 }):
		return comparedPosted(sides, claims, opts)
	case len(sides) > 2:
		return compare.Report{}, usageError("compare takes two of these, got %d: more than two can only be other programs' outputs without variants of their own", len(sides))
	case len(claims) > 0:
		return compare.Report{}, usageError("--claims is for other programs' outputs")
	}
	opts.Old, opts.New = sides[0].name, sides[1].name
	return compare.Runs(sides[0].runs, sides[1].runs, opts)
}

// imported says that all of the side's trials are other programs'.
func (s *side) imported() bool {
	for _, k := range s.runs {
		if len(k.Trials) == 0 && (k.Run.Plan != nil || len(s.files) == 0) {
			return false
		}
		if slices.ContainsFunc(k.Trials, func(t result.Trial) bool { return t.Imported == nil }) {
			return false
		}
	}
	return true
}

// comparedPosted compares other programs' outputs, a variant for each argument.
func comparedPosted(sides []side, claims []compare.Claim, opts compare.RunsOptions) (compare.Report, error) {
	var files []string
	for _, s := range sides {
		if len(s.files) > 0 {
			files = append(files, s.files[0])
		}
	}
	short := distinctNames(append(files, ".")[:max(len(files), 1)])
	var variants []compare.PostedVariant
	next := 0
	for _, s := range sides {
		name := s.name
		if len(s.files) > 0 {
			if name == "" {
				name = short[next]
			}
			next++
		}
		if name == "" {
			name = labelOf(s.runs)
		}
		variants = append(variants, compare.PostedVariant{Name: name, Kept: s.runs})
	}
	return compare.Posted(variants, compare.PostedOptions{Claims: claims, Margin: opts.Margin,
		Warnings: opts.Warnings, Command: opts.Command, Version: opts.Version})
}

// labelOf is what kept runs are called.
func labelOf(runs []compare.Kept) string {
	if runs[0].Run.Label != "" {
		return runs[0].Run.Label
	}
	return runs[0].Run.ID
}

// comparedAlone compares what varies within one argument.
func comparedAlone(s *side, claims []compare.Claim, opts compare.RunsOptions) (compare.Report, error) {
	variants := variantsIn(s.runs)
	switch run := &s.runs[0].Run; {
	case s.imported() && len(variants) > 1:
		return comparedTable(s, variants, claims, opts)
	case len(claims) > 0:
		return compare.Report{}, usageError("--claims is for other programs' outputs")
	case len(s.runs) == 1 && run.Plan != nil && !run.Plan.Single():
		return comparison(*run, s.runs[0].Trials)
	}
	var labels []string
	by := map[string][]compare.Kept{}
	for _, k := range s.runs {
		if by[k.Run.Label] == nil {
			labels = append(labels, k.Run.Label)
		}
		by[k.Run.Label] = append(by[k.Run.Label], k)
	}
	if len(labels) == 2 {
		return compare.Runs(by[labels[0]], by[labels[1]], opts)
	}
	return compare.Report{}, usageError("compare takes OLD and NEW, got one: there are no variants within it to compare")
}

// comparedTable compares the variants of one file or one kept import.
func comparedTable(s *side, variants []spec.Variant, claims []compare.Claim, opts compare.RunsOptions) (compare.Report, error) {
	o := compare.PostedOptions{Claims: claims, Margin: opts.Margin, Warnings: opts.Warnings, Command: opts.Command, Version: opts.Version}
	if s.table != nil {
		o.Title, o.Factors = s.table.Title, s.table.Factors
		for _, c := range s.table.Claims {
			o.Claims = append(o.Claims, compare.Claim(c))
		}
	}
	if len(o.Factors) == 0 {
		o.Factors = factorsOf(variants)
	}
	var all []compare.PostedVariant
	for _, v := range variants {
		of := compare.PostedVariant{Levels: v}
		for _, k := range s.runs {
			k.Trials = slices.DeleteFunc(slices.Clone(k.Trials), func(t result.Trial) bool { return fmt.Sprint(t.Variant) != fmt.Sprint(v) })
			of.Kept = append(of.Kept, k)
		}
		all = append(all, of)
	}
	return compare.Posted(all, o)
}

// variantsIn are the variants that the trials themselves name, in their order.
func variantsIn(runs []compare.Kept) []spec.Variant {
	var all []spec.Variant
	for _, k := range runs {
		for _, t := range k.Trials {
			if len(t.Variant) > 0 && !slices.ContainsFunc(all, func(v spec.Variant) bool { return fmt.Sprint(v) == fmt.Sprint(t.Variant) }) {
				all = append(all, t.Variant)
			}
		}
	}
	return all
}

// factorsOf are the factors that variants are of, by name, with their levels in the
// order in which they come.
func factorsOf(variants []spec.Variant) []spec.Factor {
	var all []spec.Factor
	for _, v := range variants {
		for name, level := range v {
			i := slices.IndexFunc(all, func(f spec.Factor) bool { return f.Name == name })
			if i < 0 {
				i = len(all)
				all = append(all, spec.Factor{Name: name})
			}
			if !slices.Contains(all[i].Levels, level) {
				all[i].Levels = append(all[i].Levels, level)
			}
		}
	}
	slices.SortFunc(all, func(a, b spec.Factor) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// readClaims reads what a post says of its figures.
func readClaims(name string) ([]compare.Claim, error) {
	data, err := readData(name)
	if err != nil {
		return nil, usageError("claims in %s: %w", name, err)
	}
	out, err := interop.Read(name, data)
	if err != nil {
		return nil, usageError("claims in %s: %w", name, err)
	}
	if out.Table == nil || len(out.Table.Claims) == 0 {
		why := ""
		if len(out.Problems) > 0 {
			why = ": " + problemList("", &out)
		}
		return nil, usageError("claims in %s: there are none%s", name, why)
	}
	var all []compare.Claim
	for _, c := range out.Table.Claims {
		all = append(all, compare.Claim(c))
	}
	return all, nil
}
