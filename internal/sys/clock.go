package sys

import _ "unsafe" // for go:linkname

// Nanotime reads the monotonic clock in nanoseconds from an arbitrary start
// (clock_gettime(2) CLOCK_MONOTONIC, through the vDSO where there is one). It
// is what time.Since reads, without the stack check on the way: a measuring loop
// that calls it cannot be taken off its thread there (see Sock).
//
//go:linkname Nanotime runtime.nanotime
//go:noescape
func Nanotime() int64
