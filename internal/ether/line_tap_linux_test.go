package ether_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/ether"
	"netdelta/internal/labtest"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// startLine starts a wire with a delay line between hosts that receive IPv4 frames.
func startLine(t *testing.T, c ether.Context, w spec.Wire) (a, b *host, wire *ether.Wire) {
	t.Helper()
	needContext(t, c)
	labtest.NoLeaks(t)
	a, b = newHosts(t, c, 1500)
	for _, h := range []*host{a, b} {
		proto := uint16(unix.ETH_P_IP>>8 | unix.ETH_P_IP&0xff<<8)
		if err := unix.Bind(h.sock, &unix.SockaddrLinklayer{Protocol: proto, Ifindex: h.index}); err != nil {
			t.Fatal(err)
		}
	}
	wire, err := ether.Start(ether.Config{A: a.tap, B: b.tap, Handoff: c.Handoff, Bounded: c.TAP.SndBuf > 0, CPU: sys.NoCPU, Wire: w})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { wire.Close() })
	return a, b, wire
}

// datagram is a frame of n bytes with UDP in it, from and to nobody, numbered.
func datagram(n, number int) []byte {
	p := frame(n, 1)
	binary.BigEndian.PutUint16(p[12:], unix.ETH_P_IP)
	copy(p[14:], []byte{0x45, 0, 0, 46, 0, 0, 0, 0, 64, unix.IPPROTO_UDP})
	binary.BigEndian.PutUint32(p[42:], uint32(number))
	return p
}

// TestWireDelays: each way is as long as it was asked to be, in every context.
func TestWireDelays(t *testing.T) {
	const delay = 2 * time.Millisecond
	for _, c := range ether.Contexts() {
		t.Run(c.Name, func(t *testing.T) {
			a, b, w := startLine(t, c, spec.Wire{Delay: delay})
			const frames = 20
			best := time.Hour
			for i := range frames {
				start := sys.Nanotime()
				a.send(t, datagram(60, i))
				b.recv(t)
				b.send(t, datagram(60, i))
				a.recv(t)
				took := time.Duration(sys.Nanotime() - start)
				if took < 2*delay {
					t.Fatalf("a round trip of %v through two delays of %v", took, delay)
				}
				best = min(best, took)
			}
			if best > 2*delay+2*time.Millisecond {
				t.Errorf("no round trip below %v through two delays of %v", best, delay)
			}
			s := settled(t, w, frames, frames)
			for _, d := range []*ether.Direction{&s.AToB, &s.BToA} {
				if d[ether.HeldFrames] != frames || time.Duration(d[ether.HeldNS]) < frames*delay || d[ether.KnownFrames] != frames || d[ether.Runs] != frames {
					t.Errorf("counted %v", s.Counts())
				}
			}
		})
	}
}

func TestWireLosesExactly(t *testing.T) {
	a, b, w := startLine(t, inline(t), spec.Wire{Loss: spec.Share{Every: 10}, Duplicate: spec.Share{Every: 9}})
	const frames = 200
	for i := range frames {
		a.send(t, datagram(60, i))
		if (i+1)%10 == 0 {
			continue // lost
		}
		if got := int(binary.BigEndian.Uint32(b.recv(t)[42:])); got != i {
			t.Fatalf("frame %d came as %d", i, got)
		}
		if i%10 == 8 { // the 9th of those that were not lost
			if got := int(binary.BigEndian.Uint32(b.recv(t)[42:])); got != i {
				t.Fatalf("frame %d came twice, as %d", i, got)
			}
		}
	}
	s := settled(t, w, frames, 0)
	if d := s.AToB; d[ether.DropLoss] != frames/10 || d.Dropped() != frames/10 || d[ether.KnownFrames] != frames || d[ether.Duplicated] != frames/10 || d[ether.FramesOut] != frames {
		t.Errorf("counted %v", s.Counts())
	}
}

// TestWireKeepsToItsRate: a flood comes at the line's rate, and what has no place in
// the queue is dropped and counted.
func TestWireKeepsToItsRate(t *testing.T) {
	const rate, queue = 20_000_000, 40
	a, b, w := startLine(t, inline(t), spec.Wire{Rate: rate, Queue: queue})
	const frames = 100
	var why string
	for range 5 {
		before, err := w.Stats()
		if err != nil {
			t.Fatal(err)
		}
		for i := range frames {
			a.send(t, datagram(1514, i))
		}
		s := settled(t, w, before.AToB[ether.FramesIn]+frames, 0)
		d := s.Since(&before).AToB
		if d[ether.FramesOut]+d[ether.DropQueue] != frames || d[ether.FramesOut] < 1+queue {
			t.Fatalf("counted %v", s.Counts())
		}
		for range d[ether.FramesOut] {
			b.recv(t)
		}
		// On average frames wait for half the time that all of them take.
		count := int64(d[ether.FramesOut])
		want := time.Duration(count * 1538 * 8 * int64(time.Second) / rate)
		held := time.Duration(d[ether.HeldNS] / d[ether.HeldFrames])
		if held < want/3 || held > want {
			why = fmt.Sprintf("%d frames were held for %v on average, of %v that they take", count, held, want)
			continue
		}
		return
	}
	t.Error(why)
}

// TestWireEndsWithFramesOnTheWay: what is under way is nobody's to wait for.
func TestWireEndsWithFramesOnTheWay(t *testing.T) {
	a, _, w := startLine(t, inline(t), spec.Wire{Delay: spec.MaxWireDelay})
	for i := range 50 {
		a.send(t, datagram(1514, i))
	}
	for end := time.Now().Add(5 * time.Second); ; {
		s, err := w.Stats()
		if err != nil {
			t.Fatal(err)
		}
		if s.AToB.InFlight() == 50 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("counted %v", s.Counts())
		}
	}
	start := time.Now()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > spec.MaxWireDelay/2 {
		t.Errorf("it took %v to end", took)
	}
}

// TestLineThreadsGoFirst: the threads of a line run before all ordinary ones, and the
// one that is handed frames before the one that looks for them without end.
func TestLineThreadsGoFirst(t *testing.T) {
	for name, want := range map[string]map[string]int{"inline": {"1": 2}, "uthread": {"1": 2, "2": 2}} {
		t.Run(name, func(t *testing.T) {
			c, _ := ether.ContextOf(name)
			_, _, w := startLine(t, c, spec.Wire{Delay: time.Millisecond})
			for _, text := range w.Warnings() {
				if strings.Contains(text, "SCHED_FIFO") {
					labtest.Skip(t, errors.New(text))
				}
			}
			tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", w.PID()))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, task := range tasks {
				stat, err := os.ReadFile(task)
				if err != nil {
					continue // it has ended
				}
				fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
				if priority := fields[40-3]; priority != "0" { // rt_priority of proc_pid_stat(5)
					got[priority]++
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("threads by real-time priority: %v, want %v", got, want)
			}
		})
	}
}
