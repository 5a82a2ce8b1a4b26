package compare

import (
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// tells adds to a new cell what its trial has figures of, and what nobody
// counted.
func (c *cell) tells(x *result.Trial) *cell {
	if x.Imported != nil {
		c.imported, c.posted = x.Imported.Definitions(), x.Imported
		return c
	}
	c.drops, c.several = hostDrops(x)
	return c
}

// definitions are the metrics of a test that the trials tell of.
func definitions(test spec.Test, trials []*cell) []result.Definition {
	if all := importedOf(trials); all != nil {
		return all
	}
	return toldOf(result.Definitions(test), trials)
}

// definitions are the metrics of one of the plan's tests that its trials tell of.
func (g *grid) definitions(test int) []result.Definition {
	return toldOf(g.defined(test), g.of(test))
}

// importedOf are the metrics of trials that another program made, each once, in the
// first one's order.
func importedOf(trials []*cell) []result.Definition {
	var all []result.Definition
	for _, c := range trials {
		for _, d := range c.imported {
			if !slices.ContainsFunc(all, func(o result.Definition) bool { return o.Taken() == d.Taken() }) {
				all = append(all, d)
			}
		}
	}
	return all
}

func toldOf(of []result.Definition, trials []*cell) []result.Definition {
	return result.Present(of, func(t result.Taken) bool {
		return slices.ContainsFunc(trials, func(c *cell) bool { return c.told[t] })
	})
}

// of are all trials of a test that are there.
func (g *grid) of(test int) []*cell {
	var all []*cell
	for v := range g.variants {
		g.each(test, []int{v}, func(c *cell) { all = append(all, c) })
	}
	return all
}

// hostDrops are the datagrams of a stream that counters of its two hosts have:
// no more than are missing, since others' may be among what a host counts.
// several says that they are packets and no datagrams. Of round trips they are
// those of every counter on the way forth and back.
func hostDrops(x *result.Trial) (drops map[counter]float64, several bool) {
	all := x.Balances()
	if len(all) == 0 {
		return nil, false
	}
	drops = map[counter]float64{}
	roundTrip := len(all) > 1
	for i := range all {
		b := &all[i]
		for _, d := range b.Drops {
			end, name, _ := strings.Cut(d.Name, ".")
			switch {
			case end == result.Local || end == result.Remote:
				drops[counter{end, name}] += float64(d.Packets)
			case roundTrip:
				drops[counter{PathEnd, d.Name}] += float64(d.Packets)
			}
		}
		if roundTrip && b.SocketDrops > 0 {
			drops[counter{b.To, socketDrops}] = float64(b.SocketDrops)
		}
		several = several || b.Several
	}
	_, lab := x.Path.Counts["a.tx_packets"] // its link's frames are counted
	return drops, several && (!lab || roundTrip)
}

// cost says that the row is of CPU time, which is 0 where it can't be told from
// the idle baseline.
func (c *Comparison) cost() bool {
	return slices.Contains([]unit.Unit{unit.SecondsPerSecond, unit.SecondsPerByte, unit.SecondsPerOp}, c.Unit)
}
