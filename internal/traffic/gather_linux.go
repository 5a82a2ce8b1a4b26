package traffic

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

const (
	// gatherBytes and gatherMessages are how much of a TCP stream wakes a
	// receiver that waits for it, whichever is less.
	gatherBytes    = maxChunk
	gatherMessages = 32
	// gatherTime is the longest that it sleeps over less: a slow stream is
	// received in steps of this, which a window's ends then have, too.
	gatherTime = 4 * time.Millisecond
)

// gather lets a TCP receiver sleep until so much has come, or its time is over,
// or the stream: SO_RCVLOWAT of socket(7). A receiver that is faster than its
// sender is otherwise woken for every few segments, and where both are one
// machine's the sender pays for that. The kernel wakes it earlier where its
// buffer holds less (tcp_set_rcvlowat and tcp_epollin_ready of net/ipv4). A
// stream that is not to go as fast as it can is received as it comes.
func (s *socket) gather(cfg Config) error {
	if p := cfg.Test.Params; p.Wait != spec.Nap || cfg.Test.OpenLoop() || p.Pacing != 0 {
		return nil
	}
	low := gatherBytes
	if size := cfg.Test.Params.Size; size < gatherBytes/gatherMessages {
		low = size * gatherMessages
	}
	if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_RCVLOWAT, low); err != nil {
		return fmt.Errorf("set SO_RCVLOWAT of a %s to %d bytes: %w", s.what, low, err)
	}
	return s.setTimeout(unix.SO_RCVTIMEO, gatherTime)
}
