package stages

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"netdelta/internal/result"
)

// Of each test under each variant so many round trips are in a trace: the longest, and
// those around the median.
const (
	tracedLong    = 10
	tracedTypical = 10
)

// chromeEvent is one event of the Trace Event Format, which Perfetto and chrome://tracing
// read (Google, Trace Event Format, "Complete Events" and "Metadata Events"). Times are
// in us.
type chromeEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	At    float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"`
	Proc  int            `json:"pid"`
	Track int            `json:"tid"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Tracks of a process, one for each test under each variant.
const (
	trackWhole = 1 + iota
	trackLocal
	trackBetween
	trackRemote
)

// Chrome writes single round trips with their stages in the Trace Event Format. What
// lies between round trips is left out: each begins where the one before ended, with a
// tenth of its length between; when it really was is among its arguments. It says how
// many there are.
func Chrome(w io.Writer, all []Of) (trips int, err error) {
	type key struct{ test, under, variant string }
	var order []key
	groups := map[key][]*one{}
	for _, o := range all {
		if !o.Trial.Test.Watched() {
			continue
		}
		if read := Read(o.Trial); read != nil {
			k := key{o.Trial.Test.Unwatched().String(), o.Under, o.Variant}
			if groups[k] == nil {
				order = append(order, k)
			}
			groups[k] = append(groups[k], &one{block: o.Trial.Block, read: read, trial: o.Trial})
		}
	}
	var events []chromeEvent
	for i, k := range order {
		name := k.test
		for _, more := range []string{k.under, k.variant} {
			if more != "" {
				name += ", " + more
			}
		}
		c := chrome{proc: i + 1}
		c.meta("process_name", 0, name)
		for track, name := range []string{trackWhole: "round trip", trackLocal: "local end", trackBetween: "between", trackRemote: "remote end"} {
			if name != "" {
				c.meta("thread_name", track, name)
			}
		}
		trips += c.group(groups[k])
		events = append(events, c.events...)
	}
	e := json.NewEncoder(w)
	return trips, e.Encode(map[string]any{"displayTimeUnit": "ns", "traceEvents": slices.Concat([]chromeEvent{}, events)})
}

// chrome is one process of a trace in the making.
type chrome struct {
	proc   int
	events []chromeEvent
	now    int64 // ns
}

func (c *chrome) meta(what string, track int, name string) {
	c.events = append(c.events, chromeEvent{Name: what, Phase: "M", Proc: c.proc, Track: track, Args: map[string]any{"name": name}})
}

// group adds the round trips of one test under one variant.
func (c *chrome) group(all []*one) int {
	t, ok := tableOf([][]*one{all})
	if !ok {
		return 0
	}
	taken := takenBy(t.Stages)
	type at struct {
		o *one
		t *trip
	}
	var order []at
	for _, o := range all {
		for i := range o.read.trips {
			order = append(order, at{o, &o.read.trips[i]})
		}
	}
	slices.SortStableFunc(order, func(a, b at) int { return int(min(max(a.t.length-b.t.length, -1), 1)) })
	chosen := order
	if n := len(order); n > tracedLong+tracedTypical {
		middle := max(0, (n-tracedLong)/2-tracedTypical/2)
		chosen = slices.Concat(order[middle:middle+tracedTypical], order[n-tracedLong:])
	}
	for _, a := range chosen {
		c.trip(&t, &taken, a.o, a.t)
	}
	return len(chosen)
}

func (c *chrome) trip(t *Table, taken *Taken, o *one, r *trip) {
	us := func(ns int64) float64 { return float64(ns) / 1000 }
	add := func(name, cat string, track int, at, length int64, args map[string]any) {
		dur := us(length)
		c.events = append(c.events, chromeEvent{Name: name, Cat: cat, Phase: "X", At: us(c.now + at), Dur: &dur, Proc: c.proc, Track: track, Args: args})
	}
	add(fmt.Sprintf("round trip %d", r.n), "trip", trackWhole, 0, r.length,
		map[string]any{"block": o.block + 1, "number": r.n, "monotonic_ns": r.at, "told by": o.read.By})
	at := int64(0)
	parts := r.divide(taken, t.Stages)
	for k := range t.Stages {
		s := &t.Stages[k]
		if parts[k] == 0 {
			continue
		}
		track := trackBetween
		switch {
		case s.Rest:
			continue // it may be several, anywhere: what is left open
		case s.End == result.Local:
			track = trackLocal
		case s.End == result.Remote:
			track = trackRemote
		}
		// What is not attributed before it leaves a gap.
		begin := max(at, min(r.times[s.to], r.length)-parts[k])
		if !r.known[s.to] {
			begin = at
		}
		add(s.Name, "stage", track, begin, parts[k], map[string]any{"where": s.Between})
		at = begin + parts[k]
	}
	for _, m := range r.marks {
		if m.Task == "" {
			continue
		}
		track := trackLocal
		if endOf(m) == result.Remote {
			track = trackRemote
		}
		args := map[string]any{"cpu": m.CPU, "task": m.Task}
		if m.For > 0 {
			args["for_us"] = us(m.For)
		}
		what := map[result.Point]string{result.PointStack: "handled by ", result.PointRun: "ran before: ", result.PointBack: "ran meanwhile: "}[m.Point]
		c.events = append(c.events, chromeEvent{Name: what + m.Task, Cat: "cpu", Phase: "i", Scope: "t", At: us(c.now + m.At), Proc: c.proc, Track: track, Args: args})
	}
	c.now += r.length + r.length/10 + 1000
}
