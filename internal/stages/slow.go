package stages

import (
	"cmp"
	"slices"

	"netdelta/internal/result"
)

// mostSlow is how many of a variant's longest round trips are told of.
const mostSlow = 3

// Slow is one of the longest round trips that were watched.
type Slow struct {
	Block   int     `json:"block"` // from 0
	N       int64   `json:"n"`
	TotalNS int64   `json:"total_ns"`
	PartsNS []int64 `json:"parts_ns"`
	// Ran are the threads that the round trip's own had to wait for, or that handled its
	// frames, where they were.
	Ran []Ran `json:"ran,omitempty"`
}

// Ran is what ran on a CPU when a message of the round trip came there.
type Ran struct {
	Leg int    `json:"leg"` // result.LegRequest or LegAnswer
	End string `json:"end"`
	// Point is what it did: "stack", it handled the frame; "run", it ran before the
	// thread that was woken; "back", it ran when that thread could have.
	Point string `json:"point"`
	CPU   int    `json:"cpu"`
	Task  string `json:"task"`
	ForNS int64  `json:"for_ns,omitempty"` // for so long, if that is known
}

// slowest are the longest of all trials.
func slowest(t *Table, all []*one) []Slow {
	type at struct {
		o *one
		i int
	}
	var order []at
	for _, o := range all {
		for i := range o.read.trips {
			order = append(order, at{o, i})
		}
	}
	length := func(a at) int64 { return a.o.read.trips[a.i].length }
	slices.SortStableFunc(order, func(a, b at) int { return cmp.Compare(length(b), length(a)) })
	var slow []Slow
	taken := takenBy(t.Stages)
	for _, a := range order[:min(mostSlow, len(order))] {
		trip := &a.o.read.trips[a.i]
		s := Slow{Block: a.o.block, N: trip.n, TotalNS: trip.length, PartsNS: trip.divide(&taken, t.Stages)}
		for _, m := range trip.marks {
			if m.Task != "" && (m.Point == result.PointStack || m.Point == result.PointRun || m.Point == result.PointBack) {
				s.Ran = append(s.Ran, Ran{Leg: m.Leg, End: endOf(m), Point: m.Point.String(), CPU: m.CPU, Task: m.Task, ForNS: m.For})
			}
		}
		slow = append(slow, s)
	}
	return slow
}

// endOf is where a mark was taken: a thread that is kept from running is the one that
// receives.
func endOf(m result.Mark) string {
	return placeOf(m.Leg, min(m.Point, result.PointReturn)).end()
}

// takenBy are the places that stages lie between.
func takenBy(all []Stage) (t Taken) {
	t[first] = true
	for i := range all[:len(all)-1] {
		t[all[i].to] = true
	}
	return t
}
