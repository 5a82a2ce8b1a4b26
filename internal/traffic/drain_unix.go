//go:build linux || darwin || freebsd

package traffic

import (
	"time"

	"netdelta/internal/sys"
)

// drainTime is the longest time after Stop in which a receiver waits for
// silence.
const drainTime = time.Second

// drain decides when a receiver has received all that was under way after
// Stop: when a whole receive call has brought nothing.
type drain struct {
	until int64 // 0 before Stop
	quiet bool  // set by the receiver when a call has timed out
}

// over is asked before each receive call after Stop.
func (d *drain) over() bool {
	now := sys.Nanotime()
	if d.until == 0 {
		d.until = now + int64(drainTime)
		d.quiet = false
	}
	return d.quiet || now >= d.until
}
