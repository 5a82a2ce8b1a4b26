package ether

import (
	"testing"
	"time"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

func TestLineMitigates(t *testing.T) {
	for _, c := range []struct {
		w            spec.Wire
		frames, runs int
	}{
		{spec.Wire{Frames: 4, Wait: 20 * time.Millisecond}, 16, 4},
		{spec.Wire{Frames: 4, Wait: 20 * time.Millisecond}, 18, 5},
		{spec.Wire{Frames: 64, Wait: 10 * time.Millisecond}, 40, 1},
		{spec.Wire{Wait: 30 * time.Millisecond}, 50, 1},
		{spec.Wire{Frames: 1, Wait: spec.MaxWireWait}, 10, 10},
	} {
		l := newLined(t, c.w, settings{})
		retry(t, func() string {
			before := counted(l.lane)
			start := sys.Nanotime()
			for i := range c.frames {
				send(t, l.a.outer, numbered(i))
			}
			after := l.settle(t, before[FramesIn]+uint64(c.frames))
			took := time.Duration(sys.Nanotime() - start)
			l.out(t)
			d := after.Since(&before)
			// A run that is not full waits, but for no mitigation at all.
			if c.w.Frames != 1 && (c.w.Frames == 0 || c.frames%c.w.Frames != 0) && took < c.w.Wait {
				t.Fatalf("%+v: %d frames were there after %v", c.w, c.frames, took)
			}
			if c.w.Frames == 1 {
				if d[Runs] > uint64(c.runs) || took > spec.MaxWireWait {
					return "frames waited for nothing"
				}
				return ""
			}
			if d[Runs] != uint64(c.runs) {
				return "the machine was too slow for the frames to be handed over together"
			}
			return ""
		})
	}
}

// TestLineWithoutWaitHandsOverWhatIsThere: frames without a wait bound a run, and
// nothing waits for them.
func TestLineWithoutWaitHandsOverWhatIsThere(t *testing.T) {
	l := newLined(t, spec.Wire{Frames: 4, Delay: 5 * time.Millisecond}, settings{})
	for i := range 3 {
		send(t, l.a.outer, numbered(i))
	}
	if d := l.settle(t, 3); d[Runs] < 1 || d[FramesOut] != 3 {
		t.Errorf("counted %v", d)
	}
}

// TestLineBatchesWakeups: with a second thread, a run's frames are published
// before it is woken.
func TestLineBatchesWakeups(t *testing.T) {
	l := newLined(t, spec.Wire{Frames: 8, Wait: 50 * time.Millisecond}, settings{handoff: true})
	for i := range 8 {
		send(t, l.a.outer, numbered(i))
	}
	l.write.ring.asleep = 1
	l.settle(t, 8)
	if n := l.write.ring.head.Load(); n != 8 || l.write.ring.asleep != 0 {
		t.Errorf("%d frames in the ring, asleep %d", n, l.write.ring.asleep)
	}
}
