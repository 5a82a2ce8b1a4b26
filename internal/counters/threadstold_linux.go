package counters

import (
	"slices"
	"time"
)

// opened gives a traffic thread the descriptor by which it tells of itself; 0
// takes it back.
func (t *threads) opened(tid, schedstat int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.list {
		if t.list[i].tid == tid {
			t.list[i].schedstat = schedstat
		}
	}
}

// all returns the traffic threads that are known by now, and those to leave
// out.
func (t *threads) all() (traffic []thread, excluded []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list), slices.Clone(t.excluded)
}

// perSocket is what it takes to read one socket by one source, roughly.
const perSocket = 2 * time.Microsecond

// cost is what it takes to read all sockets.
func (s *sockets) cost() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(len(s.fds)) * perSocket
}

// all returns those that are known by now.
func (s *sockets) all() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int(nil), s.fds...)
}
