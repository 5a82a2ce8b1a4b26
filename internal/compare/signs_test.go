package compare

import (
	"slices"
	"strings"

	"netdelta/internal/spec"
)

// meanName stands in a group of aliases for the mean of all variants.
const meanName = "(mean)"

// aliasesBySigns returns the groups of effects that the chosen variants can't tell
// apart, each by names such as "gro" and "tso:threads", of interactions of up to
// order factors; nil where all variants are run. An effect in a group with meanName
// can't be seen at all. Of factors with more than two levels the effects are
// those of each level against the baseline, "size=big".
func aliasesBySigns(p *spec.Plan, order int) [][]string {
	if p.Chosen == nil {
		return nil
	}
	effects := []signs{{meanName, slices.Repeat([]int{1}, len(p.Chosen))}}
	from := [][]signs{effects}
	for _, f := range p.Factors {
		mains := mainColumns(p, f)
		// What has fewer factors before this one is crossed with it; highest first, so
		// that no factor meets itself.
		for n := min(len(from), order); n >= 1; n-- {
			for _, e := range from[n-1] {
				for _, m := range mains {
					if n == len(from) {
						from = append(from, nil)
					}
					from[n] = append(from[n], e.times(m))
				}
			}
		}
	}
	var groups [][]string
	of := map[string]int{}
	for _, columns := range from {
		for _, c := range columns {
			key := c.key()
			i, known := of[key]
			if !known {
				i = len(groups)
				of[key] = i
				groups = append(groups, nil)
			}
			groups[i] = append(groups[i], c.name)
		}
	}
	var aliased [][]string
	for _, g := range groups {
		if len(g) > 1 {
			aliased = append(aliased, g)
		}
	}
	return aliased
}

// signs is what an effect weighs each chosen variant with.
type signs struct {
	name   string
	weight []int
}

// mainColumns are those of a factor's levels but the baseline.
func mainColumns(p *spec.Plan, f spec.Factor) []signs {
	var all []signs
	base := p.Baseline[f.Name]
	for _, l := range f.Levels {
		if l == base {
			continue
		}
		c := signs{f.Name, make([]int, len(p.Chosen))}
		if len(f.Levels) > 2 {
			c.name += "=" + l
		}
		for i, v := range p.Chosen {
			switch v[f.Name] {
			case base:
				c.weight[i] = -1
			case l:
				c.weight[i] = 1
			}
		}
		all = append(all, c)
	}
	return all
}

// times is the interaction of two effects.
func (c signs) times(d signs) signs {
	product := signs{d.name, make([]int, len(c.weight))}
	if c.name != meanName {
		product.name = c.name + ":" + d.name
	}
	for i := range c.weight {
		product.weight[i] = c.weight[i] * d.weight[i]
	}
	return product
}

// key is the same for two effects that are one, whatever their signs. What has
// no weight anywhere can't be seen, as what is the same everywhere.
func (c signs) key() string {
	if !slices.ContainsFunc(c.weight, func(w int) bool { return w != 0 }) {
		return strings.Repeat("2", len(c.weight))
	}
	sign := 0
	var b strings.Builder
	for _, w := range c.weight {
		if sign == 0 {
			sign = w
		}
		b.WriteByte(byte('1' + w*sign)) // 0, 1 or 2
	}
	return b.String()
}
