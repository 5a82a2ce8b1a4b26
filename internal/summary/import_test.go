package summary

import (
	"slices"
	"testing"

	"netdelta/internal/result"
)

// Figures of another program have their end, unit and order, and tests stand by the
// value of the numbers in their names.
func TestImported(t *testing.T) {
	stream := func(order int, size string, rate float64) result.Trial {
		x := result.ImportedTrial(result.Imported{Tool: "netperf", Name: "TCP_STREAM", Params: []result.Fact{{Name: "message", Value: size}},
			Figures: []result.ImportedFigure{
				result.ImportedMetric(result.CPUPerByte, result.Local, 1e-9, "", 1), result.ImportedMetric(result.Goodput, result.Remote, rate, "", 1),
				{Metric: "frames", Unit: "1/s", Better: result.Higher, Value: 3},
			}}, result.Warning{Code: "confidence", Metric: result.Goodput, Text: "not reached"})
		x.Order, x.Block = order, order
		return x
	}
	r := Build(result.Run{}, []result.Trial{stream(0, "16384", 1e9), stream(1, "4096", 2e9), stream(2, "16384", 3e9)})
	var rows []string
	for _, f := range r.Figures {
		rows = append(rows, f.Test+" "+f.Metric+" "+f.End+" "+string(f.Unit))
	}
	want := []string{
		"netperf TCP_STREAM message=4096 goodput remote bit/s", "netperf TCP_STREAM message=4096 cpu_per_byte local s/B", "netperf TCP_STREAM message=4096 frames  1/s",
		"netperf TCP_STREAM message=16384 goodput remote bit/s", "netperf TCP_STREAM message=16384 cpu_per_byte local s/B", "netperf TCP_STREAM message=16384 frames  1/s",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("got %q, want %q", rows, want)
	}
	if f := r.Figures[3]; f.N != 2 || *f.Median != 2e9 || len(f.Warnings) != 1 || f.Rank() != result.Headline {
		t.Errorf("%+v", f)
	}
	if len(r.Unmeasured()) != 0 {
		t.Errorf("unmeasured: %v", r.Unmeasured())
	}
}
