//go:build !linux

package sys

// ThreadID is the calling thread's number: 0, since only Linux is asked.
func ThreadID() int { return 0 }
