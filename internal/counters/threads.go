package counters

import (
	"slices"
	"sync"

	"netdelta/internal/sys"
)

// threads are the traffic threads that a sampler was told of, and those of the
// process that are none of the test's.
type threads struct {
	mu       sync.Mutex
	list     []thread
	excluded []int
}

// thread is a traffic thread.
type thread struct {
	number, tid int
	// schedstat is the descriptor by which it can tell of itself; 0 for none.
	schedstat int
	// final is what it told of itself when its window was over or it had done
	// its part: it may have ended before anybody else asks.
	final *threadFigures
}

func (t *threads) add(number, tid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, thread{number: number, tid: tid})
}

// exclude says that a thread of this process is none of the test's: the
// sampler's own, and those that soak up CPU time. It is told before the window,
// and the thread lasts until source threads has been read after it: what it did
// later could not be told apart from the others' work.
func (t *threads) exclude(tid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.excluded, tid) {
		t.excluded = append(t.excluded, tid)
	}
}

// over is called by a traffic thread whose window is over, or that may end. It tells of itself
// then, in a few microseconds.
func (t *threads) over() {
	tid := sys.ThreadID()
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.list {
		if l := &t.list[i]; l.tid == tid && l.schedstat > 0 && l.final == nil {
			if f, err := ownFigures(l.schedstat); err == nil {
				l.final = &f
			}
		}
	}
}

// sockets are the sockets that a sampler was told of.
type sockets struct {
	mu  sync.Mutex
	fds []int
}

func (s *sockets) add(fd int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fds = append(s.fds, fd)
}
