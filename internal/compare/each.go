package compare

import (
	"cmp"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// eachOf are the round trips that were kept one by one, of every trial that kept
// any, in the order in which trials ran. Of several attempts at a trial the last
// counts.
func eachOf(plan *spec.Plan, trials []result.Trial) []Each {
	last := map[place]*result.Trial{}
	for i := range trials {
		x := &trials[i]
		at := place{x.Block, x.Test.String(), x.Variant.Key(plan.Factors)}
		if o := last[at]; o == nil || o.Attempt <= x.Attempt {
			last[at] = x
		}
	}
	var kept []*result.Trial
	for _, x := range last {
		if len(x.Local.Each) > 0 {
			kept = append(kept, x)
		}
	}
	slices.SortFunc(kept, func(a, b *result.Trial) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Block, b.Block), cmp.Compare(a.Test.String(), b.Test.String()),
			cmp.Compare(a.Variant.Key(plan.Factors), b.Variant.Key(plan.Factors)))
	})
	var all []Each
	for _, x := range kept {
		e := Each{Test: x.Test.Name, Params: x.Test.Params, Variant: x.Variant.Key(plan.Factors), Block: x.Block, RTT: x.Local.Each}
		if len(plan.Factors) == 1 {
			e.Variant = x.Variant[plan.Factors[0].Name]
		}
		e.Of = max(x.Local.Messages, int64(len(e.RTT)))
		if n, ok := x.Local.Counts["sent"]; ok {
			e.Of = max(e.Of, n)
		}
		all = append(all, e)
	}
	return all
}
