//go:build linux

package netlab

import (
	"testing"
	"time"
)

// BenchmarkLink reports what a fresh link for each trial costs: its building
// and its taking down apart.
func BenchmarkLink(b *testing.B) {
	for _, c := range links() {
		b.Run(c.String(), func(b *testing.B) {
			lab := newLab(b)
			var up, down time.Duration
			for b.Loop() {
				start := time.Now()
				k := connect(b, lab, c)
				built := time.Now()
				if err := k.Close(); err != nil {
					b.Fatal(err)
				}
				up += built.Sub(start)
				down += time.Since(built)
			}
			b.ReportMetric(up.Seconds()*1000/float64(b.N), "ms/connect")
			b.ReportMetric(down.Seconds()*1000/float64(b.N), "ms/close")
		})
	}
}

// BenchmarkLab is the two hosts alone.
func BenchmarkLab(b *testing.B) {
	for b.Loop() {
		lab, err := New()
		if err != nil {
			b.Fatal(err)
		}
		if err := lab.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
