package counters

import (
	"fmt"
	"os"
	"testing"
	"time"

	"netdelta/internal/sys"
)

// Each function has a thread of its own, which is not the process's first and
// is gone when the function is.
func TestOwnThreadEnds(t *testing.T) {
	const n = 40
	tids, leave := make(chan int, n), make(chan struct{})
	for range n {
		onOwnThread(func() { tids <- sys.ThreadID(); <-leave })
	}
	seen := map[int]bool{}
	for range n {
		tid := <-tids
		if seen[tid] || tid == os.Getpid() {
			t.Errorf("thread %d of process %d is not its own", tid, os.Getpid())
		}
		seen[tid] = true
	}
	close(leave)
	for tid := range seen {
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid)); os.IsNotExist(err) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("thread %d is still there", tid)
			}
		}
	}
}
