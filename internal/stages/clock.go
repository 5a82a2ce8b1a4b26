package stages

import (
	"slices"

	"netdelta/internal/result"
)

// Clock is what is known of how two hosts' clocks stand to each other, from the round
// trips themselves: a message that goes there and back is under way as long as both
// ways together take, and how that is shared out is not known. Where the faster round
// trips' ways are equal the offset is Offset; it can be off by Error at the most.
type Clock struct {
	Offset int64 `json:"offset_ns"` // far end's clock less the near one's
	Error  int64 `json:"error_ns"`
	Pairs  int   `json:"pairs"`
}

// across puts together what two hosts with clocks of their own saw of the same round
// trips, by number. The far end's times are laid into the near end's by the offset
// that the quickest round trips tell, so what is between the hosts is right in its sum,
// and of each way alone no more is known than Error.
func across(local, remote *result.Seen) (trips []trip, alone int, clock *Clock) {
	of := map[int64]*result.SeenTrip{}
	for i := range remote.Trips {
		of[remote.Trips[i].N] = &remote.Trips[i]
	}
	type pair struct{ near, far *result.SeenTrip }
	var pairs []pair
	var bounds []bound
	for i := range local.Trips {
		s := &local.Trips[i]
		far := of[s.N]
		if far == nil {
			alone++
			continue
		}
		if b, ok := boundOf(s, far); ok {
			bounds = append(bounds, b)
			pairs = append(pairs, pair{s, far})
		} else {
			alone++
		}
	}
	if len(bounds) == 0 {
		return nil, alone, nil
	}
	clock = clockOf(bounds)
	for k, p := range pairs {
		t := trip{n: p.near.N, at: p.near.At, length: p.near.Length}
		t.between(p.near, p.far)
		t.set(first, 0)
		t.set(last, p.near.Length)
		for _, m := range p.near.Marks {
			t.put(m)
		}
		// The clocks drift against each other: each round trip's own bounds hold.
		t.offset = min(max(clock.Offset, bounds[k].low), bounds[k].high)
		for _, m := range p.far.Marks {
			m.At += p.far.At - t.offset - p.near.At
			t.put(m)
		}
		slices.SortStableFunc(t.marks, func(a, b result.Mark) int { return int(a.At - b.At) })
		trips = append(trips, t)
	}
	return trips, alone, clock
}

// bound is what one round trip says of the offset: between low and high.
type bound struct{ low, high int64 }

// boundOf: the request came in after it was sent, and the answer in the same way.
func boundOf(near, far *result.SeenTrip) (bound, bool) {
	edge := func(t *result.SeenTrip, leg int, out bool, fallback int64) int64 {
		at, found := fallback, false
		for _, m := range t.Marks {
			sends := m.Point <= result.PointXmit
			if m.Leg != leg || sends != out || m.Point >= result.Points {
				continue
			}
			later := m.At > at
			if !found || later == out { // the last before the wire, the first behind it
				at, found = m.At, true
			}
		}
		return t.At + at
	}
	t1 := edge(near, result.LegRequest, true, 0)
	t2 := edge(far, result.LegRequest, false, 0)
	t3 := edge(far, result.LegAnswer, true, far.Length)
	t4 := edge(near, result.LegAnswer, false, near.Length)
	b := bound{low: t3 - t4, high: t2 - t1}
	return b, b.low <= b.high
}

// clockOf is what all round trips together say: the quickest bound the most. Where no
// offset satisfies all, since the clocks drift, the middle of the narrowest is taken
// and its half is the error.
func clockOf(bounds []bound) *Clock {
	best := slices.MinFunc(bounds, func(a, b bound) int { return int((a.high - a.low) - (b.high - b.low)) })
	return &Clock{Offset: best.low + (best.high-best.low)/2, Error: (best.high - best.low + 1) / 2, Pairs: len(bounds)}
}
