package findings

import (
	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// wireCounts is what a lab's wire counted of its own keeping of times, both
// directions and several trials together.
type wireCounts struct {
	heldFrames, heldNS int64
	lateness           [len(lateBuckets)]int64
}

// lateBuckets are the wire's counts of frames by how late they were written, each
// with what it goes up to.
var lateBuckets = [...]struct{ name, upTo string }{
	{"late_1us", "1 us"}, {"late_2us", "2 us"}, {"late_5us", "5 us"}, {"late_10us", "10 us"},
	{"late_20us", "20 us"}, {"late_50us", "50 us"}, {"late_100us", "100 us"}, {"late_more", ""},
}

// wires are the two directions of a lab's wire, as its counts name them.
var wires = [...]string{"wire.a_to_b.", "wire.b_to_a."}

// add counts what the wire did in trials.
func (w *wireCounts) add(trials []*result.Trial) {
	for _, t := range trials {
		for _, way := range wires {
			w.heldFrames += t.Path.Counts[way+"held_frames"]
			w.heldNS += t.Path.Counts[way+"held_ns"]
			for i, b := range lateBuckets {
				w.lateness[i] += t.Path.Counts[way+b.name]
			}
		}
	}
}

// mean is how long frames were held, in ns; there must be some.
func (w *wireCounts) mean() float64 { return float64(w.heldNS) / float64(w.heldFrames) }

// late is what that share of the frames was written no later than: "up to 5 us";
// empty where none was counted.
func (w *wireCounts) late(share float64) string {
	all := int64(0)
	for _, n := range w.lateness {
		all += n
	}
	if all <= 0 {
		return ""
	}
	sum := int64(0)
	for i, n := range w.lateness {
		if sum += n; float64(sum) >= share*float64(all) && lateBuckets[i].upTo != "" {
			return "up to " + lateBuckets[i].upTo
		}
	}
	return "more than 100 us"
}

// wireTimes is a table of how the wire kept its times, by what was put in.
func wireTimes(puts []put) compare.Section {
	s := compare.Section{Name: "wire-times", Title: "how the wire kept its times, both directions",
		Columns: []compare.Column{{Name: "held, mean", Unit: unit.Nanoseconds}, {Name: "late, median"}, {Name: "late, 99%"}, {Name: "late, 99.9%"}}}
	for i := range puts {
		var w wireCounts
		for _, test := range puts[i].in.Plan.Tests {
			w.add(puts[i].made(test))
		}
		if w.heldFrames == 0 {
			continue
		}
		mean := w.mean()
		line := compare.Line{Label: puts[i].level, Cells: []compare.Datum{{Value: &mean}}}
		for _, share := range []float64{0.5, 0.99, 0.999} {
			text := w.late(share)
			if text == "" {
				text = "not counted"
			}
			line.Cells = append(line.Cells, compare.Datum{Text: text})
		}
		s.Rows = append(s.Rows, line)
	}
	return s
}
