package stats

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkSignFlip(b *testing.B) {
	for _, n := range []int{8, 14, 20, 100} {
		rng := rand.New(rand.NewPCG(1, 1))
		rows := make([][]float64, 100)
		for i := range rows {
			rows[i] = normals(rng, n, 0, 1)
		}
		b.Run(fmt.Sprintf("rows=100/blocks=%d", n), func(b *testing.B) {
			for b.Loop() {
				SignFlip(rows, 1)
			}
		})
	}
}

func BenchmarkSignedRank(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		d := normals(rand.New(rand.NewPCG(1, 1)), n, 0, 1)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				SignedRank(d, 0.95)
			}
		})
	}
}

func BenchmarkMannWhitney(b *testing.B) {
	for _, n := range []int{10, 38, 1000} {
		rng := rand.New(rand.NewPCG(1, 1))
		x, y := normals(rng, n, 0, 1), normals(rng, n, 0.5, 1)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				MannWhitney(x, y)
			}
		})
	}
}

func BenchmarkNeeded(b *testing.B) {
	d := normals(rand.New(rand.NewPCG(1, 1)), 10, 0.1, 1)
	for b.Loop() {
		Needed(d, 0.2, 20, 0.95)
	}
}

// normals draws n normal values.
func normals(rng *rand.Rand, n int, mean, sd float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = mean + sd*rng.NormFloat64()
	}
	return x
}
