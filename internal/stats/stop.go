package stats

// NextLook returns the number of blocks at which a run that stops by precision
// is looked at next, when n blocks are complete.
func NextLook(n int) int { return n + 1 }

// Precise says whether paired differences reach a precision: whether the
// interval of their centre reaches no further than half from its estimate, by
// the rule that keeps the level of what is concluded when a run stops for it.
func Precise(d []float64, half float64) bool { return false }
