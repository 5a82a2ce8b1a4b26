package ether

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"
)

// sleepCounter counts how often a thread has gone to sleep of itself, at no
// cost to the thread: the kernel counts anyway.
type sleepCounter struct {
	fd   int
	base uint64
	last uint64
	buf  []byte
}

// countSleeps counts from now on for the calling thread.
func countSleeps() (*sleepCounter, error) {
	name := fmt.Sprintf("/proc/self/task/%d/status", unix.Gettid())
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("count a thread's sleeps: open %s: %w", name, err)
	}
	s := &sleepCounter{fd: fd, buf: make([]byte, 8192)}
	s.base = s.read()
	return s, nil
}

// count is the sleeps so far. It allocates nothing. Only one goroutine may
// call it.
func (s *sleepCounter) count() uint64 { return s.read() - s.base }

func (s *sleepCounter) read() uint64 {
	n, err := unix.Pread(s.fd, s.buf, 0)
	if err == nil {
		if v, ok := voluntarySwitches(s.buf[:n]); ok {
			s.last = v
		}
	}
	return s.last
}

var voluntaryLine = []byte("\nvoluntary_ctxt_switches:")

// voluntarySwitches finds that line's figure in a thread's status (proc(5)).
func voluntarySwitches(status []byte) (n uint64, ok bool) {
	_, rest, found := bytes.Cut(status, voluntaryLine)
	if !found {
		return 0, false
	}
	for len(rest) > 0 && (rest[0] == '\t' || rest[0] == ' ') {
		rest = rest[1:]
	}
	for ; len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9'; rest = rest[1:] {
		n, ok = n*10+uint64(rest[0]-'0'), true
	}
	return n, ok && len(rest) > 0 && rest[0] == '\n'
}
