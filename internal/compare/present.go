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
	c.told, c.uncounted = x.Tells()
	c.drops = hostDrops(x)
	return c
}

// definitions are the metrics of a test that the trials tell of.
func definitions(test spec.Test, trials []*cell) []result.Definition {
	return result.Present(result.Definitions(test), func(t result.Taken) bool {
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

// hostDrops are the datagrams of a trial that counters of its two hosts have: no
// more than are missing, since others' may be among what a host counts.
func hostDrops(x *result.Trial) map[counter]float64 {
	b, ok := x.Balance()
	if !ok {
		return nil
	}
	drops := map[counter]float64{}
	for _, d := range b.Drops {
		end, name, _ := strings.Cut(d.Name, ".")
		if end == result.Local || end == result.Remote {
			drops[counter{end, name}] = float64(d.Packets)
		}
	}
	return drops
}

// cost says that the row is of CPU time, which is 0 where it can't be told from
// the idle baseline.
func (c *Comparison) cost() bool {
	return slices.Contains([]unit.Unit{unit.SecondsPerSecond, unit.SecondsPerByte, unit.SecondsPerOp}, c.Unit)
}
