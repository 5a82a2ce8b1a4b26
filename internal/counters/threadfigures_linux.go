package counters

// threadFigures are what the kernel counted of one thread since it began.
type threadFigures struct {
	run, delay             int64 // on a CPU, and ready but without one; ns
	timeslices             int64
	voluntary, involuntary int64 // switches away from it
	minor, major           int64 // page faults
	cpu                    int64 // the one that it was on last; -1 if unknown
}
