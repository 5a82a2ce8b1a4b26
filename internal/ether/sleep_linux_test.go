package ether

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

func TestVoluntarySwitches(t *testing.T) {
	for _, c := range []struct {
		text string
		n    uint64
		ok   bool
	}{
		{"Name:\tx\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n", 150, true},
		{"a\nvoluntary_ctxt_switches: 0\n", 0, true},
		{"a\nnonvoluntary_ctxt_switches:\t545\n", 0, false},
		{"a\nvoluntary_ctxt_switches:\t\n", 0, false},
		{"a\nvoluntary_ctxt_switches:\t15", 0, false}, // cut short
		{"a\nvoluntary_ctxt_switches:\t-1\n", 0, false},
		{"", 0, false},
	} {
		if n, ok := voluntarySwitches([]byte(c.text)); ok != c.ok || (ok && n != c.n) {
			t.Errorf("%q: %d, %v; want %d, %v", c.text, n, ok, c.n, c.ok)
		}
	}
}

func FuzzVoluntarySwitches(f *testing.F) {
	f.Add([]byte("Name:\tx\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n"), uint64(7))
	f.Add([]byte("\nvoluntary_ctxt_switches:"), uint64(0))
	f.Fuzz(func(t *testing.T, before []byte, n uint64) {
		if _, ok := voluntarySwitches(before); ok && !bytes.Contains(before, voluntaryLine) {
			t.Fatalf("found in %q", before)
		}
		if bytes.Contains(before, voluntaryLine) {
			return
		}
		text := fmt.Appendf(before, "\nvoluntary_ctxt_switches:\t%d\n", n)
		if got, ok := voluntarySwitches(text); !ok || got != n {
			t.Fatalf("%q: %d, %v", text, got, ok)
		}
	})
}

func TestSleepsAreCounted(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s, err := countSleeps()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s.fd)
	before := s.count()
	const sleeps = 100
	var word uint32
	for range sleeps {
		sys.FutexWait(&word, 0, &unix.Timespec{Nsec: 100_000})
	}
	// A busy machine may spend a wait before it begins, and the runtime may
	// have the thread sleep a few times too.
	if got := s.count() - before; got < sleeps*3/4 || got > sleeps*5/4 {
		t.Errorf("%d sleeps counted, want about %d", got, sleeps)
	}
	if n := testing.AllocsPerRun(100, func() { s.count() }); n != 0 {
		t.Errorf("counting allocates %v times", n)
	}
}
