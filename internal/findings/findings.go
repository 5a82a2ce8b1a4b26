// Package findings has what the experiments of a lab conclude beyond comparisons: each
// adds sentences, tables and checks of its own to a report. It is pure: it sees a
// plan, its trials and the report that package compare made of them.
package findings

import (
	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Input is what a finder looks at, and the report that it adds to.
type Input struct {
	Plan   *spec.Plan
	Trials []result.Trial
	Report *compare.Report

	// derived are the metrics of the trials that were asked for.
	derived map[*result.Trial]map[result.Taken]float64
}

// Finder adds to the report of one experiment. What the trials do not bear it
// leaves out, or says that it is not known, and why.
type Finder func(*Input)
