package stages

import (
	"cmp"
	"slices"

	"netdelta/internal/result"
)

// trip is a round trip with what is known of its places: when it was at each, in ns of
// the local end's clock since the request was sent.
type trip struct {
	n      int64
	at     int64 // of the local end's clock
	length int64
	times  [places]int64
	known  [places]bool
	marks  []result.Mark // all, in the order of time
	// lengths of what the far end took, where it has a clock of its own: from a place
	// to another, both its own.
	offset int64 // what was added to the far end's times
	// outside is the time between the interfaces, both ways, by their own stamps; 0
	// where they make none.
	outside int64
}

// set says when a place was passed. What is sent is looked at as it begins, what is
// received as it ends: of a message in several packets the first sent counts, and the
// last received.
func (t *trip) set(p place, at int64) {
	if t.known[p] {
		if first := p.point() <= result.PointXmit; first == (t.times[p] <= at) {
			return
		}
	}
	t.times[p], t.known[p] = at, true
}

// put takes a mark, which is of a place at the end that saw it or at both.
func (t *trip) put(m result.Mark) {
	if m.Point < result.Points {
		t.set(placeOf(m.Leg, m.Point), m.At)
	}
	t.marks = append(t.marks, m)
}

// joined puts together what both ends saw of the same round trips.
func joined(local, remote *result.Seen) (trips []trip, rest int) {
	if local == nil {
		return nil, 0
	}
	of := map[int64]*result.SeenTrip{}
	if remote != nil {
		for i := range remote.Trips {
			of[remote.Trips[i].N] = &remote.Trips[i]
		}
	}
	one := remote != nil && local.OneClock && remote.OneClock
	for i := range local.Trips {
		s := &local.Trips[i]
		t := trip{n: s.N, at: s.At, length: s.Length}
		t.set(first, 0)
		t.set(last, s.Length)
		for _, m := range s.Marks {
			t.put(m)
		}
		far := of[s.N]
		if one {
			far = within(remote.Trips, s.At, s.At+s.Length)
		}
		switch {
		case far != nil && one:
			t.between(s, far)
			for _, m := range far.Marks {
				m.At += far.At - s.At
				t.put(m)
			}
		case far == nil && remote != nil:
			rest++
			continue // the far end did not see it
		}
		slices.SortStableFunc(t.marks, func(a, b result.Mark) int { return cmp.Compare(a.At, b.At) })
		trips = append(trips, t)
	}
	return trips, rest
}

// between takes what the interfaces themselves have stamped.
func (t *trip) between(near, far *result.SeenTrip) {
	if near.Hardware > 0 && far.Hardware > 0 {
		t.outside = max(0, near.Hardware-far.Hardware)
	}
}

// within is the one round trip of the far end that lies in a time; nil where there is
// none, or are several.
func within(trips []result.SeenTrip, from, to int64) *result.SeenTrip {
	i, _ := slices.BinarySearchFunc(trips, from, func(t result.SeenTrip, at int64) int { return cmp.Compare(t.At, at) })
	if i >= len(trips) || trips[i].At > to || i+1 < len(trips) && trips[i+1].At <= to {
		return nil
	}
	return &trips[i]
}

// lead is how much of the round trips has to have a place for it to be one that others
// lack: less, and it is no place of this test's.
const lead = 0.5

// some is how much has to have a place that round trips may do without.
const some = 0.02

// Taken is the set of places that divide the round trips of a test.
type Taken [places]bool

// takenOf are the places that most of a trial's round trips have.
func takenOf(trips []trip) (t Taken) {
	for p := range places {
		n := 0
		for i := range trips {
			if trips[i].known[p] {
				n++
			}
		}
		least := lead
		if segments[p.point()].missing != unknown {
			least = some
		}
		t[p] = n > 0 && float64(n) >= least*float64(len(trips))
	}
	return t
}

// both are the places by which round trips of either can be divided: where a round trip
// may do without a place, it is one of both.
func (t Taken) both(o Taken) Taken {
	for p := range places {
		if segments[p.point()].missing != unknown {
			t[p] = t[p] || o[p]
		} else {
			t[p] = t[p] && o[p]
		}
	}
	return t
}
