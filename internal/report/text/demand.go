package text

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/summary"
	"netdelta/internal/unit"
)

// perKB is what a cost in seconds for each byte is in netperf's unit of service
// demand: microseconds for each KB, of 1024 bytes.
const perKB = 1e6 * 1024

// demandNote says what the figures are that follow.
const demandNote = "Service demand as netperf writes it, us/KB (KB = 1024 bytes): "

// demandOf writes costs for each byte as service demand, so that they can be
// held against a netperf table.
func demandOf(v float64) string { return unit.FormatIn(v*perKB, 1) }

// serviceDemand is the rows of CPU time for each byte in netperf's unit.
func serviceDemand(rows []compare.Comparison) string {
	var parts []string
	for i := range rows {
		c := &rows[i]
		if c.Metric != result.CPUPerByte || c.A.Median == nil && c.B.Median == nil {
			continue
		}
		text := fmt.Sprintf("%s %s %s %s, %s %s", c.Name(), c.End, c.Baseline, demandOf(value(c.A.Median)), c.Variant, demandOf(value(c.B.Median)))
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return demandNote + strings.Join(parts, "; ") + "."
}

// runDemand is the same of one run's figures.
func runDemand(r *summary.Report) string {
	var parts []string
	for i := range r.Figures {
		f := &r.Figures[i]
		if f.Metric != result.CPUPerByte || f.Median == nil {
			continue
		}
		name := f.TestOf().Short()
		if f.Under != "" {
			name += " (" + f.Under + ")"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", name, f.End, demandOf(*f.Median)))
	}
	if len(parts) == 0 {
		return ""
	}
	return demandNote + strings.Join(parts, "; ") + "."
}
