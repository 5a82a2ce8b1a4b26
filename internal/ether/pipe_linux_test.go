package ether

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// port is a socket pair that keeps frames apart, as a TAP does: frames
// written at outer are read at inner and the other way round.
type port struct{ inner, outer int }

func newPort(t testing.TB) port {
	t.Helper()
	fd, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range fd {
			unix.Close(f) // the test may have closed it
		}
	})
	return port{fd[0], fd[1]}
}

func send(t testing.TB, fd int, p []byte) {
	t.Helper()
	if _, e := sys.Write(fd, p); e != 0 {
		t.Fatal(e)
	}
}

// recv takes the frame that must be there.
func recv(t testing.TB, fd int) []byte {
	t.Helper()
	p := make([]byte, 1<<17)
	n, e := sys.Sock(fd).Recv(p, unix.MSG_DONTWAIT)
	if e != 0 {
		t.Fatalf("no frame: %v", e)
	}
	return p[:n]
}

// quiet is a lane that looks at no batches, for which it would wait.
func quiet(from, to port, s settings) *lane {
	l := newLane(from.inner, to.inner, s)
	l.pipe.until = 1 << 30
	return l
}

func step(t testing.TB, p *pipe) {
	t.Helper()
	if e := p.step(); e != 0 {
		t.Fatal(e)
	}
}

func check(t *testing.T, d Direction, want map[Count]uint64) {
	t.Helper()
	for c := range Count(numCounts) {
		if d[c] != want[c] {
			t.Errorf("%v = %d, want %d", c, d[c], want[c])
		}
	}
}

func pattern(n int, seed byte) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = seed + byte(i)
	}
	return p
}

// counted is what a lane's own threads have counted.
func counted(l *lane) Direction {
	var d Direction
	l.wrote.addTo(&d)
	l.read.addTo(&d)
	return d
}

func TestPipePassesFrames(t *testing.T) {
	a, b := newPort(t), newPort(t)
	l := quiet(a, b, settings{mtu: DefaultMTU})
	sizes := []int{60, 1514, 100, 1518, 61}
	total := 0
	for i, n := range sizes {
		send(t, a.outer, pattern(n, byte(i)))
		total += n
	}
	for i, n := range sizes {
		step(t, l.pipe)
		if got := recv(t, b.outer); !bytes.Equal(got, pattern(n, byte(i))) {
			t.Errorf("frame %d came as %d bytes", i, len(got))
		}
	}
	check(t, counted(l), map[Count]uint64{FramesIn: 5, FramesOut: 5, BytesIn: uint64(total), BytesOut: uint64(total)})
}

// scripted is a stage that tells before each read.
type scripted struct {
	stage
	reads  int
	before func(read int)
}

func (s *scripted) buffer() []byte {
	s.reads++
	s.before(s.reads)
	return s.stage.buffer()
}

// TestPipeSamplesBatches has a batch come while the pipe looks for one.
func TestPipeSamplesBatches(t *testing.T) {
	for _, size := range []int{1, 2, 5} {
		a, b := newPort(t), newPort(t)
		l := newLane(a.inner, b.inner, settings{mtu: DefaultMTU})
		// The end of a batch whose beginning nobody saw is not counted.
		for range 3 {
			send(t, a.outer, pattern(60, 0))
		}
		direct := l.pipe.next
		l.pipe.next = &scripted{stage: direct, before: func(read int) {
			if read == 5 { // the fourth found nothing; this one will wait
				for range size {
					send(t, a.outer, pattern(60, 1))
				}
			}
		}}
		step(t, l.pipe)
		check(t, counted(l), map[Count]uint64{
			FramesIn: uint64(3 + size), FramesOut: uint64(3 + size),
			BytesIn: uint64(60 * (3 + size)), BytesOut: uint64(60 * (3 + size)), batchBucket(size): 1,
		})
		// None of the next ones is looked at; the one after them is.
		l.pipe.next = direct
		for range sampleEvery {
			send(t, a.outer, pattern(60, 0))
			step(t, l.pipe)
		}
		if n := counted(l)[batchBucket(size)]; n != 1 || l.pipe.until != 0 {
			t.Errorf("after %d frames %d batches were looked at, and %d frames are to pass", sampleEvery, n, l.pipe.until)
		}
	}
}

func TestPipeProbeLosesNothing(t *testing.T) {
	a, b := newPort(t), newPort(t)
	l := quiet(a, b, settings{mtu: DefaultMTU})
	l.pipe.probe() // nothing there
	send(t, a.outer, pattern(60, 0))
	l.pipe.probe()
	if !l.pipe.try {
		t.Error("a socket can be read without waiting")
	}
	recv(t, b.outer)
	check(t, counted(l), map[Count]uint64{FramesIn: 1, FramesOut: 1, BytesIn: 60, BytesOut: 60})
}

