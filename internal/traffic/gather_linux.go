package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

// gatherBytes is how much of a TCP stream wakes a receiver that waits for it.
const gatherBytes = maxChunk

// gather lets a TCP receiver sleep until so much has come, or its timeout is
// over, or the stream: SO_RCVLOWAT of socket(7). A receiver that is faster than
// its sender is otherwise woken for every few segments, and where both are one
// machine's the sender pays for that. The kernel wakes it earlier where its
// buffer holds less (tcp_set_rcvlowat and tcp_epollin_ready of net/ipv4), and a
// stream that is not to go as fast as it can is received as it comes.
func (s *socket) gather(cfg Config) error {
	p := cfg.Test.Params
	if p.Wait == spec.Block || cfg.Test.OpenLoop() || p.Pacing != 0 {
		return nil
	}
	if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_RCVLOWAT, gatherBytes); err != nil {
		return fmt.Errorf("set SO_RCVLOWAT of a %s to %d bytes: %w", s.what, gatherBytes, err)
	}
	return nil
}
