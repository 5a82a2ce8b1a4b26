package sys

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// ClockState is how the machine's clock is kept, as its keeper told the kernel: whether
// it is, and by how much it may be off, as estimated and at the most (adjtimex(2)). A
// kernel that refuses to tell is an error.
func ClockState() (kept bool, estimated, most time.Duration, err error) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return false, 0, 0, fmt.Errorf("ask how the clock is kept (adjtimex): %w", err)
	}
	const us = time.Microsecond
	return state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0, time.Duration(t.Esterror) * us, time.Duration(t.Maxerror) * us, nil
}
