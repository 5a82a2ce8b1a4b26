package ether

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// TestBoundedOutletWaits fills the far queue: an outlet with a bound waits
// there, and nothing is dropped.
func TestBoundedOutletWaits(t *testing.T) {
	rawThreads(t)
	b := newPort(t)
	queued := 0
	for {
		_, e := sys.TryWrite(b.inner, pattern(1500, 0))
		if e == unix.EAGAIN {
			break
		}
		if e != 0 {
			t.Fatal(e)
		}
		queued++
	}
	o := &outlet{fd: b.inner, bounded: true, count: &tally{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.deliver(pattern(60, 1))
	}()
	select {
	case <-done:
		t.Fatal("it did not wait")
	case <-time.After(10 * time.Millisecond): // time to get it wrong
	}
	for range queued {
		recv(t, b.outer)
	}
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("it still waits when there is room")
	}
	if got := recv(t, b.outer); len(got) != 60 {
		t.Errorf("a frame of %d bytes came", len(got))
	}
	var d Direction
	o.count.addTo(&d)
	check(t, d, map[Count]uint64{FramesOut: 1, BytesOut: 60})
}

// TestBoundedOutletDropsWhenThePortIsGone: the wait ends with what was waited
// for.
func TestBoundedOutletDropsWhenThePortIsGone(t *testing.T) {
	rawThreads(t)
	b := newPort(t)
	for e := unix.Errno(0); e == 0; {
		_, e = sys.TryWrite(b.inner, pattern(1500, 0))
	}
	o := &outlet{fd: b.inner, bounded: true, count: &tally{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.deliver(pattern(60, 1))
	}()
	unix.Close(b.outer)
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("it waits for a port that is gone")
	}
	var d Direction
	o.count.addTo(&d)
	check(t, d, map[Count]uint64{DropPortGone: 1})
}

// TestBoundedOutletOnAnOldKernel writes to a file that cannot be written
// without waiting, as TAPs cannot before Linux 5.9: the thread's own name.
func TestBoundedOutletOnAnOldKernel(t *testing.T) {
	const file = "/proc/self/comm"
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer os.WriteFile(file, before, 0)
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, e := sys.TryWrite(int(f.Fd()), []byte("x")); e != unix.EOPNOTSUPP {
		t.Fatalf("the file answers %v: it proves nothing", e)
	}
	o := &outlet{fd: int(f.Fd()), bounded: true, count: &tally{}}
	o.deliver([]byte("a frame"))
	var d Direction
	o.count.addTo(&d)
	check(t, d, map[Count]uint64{FramesOut: 1, BytesOut: 7})
	if now, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(now)) != "a frame" {
		t.Errorf("written was %q, %v", now, err)
	}
}
