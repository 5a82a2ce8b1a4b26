package counters

import (
	"os"
	"runtime"

	"netdelta/internal/sys"
)

// onOwnThread runs f on a thread of its own, to which its goroutine is locked
// and which ends with it: what the thread was made (its priority, its CPU) is
// gone then. The process's first thread cannot end; the runtime would park it
// for ever as it is. So f is not run on that one.
func onOwnThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if sys.ThreadID() != os.Getpid() {
			f()
			return
		}
		started := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(started)
			f()
		}()
		<-started // until then this goroutine holds the first thread
		runtime.UnlockOSThread()
	}()
}
