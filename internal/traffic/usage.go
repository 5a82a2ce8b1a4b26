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

// Watcher is told of an end's window and of what takes part in it, so that what
// the host does meanwhile can be counted. Its methods are called by the traffic
// threads: they return at once and may be called by several at a time.
type Watcher interface {
	// Warm is told with the end's first message when the window will open, in
	// nanoseconds of sys.Nanotime. Every thread tells it once.
	Warm(opens int64)
	// Over is told when a window is over, and when it was, in nanoseconds of
	// sys.Nanotime: an end that waits for the other may find that out later.
	Over(ended int64)
	// Left is told by a traffic thread that has done its part and may end.
	Left()
	// Thread is told of each traffic thread, by its number in the test and
	// that which the kernel knows it by (gettid(2)), before any message.
	Thread(number, tid int)
	// Socket is told of each socket that lasts as long as the test, before any
	// message. It stays open until the engine is closed.
	Socket(fd int)
}

// warms is told by each meter that its first message has come.
//
//go:noinline
func (u *Usage) warms(opens int64) {
	if u != nil && u.Watcher != nil {
		u.Watcher.Warm(opens)
	}
}

// thread is told by each traffic thread what it is.
func (u *Usage) thread(number int) {
	if u != nil && u.Watcher != nil {
		u.Watcher.Thread(number, sys.ThreadID())
	}
}

// left is told by each traffic thread that has done its part.
func (u *Usage) left() {
	if u != nil && u.Watcher != nil {
		u.Watcher.Left()
	}
}

// socket is told of a socket that is the test's until its end.
func (u *Usage) socket(fd int) {
	if u != nil && u.Watcher != nil {
		u.Watcher.Socket(fd)
	}
}

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
	// Watcher, if it is set before New, is told of the window and of what takes
	// part in it.
	Watcher Watcher
	// Apart, if it is set before New, is the CPU time that threads of this
	// process which are none of the engine's have taken so far, in nanoseconds:
	// it is left out.
	Apart func() int64

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
		u.begin.user, u.begin.system, u.failed = u.read()
	}
}

// ends is told by each meter that its window is over.
//
//go:noinline
func (u *Usage) ends(at int64) {
	if u == nil {
		return
	}
	if u.Watcher != nil {
		u.Watcher.Over(at)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failed == nil {
		u.end.user, u.end.system, u.failed = u.read()
	}
}

// read is the engine's CPU time so far.
func (u *Usage) read() (user, system int64, err error) {
	user, system, err = sys.CPUTime()
	if err == nil && u.Apart != nil {
		user -= u.Apart()
	}
	return user, system, err
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
	// The kernel divides the sum anew each time, by what its ticks saw: a part
	// may seem to go back, and what is left out of the one may be in the other.
	// The sum is exact.
	user, system := u.end.user-u.begin.user, u.end.system-u.begin.system
	sum := max(user+system, 0)
	e.Counts[CountCPUUser] = min(max(user, 0), sum)
	e.Counts[CountCPUSystem] = sum - e.Counts[CountCPUUser]
}
