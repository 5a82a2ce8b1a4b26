package sys

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSleepUntil(t *testing.T) {
	const length = int64(3 * time.Millisecond)
	woke := false
	for until := Nanotime() + int64(10*time.Second); !woke && Nanotime() < until; { // a signal may end a sleep early
		begin := Nanotime()
		SleepUntil(begin + length)
		woke = Nanotime()-begin >= length
	}
	if !woke {
		t.Errorf("no sleep of %v was that long", time.Duration(length))
	}
	begin := Nanotime()
	for _, past := range []int64{begin, begin - 1, 1, 0} {
		SleepUntil(past)
	}
	if took := time.Duration(Nanotime() - begin); took > 10*time.Second {
		t.Errorf("sleeps until times that are past took %v", took)
	}
}

func TestSleepUntilAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { SleepUntil(1) }); n != 0 {
		t.Errorf("%v objects are allocated for a sleep", n)
	}
}

func TestPreciseTimers(t *testing.T) {
	runtime.LockOSThread() // the thread ends with this goroutine
	if err := PreciseTimers(); err != nil {
		t.Fatal(err)
	}
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || slack != 1 {
		t.Errorf("timer slack is %d ns (%v)", slack, err)
	}
}
