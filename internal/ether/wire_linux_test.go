package ether_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/ether"
	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// roles is what the test binary does when it is started again.
var roles = map[string]func(args []string) int{
	sys.RoleWire: ether.Main,
	roleVictim:   victim,
}

func TestMain(m *testing.M) {
	os.Exit(labtest.Main(m, func(args []string) (int, bool) {
		if len(args) == 0 || roles[args[0]] == nil {
			return 0, false
		}
		return roles[args[0]](args[1:]), true
	}))
}

// needContext skips what this system cannot do.
func needContext(t *testing.T, c ether.Context) {
	t.Helper()
	labtest.Need(t, feature.NetNS, feature.TAP)
	if c.TAP.NAPI {
		labtest.Need(t, feature.TAPNAPI)
	}
	if c.TAP.NAPIFrags {
		labtest.Need(t, feature.TAPFrags)
	}
	if c.Steered {
		labtest.Need(t, feature.Steering)
	}
	if c.TAP.VNetHdr {
		labtest.Need(t, feature.VNetHdr)
	}
	if c.Threaded {
		labtest.Need(t, feature.ThreadedNAPI)
	}
}

// inline is the plain context, for what is the same in all.
func inline(t *testing.T) ether.Context {
	t.Helper()
	c, ok := ether.ContextOf("inline")
	if !ok {
		t.Fatal("no context inline")
	}
	needContext(t, c)
	return c
}

// settled takes snapshots until one says that all frames have come and gone.
// Frames arrive a little before the wire has counted them out.
func settled(t *testing.T, w *ether.Wire, ab, ba uint64) ether.Stats {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; {
		s, err := w.Stats()
		if err != nil {
			t.Fatal(err)
		}
		if s.AToB[ether.FramesIn] >= ab && s.BToA[ether.FramesIn] >= ba && s.AToB.InFlight() == 0 && s.BToA.InFlight() == 0 {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("frames are missing: %v", s.Counts())
		}
	}
}

func batches(d *ether.Direction) uint64 {
	var n uint64
	for k := range ether.BatchBuckets {
		n += d[int(ether.Batch)+k]
	}
	return n
}

