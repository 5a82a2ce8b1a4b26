package traffic

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

// ringFiles are the descriptors of this process's rings.
func ringFiles(t *testing.T) map[string]bool {
	t.Helper()
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	rings := map[string]bool{}
	for _, path := range all {
		if target, err := os.Readlink(path); err == nil && strings.Contains(target, "io_uring") {
			rings[path] = true
		}
	}
	return rings
}

// TestURingCountsNoRecall has a kernel that takes nothing of what is pushed:
// sends come off those under way, and what was to cancel them does not.
func TestURingCountsNoRecall(t *testing.T) {
	needURing(t)
	before := ringFiles(t)
	m, _, err := connected(t, loopbacks["ipv4"], spec.Test{Name: "tcp_stream", Params: spec.Params{Send: "uring", Size: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	sender := stream(m)
	if errno := sender.enter(0, 0); errno != 0 && errno != unix.ETIME {
		t.Fatal(errno)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for path := range ringFiles(t) {
		if before[path] {
			continue
		}
		fd := 0
		for _, digit := range filepath.Base(path) {
			fd = 10*fd + int(digit-'0')
		}
		if err := unix.Dup3(int(null.Fd()), fd, unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
	}
	message := make([]byte, 10)
	const under = 3 // the kernel has these
	sender.sending = under
	for _, pushed := range []int{0, 2} {
		for range pushed {
			sender.push(message, 0, 0, true)
		}
		sender.recall()
		if errno := sender.enter(0, 0); errno == 0 {
			t.Fatal("what is no ring took operations")
		}
		if sender.sending != under {
			t.Errorf("%d sends and a recall were not taken: %d are under way, want %d", pushed, sender.sending, under)
		}
	}
	sender.sending = 0
}

// TestReceiverGivesItsRingUp: a ring is its thread's, which ends with Run.
func TestReceiverGivesItsRingUp(t *testing.T) {
	needURing(t)
	before := len(ringFiles(t))
	local, remote := trial{test: "udp_stream", params: spec.Params{Size: 100, Recv: "uring"}, addr: loopbacks["ipv4"], window: testWindow}.ends(t)
	done := start(remote)
	finish(t, start(local))
	remote.Stop()
	finish(t, done)
	if after := len(ringFiles(t)); after != before {
		t.Errorf("%d rings after Run, %d before the trial", after, before)
	}
}
