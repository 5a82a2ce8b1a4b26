package netperf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

// apply gives the figures the widths that netperf says were reached, and a warning
// where it says that they are wider than was asked for.
func (h *head) apply(t *scan.Test) {
	if h.width == nil {
		return
	}
	var said []string
	for _, of := range slices.Sorted(maps.Keys(h.width)) {
		if h.width[of] > 0 {
			said = append(said, fmt.Sprintf("%s %g%%", of, h.width[of]))
		}
	}
	t.Warnings = append(t.Warnings, result.Warning{Code: "confidence-not-reached",
		Text:   "netperf did not reach the confidence that it was asked for: the intervals are as wide as " + strings.Join(said, ", "),
		Advice: "take no change for one that is smaller than that"})
	for i := range t.Figures {
		f := &t.Figures[i]
		of := "Throughput"
		if strings.HasPrefix(f.Metric, result.CPU) {
			of = map[string]string{result.Local: "Local CPU util", result.Remote: "Remote CPU util"}[f.End]
		}
		if w := h.width[of]; w > 0 {
			f.WidthPct, f.LevelPct = w, h.level
		}
	}
}
