package compare

import (
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Precision says how near a run under way is to the precision that its plan
// asks for.
type Precision struct {
	// Reached says that the run may stop.
	Reached bool
	// Widest is the largest half-width of the intervals that matter, as a share
	// (0.02 is 2%), and Of names its row; 0 and empty before there are any.
	Widest float64
	Of     string
	// Next is the number of complete blocks at which to ask again.
	Next int
}

// PrecisionOf looks at the trials of the plan's complete blocks so far. The plan
// is valid and has a Precision.
func PrecisionOf(plan spec.Plan, trials []result.Trial) (Precision, error) {
	return Precision{}, nil
}