func TestPipeProbeTellsWhatCannotBeTried(t *testing.T) {
	f, err := os.Open("/proc/self/status") // no RWF_NOWAIT for these
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := newLane(int(f.Fd()), newPort(t).inner, settings{mtu: DefaultMTU})
	if l.pipe.probe(); l.pipe.try {
		t.Error("a file of /proc passes for one that can be read without waiting")
	}
}

func TestPipeEndsWhenThePortDoes(t *testing.T) {
	for _, try := range []bool{true, false} {
		a, b := newPort(t), newPort(t)
		l := quiet(a, b, settings{mtu: DefaultMTU})
		l.pipe.try = try
		send(t, a.outer, pattern(60, 0))
		unix.Close(a.outer)
		if err := l.pipe.run(); err == nil {
			t.Error("run ended without a reason")
		}
		if d := counted(l); d[FramesOut] != 1 {
			t.Errorf("the last frame was lost: %v", d)
		}
	}
}

func TestPipeDropsByCause(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(b port)
		size  int
		mtu   int
		cause Count
	}{
		{"long frame", func(port) {}, 1519, 1500, DropTooLong},
		{"very long frame", func(port) {}, 4000, 1500, DropTooLong},
		{"far queue full", func(b port) {
			unix.SetNonblock(b.inner, true)
			for e := unix.Errno(0); e == 0; {
				_, e = sys.Write(b.inner, pattern(1500, 0))
			}
		}, 60, 1500, DropQueueFull},
		{"far port gone", func(b port) { unix.Close(b.outer) }, 60, 1500, DropPortGone},
		{"frame refused", func(b port) {
			unix.SetsockoptInt(b.inner, unix.SOL_SOCKET, unix.SO_SNDBUF, 1) // the least there is, some 4600
		}, 8192, 9000, DropRefused},
	} {
		for _, handoff := range []bool{false, true} {
			a, b := newPort(t), newPort(t)
			c.spoil(b)
			l := quiet(a, b, settings{mtu: c.mtu, handoff: handoff})
			send(t, a.outer, pattern(c.size, 0))
			step(t, l.pipe)
			if handoff && c.cause != DropTooLong {
				l.write.step()
			}
			d := counted(l)
			if d[FramesIn] != 1 || d[FramesOut] != 0 || d[c.cause] != 1 || d.Dropped() != 1 || d.InFlight() != 0 {
				t.Errorf("%s, handoff %v: %v", c.name, handoff, d)
			}
		}
	}
}

func TestDropCauses(t *testing.T) {
	for e, want := range map[unix.Errno]Count{
		unix.EAGAIN: DropQueueFull, unix.ENOBUFS: DropQueueFull, unix.ENOMEM: DropQueueFull,
		unix.EIO: DropLinkDown, unix.ENETDOWN: DropLinkDown,
		unix.EINVAL: DropRefused, unix.EMSGSIZE: DropRefused,
		unix.EBADFD: DropPortGone, unix.EBADF: DropPortGone, unix.EFAULT: DropPortGone,
		unix.EPERM: DropOther, unix.EBUSY: DropOther,
	} {
		if got := dropCause(e); got != want {
			t.Errorf("%v counts as %v, want %v", e, got, want)
		}
	}
}

// TestLoopsAllocateNothing covers both ways a frame can take.
func TestLoopsAllocateNothing(t *testing.T) {
	for _, handoff := range []bool{false, true} {
		turn := oneFrame(t, handoff)
		if n := testing.AllocsPerRun(1000, turn); n != 0 {
			t.Errorf("handoff %v: %v allocations a frame, want 0", handoff, n)
		}
	}
}

// oneFrame is a function that sends a frame through a lane and takes it.
func oneFrame(t testing.TB, handoff bool) func() {
	a, b := newPort(t), newPort(t)
	l := quiet(a, b, settings{mtu: DefaultMTU, handoff: handoff})
	frame, got := pattern(60, 0), make([]byte, 2048)
	return func() {
		sys.Write(a.outer, frame)
		l.pipe.step()
		if handoff {
			l.write.step()
		}
		if n, _ := sys.Sock(b.outer).Recv(got, unix.MSG_DONTWAIT); n != len(frame) {
			t.Fatalf("a frame of %d bytes came as %d", len(frame), n)
		}
	}
}

// BenchmarkFrame takes 4 system calls for the pipe's own 3.
func BenchmarkFrame(b *testing.B) {
	for name, handoff := range map[string]bool{"direct": false, "handoff": true} {
		b.Run(name, func(b *testing.B) {
			turn := oneFrame(b, handoff)
			b.ReportAllocs()
			for b.Loop() {
				turn()
			}
		})
	}
}

// BenchmarkCount is what counting one frame costs.
func BenchmarkCount(b *testing.B) {
	count := &tally{}
	for b.Loop() {
		count.add(FramesIn, 1)
		count.add(BytesIn, 60)
		count.add(FramesOut, 1)
		count.add(BytesOut, 60)
	}
}
