//go:build darwin || freebsd || (linux && portable)

package traffic

// tellsRetransmits is false: each of these systems has a way of its own to tell
// how many segments a connection has sent again. The count is left out.
const tellsRetransmits = false

func (s *socket) retransmits() (uint32, error) { return 0, nil }
