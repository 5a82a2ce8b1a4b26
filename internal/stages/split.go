package stages

import (
	"netdelta/internal/result"
)

// Stage is a part of the way.
type Stage struct {
	// Name is what it is called in a table, Between the end of a sentence about it.
	Name    string `json:"stage"`
	Between string `json:"-"`
	// Leg is result.LegRequest or result.LegAnswer, of where it begins; End is where it
	// is, empty for what is between both or in both.
	Leg int    `json:"leg"`
	End string `json:"end,omitempty"`
	// Rest says that it is what could not be attributed to any other.
	Rest bool `json:"rest,omitempty"`

	from, to place
}

// Label is its name in a table of both legs: > stands for the request's way, < for the
// answer's.
func (s *Stage) Label() string {
	switch {
	case s.Rest:
		return s.Name
	case s.Leg == result.LegAnswer:
		return "< " + s.Name
	}
	return "> " + s.Name
}

// stagesOf are the stages between the places that are taken, and the rest.
func stagesOf(t *Taken) []Stage {
	var all []Stage
	from := first
	for p := first + 1; p < places; p++ {
		if !t[p] {
			continue
		}
		s := Stage{Leg: from.leg(), End: where(from, p), from: from, to: p}
		s.Name, s.Between = nameOf(from, p)
		all = append(all, s)
		from = p
	}
	return append(all, Stage{Name: "not attributed", Between: "in what could not be attributed", Rest: true})
}

// divide gives each stage its time of a round trip, in ns: they add up to its length.
func (t *trip) divide(taken *Taken, all []Stage) []int64 {
	times, known := t.filled(taken)
	parts := make([]int64, len(all))
	rest := len(all) - 1
	at := int64(0)
	since := first // the last place that is known
	for i := range all[:rest] {
		s := &all[i]
		if !known[s.to] {
			continue
		}
		to := min(max(times[s.to], at), t.length)
		if since == s.from {
			parts[i] += to - at
		} else {
			parts[rest] += to - at
		}
		at, since = to, s.to
	}
	return parts
}

// filled are a round trip's times with those of the places that it may do without.
func (t *trip) filled(taken *Taken) (times [places]int64, known [places]bool) {
	times, known = t.times, t.known
	for p := range places {
		known[p] = known[p] && taken[p]
	}
	// A handler that began before the frame was sent was at something else then, and
	// nobody was told of the frame.
	var sent int64
	for p := range places {
		switch {
		case !known[p]:
		case p.point() == result.PointXmit:
			sent = times[p]
		case (p.point() == result.PointArrive || p.point() == result.PointHandle) && times[p] < sent:
			known[p] = false
		}
	}
	for p := places - 1; p >= 0; p-- {
		if taken[p] && !known[p] && segments[p.point()].missing == asNext && p < last {
			if next := nextTaken(taken, p); known[next] {
				times[p], known[p] = times[next], true
			}
		}
	}
	for p := range places {
		if taken[p] && !known[p] && segments[p.point()].missing == asBefore && p > first {
			if before := takenBefore(taken, p); known[before] {
				times[p], known[p] = times[before], true
			}
		}
	}
	return times, known
}

func nextTaken(t *Taken, p place) place {
	for p++; p < last && !t[p]; p++ {
	}
	return p
}

func takenBefore(t *Taken, p place) place {
	for p--; p > first && !t[p]; p-- {
	}
	return p
}
