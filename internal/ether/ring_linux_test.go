package ether

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"runtime/debug"
	"testing"

	"pgregory.net/rapid"
)

// TestRingIsAQueue drives the ring from one thread against a slice.
func TestRingIsAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.SampledFrom([]int{86, 1519, 9019, maxSegmented + 13}).Draw(t, "room")
		r := newRing(room)
		var queue [][]byte
		seed := byte(0)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				p := r.free()
				if p == nil {
					if len(queue) == 0 {
						t.Fatal("an empty ring has no room")
					}
					t.Skip()
				}
				if len(p) != room {
					t.Fatalf("room for %d bytes, want %d", len(p), room)
				}
				n := rapid.IntRange(0, room).Draw(t, "n")
				seed++
				copy(p, pattern(room, seed)) // a read may use all of the room
				r.put(n)
				queue = append(queue, pattern(room, seed)[:n])
			},
			"take": func(t *rapid.T) {
				if len(queue) == 0 {
					t.Skip()
				}
				if got := r.next(); !bytes.Equal(got, queue[0]) {
					t.Fatalf("got %d bytes, want %d", len(got), len(queue[0]))
				}
				r.done()
				queue = queue[1:]
			},
			"": func(t *rapid.T) {
				if len(queue) > ringSlots {
					t.Fatalf("%d frames in a ring of %d", len(queue), ringSlots)
				}
			},
		})
	})
}

// TestRingHoldsFullFrames: as many as promised, or what its bytes allow.
func TestRingHoldsFullFrames(t *testing.T) {
	for room, want := range map[int]int{1519: ringSlots, maxSegmented + 13: ringBytes / aligned(maxSegmented+13), ringBytes: 2} {
		r := newRing(room)
		n := 0
		for ; r.free() != nil; n++ {
			r.put(room)
		}
		if n != want {
			t.Errorf("frames of %d bytes: %d in the ring, want %d", room, n, want)
		}
		r.next()
		r.done()
		if r.free() == nil {
			t.Errorf("frames of %d bytes: no room after one was taken", room)
		}
	}
}

func TestRingSmallFramesBehindAHeader(t *testing.T) {
	r := newRing(settings{mtu: DefaultMTU, vnetHdr: true}.framer().room)
	for n := range ringSlots {
		if r.free() == nil {
			t.Fatalf("full after %d frames of 72 bytes", n)
		}
		r.put(72)
	}
	if r.free() != nil {
		t.Errorf("more than %d frames", ringSlots)
	}
}

// rawThreads lets a test block threads in raw system calls: each keeps its P,
// and a collection would wait for it. Call it before what unblocks them.
func rawThreads(t *testing.T) {
	t.Helper()
	procs := runtime.GOMAXPROCS(runtime.NumCPU() + 3)
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	})
}

// TestRingBetweenThreads has the consumer sleep and wake in every way that
// timing gives.
func TestRingBetweenThreads(t *testing.T) {
	rawThreads(t)
	const frames = 20000
	r := newRing(1519)
	bad := make(chan uint64, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for want := range uint64(frames) {
			p := r.next()
			if got := binary.LittleEndian.Uint64(p); got != want || len(p) != 60+int(want%1400) {
				bad <- got
				return
			}
			r.done()
		}
		close(bad)
	}()
	for i := uint64(0); i < frames; {
		p := r.free()
		if p == nil {
			select {
			case got := <-bad:
				t.Fatalf("a wrong frame: %d", got)
			default:
				runtime.Gosched()
			}
			continue
		}
		binary.LittleEndian.PutUint64(p, i)
		r.put(60 + int(i%1400))
		if i++; i%64 == 0 {
			runtime.Gosched()
		}
	}
	if got, wrong := <-bad; wrong {
		t.Fatalf("a wrong frame: %d", got)
	}
}

func TestHandoffRingFull(t *testing.T) {
	a, b := newPort(t), newPort(t)
	l := quiet(a, b, settings{mtu: DefaultMTU, handoff: true})
	const extra = 10
	for i := range ringSlots + extra {
		send(t, a.outer, pattern(1518, byte(i)))
		step(t, l.pipe)
	}
	d := counted(l)
	if d[FramesIn] != ringSlots+extra || d[DropRingFull] != extra || d.InFlight() != ringSlots {
		t.Errorf("with nobody at the far side: %v", d)
	}
	for i := range ringSlots {
		l.write.step()
		if got := recv(t, b.outer); !bytes.Equal(got, pattern(1518, byte(i))) {
			t.Fatalf("frame %d is another", i)
		}
	}
	d = counted(l)
	if d[FramesOut] != ringSlots || d[BytesOut] != ringSlots*1518 || d.InFlight() != 0 {
		t.Errorf("in the end: %v", d)
	}
}
