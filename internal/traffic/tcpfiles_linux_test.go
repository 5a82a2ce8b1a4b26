//go:build !portable

package traffic

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

// TestRoomForFlows: connections are not all that a test opens.
func TestRoomForFlows(t *testing.T) {
	held, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var was, is unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &was)
	const threads = 4
	cfg := Config{Test: spec.Test{Name: "tcp_stream", Params: spec.Params{Flows: 100, Threads: threads}}}
	n := int(was.Cur) - len(held) - 1 // the connections alone would fit
	if err := roomForFlows(cfg, n); err != nil {
		return // no more than that may be had
	}
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &is); err != nil || is.Cur < uint64(n+len(held)-1+threads+spareFiles) {
		t.Errorf("%d descriptors, %d connections, %d threads: limit %d, %v", len(held), n, threads, is.Cur, err)
	}
}
