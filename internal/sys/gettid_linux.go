package sys

import "golang.org/x/sys/unix"

// ThreadID is the calling thread's number (gettid(2)). The goroutine must be
// locked to its thread for it to mean anything later.
func ThreadID() int { return unix.Gettid() }
