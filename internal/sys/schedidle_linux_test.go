package sys

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestSetIdle(t *testing.T) {
	onThread(func() {
		if err := SetIdle(); err != nil {
			t.Error(err)
			return
		}
		attr, err := unix.SchedGetAttr(0, 0)
		if err != nil || attr.Policy != unix.SCHED_IDLE {
			t.Errorf("%+v, %v", attr, err)
		}
		// The system call tells 20 less the nice value.
		if nice, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err != nil || 20-nice != idleNice {
			t.Errorf("nice value %d, %v", 20-nice, err)
		}
	})
}

// TestThreadTime: a thread that works has more on its clock afterwards, by its
// own reading and by another thread's.
func TestThreadTime(t *testing.T) {
	onThread(func() {
		tid := ThreadID()
		before, err := ThreadTime(tid)
		if err != nil {
			t.Error(err)
			return
		}
		var after int64
		for after-before < 1e6 && err == nil {
			after, err = ThreadTime(tid)
		}
		if err != nil {
			t.Error(err)
			return
		}
		seen := make(chan int64)
		go func() {
			n, err := ThreadTime(tid)
			if err != nil {
				t.Error(err)
			}
			seen <- n
		}()
		if n := <-seen; n < after {
			t.Errorf("another thread reads %d of a clock that was at %d", n, after)
		}
	})
	if n, err := ThreadTime(1); err == nil {
		t.Errorf("a thread of another process has %d", n)
	}
}
