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
}

// Finder adds to the report of one experiment. What the trials do not bear it
// leaves out, or says that it is not known, and why.
type Finder func(*Input)

// Wake tells what a thread's wake-up costs on this machine, by the wake tests beside
// the plan, and its share of what the receive handler's context changed.
func Wake(in *Input) {}

// Window tells where TCP's throughput follows the round trip, since a window of data
// is all that can be under way, and where it does not: the product of bandwidth and
// delay against the window.
func Window(in *Input) {}

// Floor takes what the wire itself costs out of each variant's round trips, and tells
// what the factors do to the rest.
func Floor(in *Input) {}

// SendPath tells what each way to send costs at each rate, against read+write.
func SendPath(in *Input) {}

// Lengths tells latency and throughput by packet length, and whether packets were
// classified by control group.
func Lengths(in *Input) {}

// Knee tells latency against interrupts against CPU time by how much the wire
// mitigates, and from where on there is more to lose than to gain.
func Knee(in *Input) {}

// Truth holds what was found against what the wire put in.
func Truth(in *Input) {}
