//go:build !portable

package traffic

// rawCalls says that the loops make system calls that the scheduler is not told
// of.
const rawCalls = true

// untold are the counts that the portable layer leaves out.
var untold []string
