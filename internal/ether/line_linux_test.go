package ether

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// lined is a lane with a delay line between two ports.
type lined struct {
	*lane
	a, b port
}

func newLined(t testing.TB, w spec.Wire, s settings) *lined {
	t.Helper()
	w.Line = true
	s.wire = w
	if s.mtu == 0 {
		s.mtu = DefaultMTU
	}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	l := &lined{a: newPort(t), b: newPort(t)}
	for _, fd := range []int{l.a.inner, l.a.outer, l.b.inner, l.b.outer} {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 4<<20) // room for many frames
	}
	l.lane = newLane(l.a.inner, l.b.inner, s)
	return l
}

// settle has the line take so many frames and get rid of all it has.
func (l *lined) settle(t testing.TB, frames uint64) Direction {
	t.Helper()
	for {
		d := counted(l.lane)
		if d[FramesIn] == frames && l.line.head == l.line.tail && l.line.aside.size == 0 && l.line.got == 0 {
			if d.InFlight() != 0 && l.write == nil {
				t.Fatalf("%d frames are in flight: %v", int64(d.InFlight()), d)
			}
			return d
		}
		if e := l.line.step(); e != 0 {
			t.Fatal(e)
		}
	}
}

// numbered is a UDP frame with a number in it.
func numbered(n int) []byte {
	p := ip4(60, udp, 0)
	binary.BigEndian.PutUint32(p[42:], uint32(n))
	return p
}

func numberOf(p []byte) int { return int(binary.BigEndian.Uint32(p[42:])) }

// out takes all frames that came out, and gives their numbers.
func (l *lined) out(t testing.TB) []int {
	t.Helper()
	var got []int
	p := make([]byte, 1<<17)
	for {
		n, e := sys.Sock(l.b.outer).Recv(p, unix.MSG_DONTWAIT)
		if e == unix.EAGAIN {
			return got
		}
		if e != 0 {
			t.Fatal(e)
		}
		got = append(got, numberOf(p[:n]))
	}
}

// retry tries again what a busy machine can spoil.
func retry(t *testing.T, f func() string) {
	t.Helper()
	var why string
	for range 10 {
		if why = f(); why == "" {
			return
		}
		t.Log(why)
	}
	t.Error(why)
}

func lateBy(d *Direction, bucket Count) (n uint64) {
	for c := Late; c <= bucket; c++ {
		n += d[c]
	}
	return n
}

func TestLinePassesFrames(t *testing.T) {
	for _, s := range []settings{{}, {handoff: true}, {bounded: true}, {vnetHdr: true}} {
		l := newLined(t, spec.Wire{}, s)
		for i := range 20 {
			p := append(make([]byte, l.pipe.frame.header), pattern(60+70*i, byte(i))...)
			send(t, l.a.outer, p)
			l.settle(t, uint64(i+1))
			if l.write != nil {
				l.write.step()
			}
			if got := recv(t, l.b.outer); !bytes.Equal(got, p) {
				t.Fatalf("%+v: frame %d came as %d bytes", s, i, len(got))
			}
		}
		if d := counted(l.lane); d[FramesOut] != 20 || d[BytesOut] != d[BytesIn] || d[Runs] != 20 || d[HeldFrames] != 20 || lateBy(&d, Late+7) != 20 || d.InFlight() != 0 || d[KnownFrames] != 0 {
			t.Errorf("%+v: %v", s, d)
		}
	}
}

// TestLineDelays: never early, and mostly not late.
func TestLineDelays(t *testing.T) {
	for _, try := range []bool{true, false} {
		for _, delay := range []time.Duration{20 * time.Microsecond, 300 * time.Microsecond, 3 * time.Millisecond} {
			l := newLined(t, spec.Wire{Delay: delay}, settings{})
			l.pipe.try = try
			retry(t, func() string {
				before := counted(l.lane)
				const frames = 20
				for i := range uint64(frames) {
					start := sys.Nanotime()
					send(t, l.a.outer, numbered(int(i)))
					l.settle(t, before[FramesIn]+i+1)
					if took := time.Duration(sys.Nanotime() - start); took < delay {
						t.Fatalf("a frame was there after %v, before its delay of %v", took, delay)
					}
				}
				l.out(t)
				after := counted(l.lane)
				d := after.Since(&before)
				if held := time.Duration(d[HeldNS] / frames); held < delay || held > delay+delay/2+100*time.Microsecond {
					return "held for " + held.String() + " on average, put in " + delay.String()
				}
				if late := lateBy(&d, Late+4); late < frames/2 {
					return "most frames are later than 20 us"
				}
				return ""
			})
		}
	}
}

