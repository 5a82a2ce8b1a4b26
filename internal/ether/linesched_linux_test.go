package ether

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// TestLineSize: what is asked for has room, within the bound.
func TestLineSize(t *testing.T) {
	plain, offload := settings{mtu: 1500}.framer().room, settings{mtu: 1500, vnetHdr: true}.framer().room
	for _, c := range []struct {
		w     spec.Wire
		room  int
		bytes int
		slots int
	}{
		{spec.Wire{Line: true}, plain, 50e6, 1 << 14},
		{spec.Wire{Delay: time.Millisecond}, plain, 5e6, 5000},
		{spec.Wire{Delay: spec.MaxWireDelay}, offload, spec.MaxWireHeld, maxSlots},
		{spec.Wire{Rate: 1e8}, plain, 1000 * 1519, 1000},
		{spec.Wire{Rate: 1e9, Queue: spec.MaxWireQueue}, plain, 100_000 * 1519, 100_000},
		{spec.Wire{Rate: 1000}, 86, 1000 * 86, 1000},
	} {
		bytes, slots := lineSize(c.w, c.room)
		if bytes < c.bytes || bytes > spec.MaxWireHeld || slots < c.slots || slots > 2*maxSlots || slots&(slots-1) != 0 {
			t.Errorf("%v: %d bytes and %d slots, want %d and %d", c.w, bytes, slots, c.bytes, c.slots)
		}
	}
}

// TestLineSchedule drives a line by a clock of the test's own, against a model.
func TestLineSchedule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := spec.Wire{
			Line:  true,
			Delay: time.Duration(rapid.IntRange(0, 1_000_000).Draw(rt, "delay")),
			Rate:  rapid.SampledFrom([]int64{0, 1_000_000, 100_000_000, 999_999_937, spec.MaxWireRate}).Draw(rt, "rate"),
			Queue: rapid.IntRange(1, 20).Draw(rt, "queue"),
		}
		p := &pipe{frame: settings{mtu: DefaultMTU}.framer(), count: &tally{}}
		l := newLine(w, 1, p, &outlet{fd: -1, count: p.count}, nil)
		now, bits, busy := int64(1_000_000), int64(0), int64(0)
		var begins []int64
		var last int64
		for range rapid.IntRange(1, 60).Draw(rt, "frames") {
			now += rapid.Int64Range(0, 200_000).Draw(rt, "gap")
			size := rapid.IntRange(60, 1514).Draw(rt, "size")
			waiting := 0
			for _, b := range begins {
				if b > now {
					waiting++
				}
			}
			head := l.head
			l.buffer()
			l.got, l.came = size, now
			l.take()
			if l.head == head {
				if waiting < w.Queue {
					rt.Fatalf("a frame was dropped with %d of %d waiting", waiting, w.Queue)
				}
				continue
			}
			s := l.slot(head)
			if s.came != now || s.due < now+int64(w.Delay) || s.due < last || s.begin < now {
				rt.Fatalf("at %d came %+v after one due at %d", now, s, last)
			}
			if w.Rate > 0 {
				if waiting > w.Queue || waiting == w.Queue && s.queued {
					rt.Fatalf("%d frames waited already, and one more does", waiting)
				}
				if s.begin == now { // the line was free: its time begins anew
					busy, bits = now, 0
				}
				bits += int64(onLine(size)) * 8
				if want := busy + bits*1e9/w.Rate + int64(w.Delay); s.due != want {
					rt.Fatalf("due at %d, want %d", s.due, want)
				}
				begins = append(begins, s.begin)
			} else if s.due != now+int64(w.Delay) {
				rt.Fatalf("due at %d, %d after it came", s.due, s.due-now)
			}
			last = s.due
		}
	})
}

func TestLateBuckets(t *testing.T) {
	for ns, want := range map[int64]string{
		-5: "late_1us", 0: "late_1us", 1000: "late_1us", 1001: "late_2us", 2000: "late_2us", 5000: "late_5us", 10_000: "late_10us",
		20_000: "late_20us", 50_000: "late_50us", 100_000: "late_100us", 100_001: "late_more", 1 << 60: "late_more",
	} {
		if got := lateBucket(ns).String(); got != want {
			t.Errorf("%d ns late counts as %s, want %s", ns, got, want)
		}
	}
}

// TestLineAllocatesNothing covers what can become of a frame.
func TestLineAllocatesNothing(t *testing.T) {
	for _, w := range []spec.Wire{
		{}, {Delay: time.Microsecond}, {Rate: 1e9}, {Loss: spec.Share{Every: 2}, Duplicate: spec.Share{Every: 3}}, {Frames: 4, Wait: time.Microsecond},
	} {
		turn := oneThroughLine(t, w)
		if n := testing.AllocsPerRun(200, turn); n != 0 {
			t.Errorf("%v: %v allocations a frame, want 0", w, n)
		}
	}
}

// oneThroughLine is a function that sends a frame through a line and takes what
// comes of it.
func oneThroughLine(t testing.TB, w spec.Wire) func() {
	l := newLined(t, w, settings{})
	frame, got := numbered(1), make([]byte, 2048)
	return func() {
		sys.Write(l.a.outer, frame)
		for l.line.step(); l.line.got > 0 || l.line.head != l.line.tail; {
			l.line.step()
		}
		for n, e := 1, unix.Errno(0); n > 0 && e == 0; {
			n, e = sys.Sock(l.b.outer).Recv(got, unix.MSG_DONTWAIT)
		}
	}
}

// BenchmarkLine takes 2 system calls more than BenchmarkFrame's, to find the port
// empty and for the second try where a delay is waited for.
func BenchmarkLine(b *testing.B) {
	for name, w := range map[string]spec.Wire{"line": {}, "delay": {Delay: 5 * time.Microsecond}, "rate": {Rate: 1e10}} {
		b.Run(name, func(b *testing.B) {
			turn := oneThroughLine(b, w)
			b.ReportAllocs()
			for b.Loop() {
				turn()
			}
		})
	}
}
