//go:build linux && portable

package traffic

// rawCalls says that the loops make system calls that the scheduler is not told
// of.
const rawCalls = false

// untold are the counts that the portable layer leaves out.
var untold = []string{CountRetransmits, CountSocketDrops, CountSocketDropsAll}
