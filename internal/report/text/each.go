package text

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/spec"
)

// mostEach is how many round trips of a variant are listed.
const mostEach = 200

// each lists round trips one by one, a paragraph a variant: as many of each test.
func each(r *compare.Report) [][]string {
	var all [][]string
	for _, items := range eachVariant(r) {
		all = append(all, lay(items))
	}
	return all
}

// eachVariant is their title, and then the items of each variant.
func eachVariant(r *compare.Report) [][]Item {
	var tests []spec.Test
	var variants []string
	for _, e := range r.Each {
		if of := testOf(e); !slices.Contains(tests, of) {
			tests = append(tests, of)
		}
		if !slices.Contains(variants, e.Variant) {
			variants = append(variants, e.Variant)
		}
	}
	if len(tests) == 0 {
		return nil
	}
	slices.SortStableFunc(variants, func(a, b string) int { return slices.Compare(places(r, a), places(r, b)) })
	title := "Round trips one by one, in us"
	if len(tests) == 1 {
		title += ": " + tests[0].String()
	}
	all := [][]Item{{titled(title)}}
	for _, v := range variants {
		var mine []Item
		more := 0
		for _, of := range tests {
			left := max(1, mostEach/len(tests))
			for _, e := range inBlocks(r.Each, of, v) {
				n := min(left, len(e.RTT))
				left, more = left-n, more+len(e.RTT)-n
				if n == 0 {
					continue
				}
				name := fmt.Sprintf("%s, block %d:", v, e.Block+1)
				if len(tests) > 1 {
					name = fmt.Sprintf("%s, block %d, %s:", v, e.Block+1, of)
				}
				mine = append(mine, hanging(name+" "+list1by1(e.RTT[:n])))
			}
		}
		if more > 0 {
			mine = append(mine, hanging(fmt.Sprintf("%s: %d more, all in --format json", v, more)))
		}
		all = append(all, mine)
	}
	return all
}

func testOf(e compare.Each) spec.Test { return spec.Test{Name: e.Test, Params: e.Params} }

// inBlocks are those of a test and variant, by block.
func inBlocks(all []compare.Each, of spec.Test, variant string) []compare.Each {
	mine := slices.DeleteFunc(slices.Clone(all), func(e compare.Each) bool { return testOf(e) != of || e.Variant != variant })
	slices.SortStableFunc(mine, func(a, b compare.Each) int { return a.Block - b.Block })
	return mine
}

// places are those of a variant's levels among their factors', so that variants can
// be told in the plan's order.
func places(r *compare.Report, variant string) []int {
	if len(r.Factors) == 1 {
		return []int{slices.Index(r.Factors[0].Levels, variant)}
	}
	parts := strings.Fields(variant)
	var all []int
	for _, f := range r.Factors {
		all = append(all, slices.IndexFunc(f.Levels, func(l string) bool { return slices.Contains(parts, f.Name+"="+l) }))
	}
	return all
}

// list1by1 writes round trips; one that was given up is lost.
func list1by1(rtt []int64) string {
	words := make([]string, len(rtt))
	for i, ns := range rtt {
		if words[i] = "lost"; ns >= 0 {
			words[i] = inUS(float64(ns))
		}
	}
	return strings.Join(words, " ")
}
