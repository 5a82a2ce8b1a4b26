package traffic

import (
	"sync"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// Names of the counts of the CPU time that an end's process took within its
// window, in nanoseconds: see Usage.
const (
	CountCPUUser   = "cpu_user_ns"
	CountCPUSystem = "cpu_system_ns"
)

// Usage is the CPU time that this process took within the window, all its
// threads together (sys.CPUTime): the engine's part of the work, without what
// the kernel does in its own threads and in interrupts of other processes.
//
// It is read twice, where an end notices that its window begins and that it
// ends, and so costs nothing for a message. A receiver notices the end with the
// first message after it, or, if there is none, when it stops: the time that it
// spent waiting until then is no CPU time. Of several threads of an end, each
// with a window of its own, the first to begin and the last to end count.
//
// The zero Usage is ready for use, by any number of threads; a nil one does
// nothing.
type Usage struct {
	mu         sync.Mutex
	begun      bool
	failed     error
	begin, end struct{ user, system int64 }
}

// begins is told by each meter that its window opens.
//
//go:noinline
func (u *Usage) begins() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begun {
		u.begun = true
		u.begin.user, u.begin.system, u.failed = sys.CPUTime()
	}
}

// ends is told by each meter that its window is over.
//
//go:noinline
func (u *Usage) ends() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failed == nil {
		u.end.user, u.end.system, u.failed = sys.CPUTime()
	}
}

// AddTo adds the two counts to an end's, when its engine has run. There are
// none where no window began or the system does not tell.
func (u *Usage) AddTo(e *result.End) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begun || u.failed != nil {
		return
	}
	if e.Counts == nil {
		e.Counts = map[string]int64{}
	}
	// The kernel divides the sum anew each time: a part may seem to go back.
	e.Counts[CountCPUUser] = max(u.end.user-u.begin.user, 0)
	e.Counts[CountCPUSystem] = max(u.end.system-u.begin.system, 0)
}
