package calibrate

import (
	"math"

	"netdelta/internal/result"
	"netdelta/internal/stats"
)

const (
	// power is the chance with which an effect is to be seen.
	power = 0.8
	// swingBlocks is how many blocks a running median is over.
	swingBlocks = 5
	// fewestNoise is the fewest blocks of which noise is told.
	fewestNoise = 4
)

// detectableBlocks are the numbers of blocks for which the smallest effect that
// is seen is told.
var detectableBlocks = []int{6, 12, 24, 48, 96}

// floors is the noise of each headline figure.
func (f *figures) floors(block *int64, rows int, forNS float64) []Floor {
	all := []Floor{}
	for i := range f.rows {
		if r := &f.rows[i]; r.head() && r.def.Scale == result.Percent {
			all = append(all, r.floor(block, rows, forNS))
		}
	}
	return all
}

func (r *row) floor(block *int64, rows int, forNS float64) Floor {
	d, means := r.differences(0, len(r.first)), r.means()
	fl := Floor{Test: r.test.Name, Params: r.test.Params, Metric: r.def.Name, End: r.def.End, Unit: r.def.Unit,
		Median: number(math.Exp(stats.Median(append(append([]float64{}, r.values[0]...), r.values[1]...)))), Detectable: []Detectable{}}
	for _, v := range d {
		if !math.IsNaN(v) {
			fl.N++
		}
	}
	if fl.N < fewestNoise {
		return fl
	}
	sd := stats.Deviation(d)
	fl.NoisePct = percent(sd)
	fl.SwingPct = percent(stats.Swing(means, swingBlocks))
	if auto := stats.Autocorrelation(means); !math.IsNaN(auto) {
		fl.Autocorrelation = number(auto)
		fl.Drifts = auto > 2/math.Sqrt(float64(fl.N))
	}
	for _, n := range detectableBlocks {
		at := Detectable{Blocks: n, EffectPct: percent(stats.DetectableInFamily(sd, n, max(1, rows), power))}
		if block != nil {
			t := int64(n) * *block
			at.TimeNS = &t
		}
		fl.Detectable = append(fl.Detectable, at)
	}
	if block != nil && *block > 0 {
		fl.HalfWidthPct = percent(stats.HalfWidth(sd, forNS/float64(*block)))
	}
	return fl
}

// percent is a difference of logarithms as a change in percent.
func percent(v float64) *float64 { return number(100 * math.Expm1(v)) }

// logOf is the inverse of percent.
func logOf(pct float64) float64 { return math.Log1p(pct / 100) }
