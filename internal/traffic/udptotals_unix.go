//go:build linux || darwin || freebsd

package traffic

// droppedBefore is what a socket had dropped before it was the test's.
type droppedBefore struct {
	drops uint32
	known bool // the kernel tells
}

// watchDrops begins to count what the socket drops.
func (s *socket) watchDrops() {
	n, err := s.Drops()
	s.before = droppedBefore{n, err == nil}
}

// dropped is what the socket dropped since watchDrops, false if the kernel does
// not tell.
func (s *socket) dropped() (int64, bool) {
	n, err := s.Drops()
	return int64(n - s.before.drops), err == nil && s.before.known // modulo 2^32, as the counter
}

// countAll adds what an end of udp_rr counted in the whole trial, by which the
// datagrams of both directions balance.
func countAll(counts map[string]int64, sent, received int64, socks ...*socket) {
	counts[CountSentAll], counts[CountReceivedAll] = sent, received
	all := int64(0)
	for _, s := range socks {
		n, known := s.dropped()
		if !known {
			return
		}
		all += n
	}
	counts[CountSocketDropsAll] = all
}
