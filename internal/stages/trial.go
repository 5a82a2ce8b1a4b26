package stages

import (
	"cmp"
	"math"
	"slices"

	"netdelta/internal/result"
)

// Trial is what one trial's watched round trips tell.
type Trial struct {
	// By is what told: result.SeenByBPF and so on. Both ends' where they differ.
	By string
	// Watched is how many round trips there are, Alone how many more the far end did
	// not see, Lost how many events were.
	Watched, Alone int
	Lost           int64
	Clock          *Clock // nil where both ends have one clock

	trips []trip
	taken Taken
}

// Read puts together what both ends of a trial saw; nil if there is nothing.
func Read(t *result.Trial) *Trial {
	local := t.Local.Seen
	if local == nil || len(local.Trips) == 0 {
		return nil
	}
	var remote *result.Seen
	if t.Remote != nil {
		remote = t.Remote.Seen
	}
	s := &Trial{By: local.By, Lost: local.Lost}
	if remote != nil {
		s.Lost += remote.Lost
		if remote.By != local.By && remote.By != result.SeenByClock {
			s.By += " and " + remote.By
		}
	}
	if remote != nil && (!local.OneClock || !remote.OneClock) {
		s.trips, s.Alone, s.Clock = across(local, remote)
	} else {
		s.trips, s.Alone = joined(local, remote)
	}
	if len(s.trips) == 0 {
		return nil
	}
	s.Watched = len(s.trips)
	s.taken = takenOf(s.trips)
	return s
}

// typical is the share of round trips, the shortest and the longest, that are left out
// of what stands for a trial: the middle half, which lies around the median.
const typical = 0.25

// means are the stages' mean times in ns over the middle half of the round trips by
// their lengths, and the mean of these lengths. The former add up to the latter.
func (s *Trial) means(taken *Taken, all []Stage) (parts []float64, length float64) {
	order := s.byLength()
	cut := int(math.Floor(typical * float64(len(order))))
	order = order[cut : len(order)-cut]
	parts = make([]float64, len(all))
	for _, i := range order {
		t := &s.trips[i]
		for k, ns := range t.divide(taken, all) {
			parts[k] += float64(ns)
		}
		length += float64(t.length)
	}
	for k := range parts {
		parts[k] /= float64(len(order))
	}
	return parts, length / float64(len(order))
}

// outside is the mean time between the interfaces, both ways, over those round trips of
// which they tell; nil for none.
func (s *Trial) outside() *float64 {
	sum, n := 0.0, 0
	for i := range s.trips {
		if t := &s.trips[i]; t.outside > 0 {
			sum += float64(t.outside)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	sum /= float64(n)
	return &sum
}

// byLength are the round trips' places in order of their lengths.
func (s *Trial) byLength() []int {
	order := make([]int, len(s.trips))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.trips[a].length, s.trips[b].length), cmp.Compare(a, b))
	})
	return order
}
