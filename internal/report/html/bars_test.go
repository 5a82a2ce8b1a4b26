package html

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"netdelta/internal/picture"
)

func bars(log bool, y ...float64) *picture.Figure {
	f := &picture.Figure{Kind: picture.Bars, Title: "Costs", X: picture.Axis{Categories: []string{"a", "b", "c"}}, Y: picture.Axis{Unit: "us", Log: log}}
	f.Series = []picture.Series{{Name: "one", X: []float64{0, 1, 2}, Y: y, Lo: y, Hi: y}}
	return f
}

var width = regexp.MustCompile(`<rect class="v0"[^>]* width="([^"]*)"`)

// On an axis of logarithms each factor of ten is as long as the one before.
func TestBarsOfLogarithms(t *testing.T) {
	for _, at := range []barsLayout{wideBars, narrowBars} {
		var long []float64
		for _, m := range width.FindAllStringSubmatch(string(barsSVG(bars(true, 0.1, 1, 10), at)), -1) {
			v, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			long = append(long, v)
		}
		if len(long) != 3 || long[0] < 20 || math.Abs(long[1]-2*long[0]) > 0.3 || math.Abs(long[2]-at.wide) > 0.1 {
			t.Errorf("the bars are %v long of %v", long, at.wide)
		}
	}
}

// Nothing, zero and less are drawn without a panic or an endless axis.
func TestBarsOfNothing(t *testing.T) {
	for _, log := range []bool{false, true} {
		for _, y := range [][]float64{{0, 0, 0}, {-1, 0, 1}, {math.NaN(), math.NaN(), math.NaN()}, {1, 1, 1}, {5e-324, 1, 1.7e308}} {
			if got := string(barsSVG(bars(log, y...), wideBars)); regexp.MustCompile(`NaN|Inf`).MatchString(got) {
				t.Errorf("of %v, log %v, it draws what is no place", y, log)
			}
		}
	}
}
