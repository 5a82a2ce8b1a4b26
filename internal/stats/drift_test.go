package stats

import (
	"math"
	"math/rand/v2"
)

// machine draws the logarithms of a trial's metrics on a machine that drifts:
// its speed is a random walk with jumps, and every metric of a trial follows
// it in its own measure, shares the trial's own luck and has noise besides.
type machine struct {
	rng   *rand.Rand
	speed float64
	load  []float64 // how much each metric follows the speed
	luck  []float64 // how much each metric shares of the trial's luck
}

func newMachine(rng *rand.Rand, metrics int) *machine {
	m := &machine{rng: rng}
	for range metrics {
		m.load = append(m.load, 0.5+rng.Float64())
		m.luck = append(m.luck, rng.NormFloat64())
	}
	return m
}

// trial runs the next trial: in units of the noise's deviation, the speed
// walks 0.5 a trial, and one trial in 15 begins with a jump of some 5.
func (m *machine) trial() []float64 {
	m.speed += 0.5 * m.rng.NormFloat64()
	if m.rng.IntN(15) == 0 {
		m.speed += 5 * m.rng.NormFloat64()
	}
	luck := m.rng.NormFloat64()
	x := make([]float64, len(m.load))
	for i := range x {
		x[i] = m.load[i]*m.speed + m.luck[i]*luck + m.rng.NormFloat64()
	}
	return x
}

// inBlocks runs blocks of all variants in random order and returns the paired
// differences of each variant from the first, every metric a row.
func (m *machine) inBlocks(blocks, variants int) [][]float64 {
	metrics := len(m.load)
	rows := make([][]float64, metrics*(variants-1))
	for range blocks {
		got := make([][]float64, variants)
		for _, v := range m.rng.Perm(variants) {
			got[v] = m.trial()
		}
		for i := range rows {
			v, metric := 1+i/metrics, i%metrics
			rows[i] = append(rows[i], got[v][metric]-got[0][metric])
		}
	}
	return rows
}

// inTurn runs all trials of A and then all of B, and returns each side's
// values, every metric a row.
func (m *machine) inTurn(trials int) (a, b [][]float64) {
	sides := [2][][]float64{make([][]float64, len(m.load)), make([][]float64, len(m.load))}
	for _, side := range sides {
		for range trials {
			for metric, v := range m.trial() {
				side[metric] = append(side[metric], v)
			}
		}
	}
	return sides[0], sides[1]
}

// Symmetric distributions about zero, from mild to wild.
var symmetric = []struct {
	name string
	draw func(*rand.Rand) float64
}{
	{"normal", (*rand.Rand).NormFloat64},
	{"Student 3", func(r *rand.Rand) float64 {
		c := 0.0
		for range 3 {
			z := r.NormFloat64()
			c += z * z
		}
		return r.NormFloat64() / math.Sqrt(c/3)
	}},
	{"Cauchy", func(r *rand.Rand) float64 { return math.Tan(math.Pi * (r.Float64() - 0.5)) }},
}