// TestLineHoldsManyAtOnce: a delay is none to the next frame.
func TestLineHoldsManyAtOnce(t *testing.T) {
	const frames, delay = 100, 20 * time.Millisecond
	l := newLined(t, spec.Wire{Delay: delay}, settings{})
	start := sys.Nanotime()
	for i := range frames {
		send(t, l.a.outer, numbered(i))
	}
	d := l.settle(t, frames)
	if took := time.Duration(sys.Nanotime() - start); took < delay || took > frames*delay/4 {
		t.Errorf("%d frames took %v through a delay of %v", frames, took, delay)
	}
	for i, n := range l.out(t) {
		if n != i {
			t.Fatalf("frame %d is number %d", i, n)
		}
	}
	if d[FramesOut] != frames {
		t.Errorf("counted %v", d)
	}
}

// TestLineRate: n frames take as long as their bytes do.
func TestLineRate(t *testing.T) {
	const frames, rate = 200, 100_000_000
	l := newLined(t, spec.Wire{Rate: rate}, settings{})
	retry(t, func() string {
		before := counted(l.lane)[FramesIn]
		start := sys.Nanotime()
		for range frames {
			send(t, l.a.outer, pattern(1514, 0))
		}
		l.settle(t, before+frames)
		took := time.Duration(sys.Nanotime() - start)
		l.out(t)
		want := time.Duration(frames * 1538 * 8 * int64(time.Second) / rate)
		if took < want {
			t.Fatalf("%d frames took %v, less than the %v that their line takes", frames, took, want)
		}
		if took > 2*want { // a thread that got no CPU, if it is only now and then
			return "took " + took.String() + ", want " + want.String()
		}
		return ""
	})
}

// TestLineQueue: as many frames wait as may, beyond the one that is sent, and the
// rest is dropped and counted.
func TestLineQueue(t *testing.T) {
	const frames, queue = 40, 5
	// A frame takes the line 84 ms at this rate: all come while one is sent.
	l := newLined(t, spec.Wire{Rate: 8000, Queue: queue}, settings{})
	for i := range frames {
		send(t, l.a.outer, numbered(i))
	}
	for counted(l.lane)[FramesIn] < frames || l.line.got > 0 {
		if e := l.line.step(); e != 0 {
			t.Fatal(e)
		}
	}
	d := counted(l.lane)
	if d[DropQueue] != frames-1-queue || d.InFlight() != 1+queue || d[FramesOut] != 0 {
		t.Errorf("with a queue of %d: %v", queue, d)
	}
}

// TestLineFull: with no room left the line does not read, and what waits outside is
// read when there is some again.
func TestLineFull(t *testing.T) {
	const frames = 40
	l := newLined(t, spec.Wire{Delay: time.Millisecond}, settings{})
	l.line.arena = newArena(l.line.room, 3*aligned(l.line.room))
	for i := range frames {
		p := append(numbered(i), make([]byte, 1400)...)
		send(t, l.a.outer, p)
	}
	d := l.settle(t, frames)
	if got := l.out(t); len(got) != frames || d[FramesOut] != frames || d.Dropped() != 0 {
		t.Errorf("%d frames came: %v", len(got), d)
	}
}

func TestLineEndsWhenThePortDoes(t *testing.T) {
	for _, try := range []bool{true, false} {
		l := newLined(t, spec.Wire{Delay: time.Millisecond}, settings{})
		l.pipe.try = try
		send(t, l.a.outer, numbered(1))
		unix.Close(l.a.outer)
		if err := l.line.run(); err == nil {
			t.Error("run ended without a reason")
		}
	}
}