// TestContextsPassFramesBothWays answers each frame, as ping does, and counts
// exactly.
func TestContextsPassFramesBothWays(t *testing.T) {
	for _, c := range ether.Contexts() {
		for _, offload := range []bool{false, true} {
			c.TAP.VNetHdr = offload
			t.Run(c.Name+map[bool]string{true: "-offload"}[offload], func(t *testing.T) {
				needContext(t, c)
				labtest.NoLeaks(t)
				a, b := newHosts(t, c, 1500)
				w := start(t, a, b, c, 1500)
				const frames = 200
				var there, back uint64
				for i := range frames {
					out, answer := frame(60+7*i, byte(i)), frame(1514-3*i, byte(i+1))
					a.send(t, out)
					if got := b.recv(t); !bytes.Equal(got, out) {
						t.Fatalf("frame %d came as %d bytes %.30x, want %d", i, len(got), got, len(out))
					}
					b.send(t, answer)
					if got := a.recv(t); !bytes.Equal(got, answer) {
						t.Fatalf("answer %d came as %d bytes %.30x, want %d", i, len(got), got, len(answer))
					}
					there, back = there+uint64(len(out)), back+uint64(len(answer))
				}
				s := settled(t, w, frames, frames)
				for _, d := range []struct {
					name  string
					got   *ether.Direction
					bytes uint64
				}{{"there", &s.AToB, there}, {"back", &s.BToA, back}} {
					n, g := d.bytes, d.got
					if g[ether.FramesIn] != frames || g[ether.FramesOut] != frames || g[ether.BytesIn] != n || g[ether.BytesOut] != n || g.Dropped() != 0 {
						t.Errorf("%s: %v, want %d frames and %d bytes", d.name, s.Counts(), frames, n)
					}
					// Nearly every frame finds its thread asleep.
					if n := g[ether.Wakeups]; n < frames/2 || n > frames*3/2 {
						t.Errorf("%s: %d wake-ups for %d frames", d.name, n, frames)
					}
					if n := batches(g); n < 2 || n > 4 {
						t.Errorf("%s: %d batches looked at, want 3", d.name, n)
					}
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestDropsAreCountedByCause(t *testing.T) {
	for _, name := range []string{"inline", "uthread"} {
		t.Run(name, func(t *testing.T) {
			c, _ := ether.ContextOf(name)
			needContext(t, c)
			a, b := newHosts(t, c, 9000)
			w := start(t, a, b, c, 1500)
			a.send(t, frame(1518, 1))
			b.recv(t)
			a.send(t, frame(1519, 2))
			a.send(t, frame(9014, 3))
			if err := b.ns.Do(func() error { return b.up(false) }); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				a.send(t, frame(60, 4))
			}
			s := settled(t, w, 6, 0)
			want := map[string]int64{
				"a_to_b.frames_in": 6, "a_to_b.frames_out": 1, "a_to_b.bytes_out": 1518,
				"a_to_b.drop_too_long": 2, "a_to_b.drop_link_down": 3,
			}
			got := s.Counts()
			for name, n := range want {
				if got[name] != n {
					t.Errorf("%s = %d, want %d", name, got[name], n)
				}
			}
			if n := s.AToB.Dropped(); n != 5 {
				t.Errorf("%d drops in all, want 5: %v", n, got)
			}
		})
	}
}

func TestFramesQueuedBeforeTheStartAreNotLost(t *testing.T) {
	c := inline(t)
	a, b := newHosts(t, c, 1500)
	const frames = 20
	for i := range frames {
		a.send(t, frame(60, byte(i)))
	}
	w := start(t, a, b, c, 1500)
	for i := range frames {
		if got := b.recv(t); !bytes.Equal(got, frame(60, byte(i))) {
			t.Fatalf("frame %d is another", i)
		}
	}
	if s := settled(t, w, frames, 0); s.AToB[ether.FramesOut] != frames {
		t.Errorf("counted %v", s.Counts())
	}
}

func TestWireEndsWhenAnInterfaceGoes(t *testing.T) {
	c := inline(t)
	labtest.NoLeaks(t)
	a, b := newHosts(t, c, 1500)
	w := start(t, a, b, c, 1500)
	if err := b.ns.Do(func() error { return deleteLink(b.index) }); err != nil {
		t.Fatal(err)
	}
	waitDone(t, w)
	if err := w.Err(); err == nil || !strings.Contains(err.Error(), "direction B to A") {
		t.Errorf("Err = %v, want one that names the direction", err)
	}
	if _, err := w.Stats(); err == nil {
		t.Error("an ended wire gave counts")
	}
	if err := w.Close(); err == nil {
		t.Error("Close says that all was well")
	}
}

func TestParentNoticesThatTheWireDied(t *testing.T) {
	c := inline(t)
	labtest.NoLeaks(t)
	a, b := newHosts(t, c, 1500)
	w := start(t, a, b, c, 1500)
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(w.PID(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitDone(t, w)
	if err := w.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Err = %v, want one that says killed", err)
	}
	if _, err := w.Stats(); err == nil {
		t.Error("a dead wire gave counts")
	}
}

func TestCloseEndsTheProcess(t *testing.T) {
	c := inline(t)
	labtest.NoLeaks(t)
	a, b := newHosts(t, c, 1500)
	w := start(t, a, b, c, 1500)
	if group, err := syscall.Getpgid(w.PID()); err != nil || group != w.PID() {
		t.Errorf("process group %d, %v: a Ctrl-C would end the wire", group, err)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := unix.Kill(w.PID(), 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("process %d: %v, want none", w.PID(), err)
	}
	if _, err := w.Stats(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Stats after Close: %v", err)
	}
}

func TestStartTellsWhatIsWrong(t *testing.T) {
	c := inline(t)
	labtest.NoLeaks(t)
	a, b := newHosts(t, c, 1500)
	for _, cfg := range []ether.Config{
		{A: a.tap, CPU: sys.NoCPU},
		{A: a.tap, B: b.tap, CPU: -7},
		{A: a.tap, B: b.tap, CPU: 1 << 12},
		{A: a.tap, B: b.tap, CPU: sys.NoCPU, MTU: 1},
	} {
		w, err := ether.Start(cfg)
		if err == nil {
			w.Close()
			t.Errorf("%+v: started", cfg)
			continue
		}
		if !strings.Contains(err.Error(), "wire") {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func waitDone(t *testing.T, w *ether.Wire) {
	t.Helper()
	select {
	case <-w.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the wire did not end")
	}
}
