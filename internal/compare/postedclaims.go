package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Claim is what a post says that its figures show.
type Claim struct {
	// Says is its words.
	Says string
	// Test, Metric and End name the row, as the report names it; End may be empty, and
	// of the test its name may be enough.
	Test, Metric, End string
	// Under has levels of the other factors; nil where there are none.
	Under spec.Variant
	// Factor is what varies, Level and Against two of its levels.
	Factor, Level, Against string
	// Times is the claimed ratio of Level's figure to Against's, or 0; ChangePct the
	// claimed change in percent, where Times is 0.
	Times, ChangePct float64
	// AtLeast says that more than that is claimed too.
	AtLeast bool
	// WithinPct is how far the claim may be off in percent of what is found (of a
	// change: in percentage points) and still be borne; 0 stands for what rounding
	// to the digits of the claim does.
	WithinPct float64
	Line      int
}

// checks recomputes what is claimed.
func (p *posted) checks() []Check {
	var all []Check
	for _, c := range p.opts.Claims {
		all = append(all, p.check(c))
	}
	return all
}

func (p *posted) check(c Claim) Check {
	k := Check{Name: c.Says, Wanted: c.Times}
	if c.Times == 0 {
		k.Wanted, k.Unit = c.ChangePct/100, unit.Share
	}
	a, b, why := p.claimed(&c)
	if why == "" && (a <= 0 || b < 0) {
		why = "there is no ratio to zero"
	}
	if why != "" {
		k.Text = "not checked: " + why
		return k
	}
	found := b / a
	k.Within = rounding(c.Times)
	if c.WithinPct > 0 {
		k.Within = c.WithinPct / 100 * found
	}
	if c.Times == 0 {
		found, k.Within = b/a-1, rounding(c.ChangePct)/100
		if c.WithinPct > 0 {
			k.Within = c.WithinPct / 100
		}
	}
	k.Found = number(found)
	const noise = 1e-12 // of binary fractions
	off := found - k.Wanted
	k.Pass = math.Abs(off) <= k.Within+noise
	if c.AtLeast {
		further := off
		if k.Wanted < 0 || c.Times > 0 && c.Times < 1 {
			further = -off
		}
		k.Pass = k.Pass || further >= 0
	}
	return k
}

// rounding is how far a number may be off that is written with such digits.
func rounding(v float64) float64 {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	_, fraction, _ := strings.Cut(text, ".")
	return 0.5 * math.Pow(10, -float64(len(fraction)))
}

// claimed are the two figures that a claim is about, or why there are none.
func (p *posted) claimed(c *Claim) (against, level float64, why string) {
	factor := c.Factor
	if factor == "" || len(p.factors) == 1 {
		factor = p.factors[0].Name
	}
	i := slices.IndexFunc(p.factors, func(f spec.Factor) bool { return f.Name == factor })
	if i < 0 {
		return 0, 0, fmt.Sprintf("nothing varies that is called %q", factor)
	}
	at := spec.Variant{}
	for _, f := range p.factors {
		at[f.Name] = f.Levels[0]
		if l, ok := c.Under[f.Name]; ok {
			at[f.Name] = l
		}
		if !slices.Contains(f.Levels, at[f.Name]) {
			return 0, 0, fmt.Sprintf("%s has no level %q", f.Name, at[f.Name])
		}
	}
	for _, l := range []string{c.Level, c.Against} {
		if !slices.Contains(p.factors[i].Levels, l) {
			return 0, 0, fmt.Sprintf("%s has no level %q: valid are %s", factor, l, strings.Join(p.factors[i].Levels, ", "))
		}
	}
	test, taken, why := p.row(c)
	if why != "" {
		return 0, 0, why
	}
	read := func(l string) float64 {
		at[factor] = l
		return p.median(at, test, taken)
	}
	against, level = read(c.Against), read(c.Level)
	for _, x := range []struct {
		name  string
		value float64
	}{{c.Against, against}, {c.Level, level}} {
		if math.IsNaN(x.value) {
			return 0, 0, fmt.Sprintf("%s of %s has no figure with %s", c.Metric, c.Test, pairName(factor, x.name, at, p.factors))
		}
	}
	return against, level, ""
}

// row is the test and the figure that a claim names.
func (p *posted) row(c *Claim) (test spec.Test, taken result.Taken, why string) {
	type found struct {
		test  spec.Test
		taken result.Taken
	}
	var exact, near []found
	for _, x := range p.parties {
		for _, k := range x.kept {
			for _, t := range k.trials {
				for _, f := range t.Imported.Figures {
					if f.Metric != c.Metric || c.End != "" && f.End != c.End {
						continue
					}
					one := found{t.Test, f.Taken()}
					switch {
					case t.Test.Name == c.Test && !slices.Contains(exact, one):
						exact = append(exact, one)
					case (baseOf(t.Test) == c.Test || t.Imported.Name == c.Test) && !slices.Contains(near, one):
						near = append(near, one)
					}
				}
			}
		}
	}
	if len(exact) == 0 {
		exact = near
	}
	switch len(exact) {
	case 0:
		return test, taken, fmt.Sprintf("there is no %s of %s", c.Metric, c.Test)
	case 1:
		return exact[0].test, exact[0].taken, ""
	}
	return test, taken, fmt.Sprintf("%s of %s can be %d figures: name the test with its parameters, and the end", c.Metric, c.Test, len(exact))
}
