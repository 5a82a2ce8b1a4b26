package labtest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// leakDeadline is how long what is being torn down may take to go; a test
// shortens it.
var leakDeadline = 5 * time.Second

// NoLeaks fails the test if more child processes, namespace, TAP, socket or
// process descriptors, mounts, network interfaces or goroutines are there
// when it ends than were at the call. Call it first, so that it looks after
// all other cleanups; not in parallel tests.
func NoLeaks(t testing.TB) {
	t.Helper()
	before, err := holdings()
	if err != nil {
		t.Fatal(err)
	}
	goroutines := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if t.Skipped() {
			return
		}
		var left []string
		for end := time.Now().Add(leakDeadline); ; time.Sleep(time.Millisecond) {
			after, err := holdings()
			if err != nil {
				t.Fatal(err)
			}
			if left = beyond(before, after); len(left) == 0 {
				break
			}
			if time.Now().After(end) {
				t.Errorf("left behind after %v: %s", leakDeadline, strings.Join(left, ", "))
				return
			}
		}
		if err := goleak.Find(goroutines); err != nil {
			t.Errorf("left behind: %v", err)
		}
	})
}

// beyond lists what after has more of than before.
func beyond(before, after map[string]int) []string {
	var left []string
	for name, n := range after {
		if n > before[name] {
			left = append(left, fmt.Sprintf("%s (%d, were %d)", name, n, before[name]))
		}
	}
	slices.Sort(left)
	return left
}

// holdings counts what this process holds of the system.
func holdings() (map[string]int, error) {
	held := map[string]int{}
	children, err := Children(os.Getpid())
	if err != nil {
		return nil, err
	}
	held["child processes"] = len(children)

	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return nil, err
	}
	for _, fd := range fds {
		target, err := os.Readlink(fd)
		if err != nil {
			continue // Glob's own, closed since
		}
		for _, kind := range []string{"net:", "socket:", "/dev/net/tun", "anon_inode:[pidfd]", "pidfd:", "pipe:"} {
			if strings.HasPrefix(target, kind) {
				held["descriptors of "+strings.TrimSuffix(kind, ":")]++
			}
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	held["mounts"] = strings.Count(string(mounts), "\n")
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	held["network interfaces"] = len(links)
	return held, nil
}
