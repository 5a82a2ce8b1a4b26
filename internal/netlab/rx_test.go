//go:build linux

package netlab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// twoCPUs are the first and the last that this process may use, which differ.
func twoCPUs(t *testing.T) (first, last int) {
	t.Helper()
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < 2 {
		labtest.Skip(t, errors.New("one CPU: where something ran cannot be told"))
	}
	return cpus[0], cpus[len(cpus)-1]
}

// otherCPU is one that steersTo does not choose by itself.
func otherCPU(t *testing.T) int {
	_, last := twoCPUs(t)
	return last
}

// stream has host a send n bytes of TCP to host b, and reports what b did not get.
func stream(k *Link, from, to netip.Addr, n int) error {
	var l net.Listener
	err := k.lab.B.NS.Do(func() (err error) {
		l, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(to, 0)))
		return err
	})
	if err != nil {
		return err
	}
	defer l.Close()
	var c *net.TCPConn
	err = k.lab.A.NS.Do(func() (err error) {
		c, err = net.DialTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), l.Addr().(*net.TCPAddr))
		return err
	})
	if err != nil {
		return err
	}
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i + i>>8)
	}
	sent := make(chan error, 1)
	go func() {
		_, err := c.Write(data)
		sent <- errors.Join(err, c.Close())
	}()
	r, err := l.Accept()
	if err != nil {
		return errors.Join(err, <-sent)
	}
	defer r.Close()
	if err := r.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	got, err := io.ReadAll(r)
	if err == nil && !bytes.Equal(got, data) {
		err = fmt.Errorf("%d bytes of %d came, or others", len(got), n)
	}
	return errors.Join(err, <-sent)
}

// nothingLost fails if the link has dropped a frame so far.
func nothingLost(t *testing.T, k *Link) {
	t.Helper()
	counts, err := k.Counts()
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range counts {
		if strings.Contains(name, ".drop_") && n != 0 {
			t.Errorf("%s is %d before any stream", name, n)
		}
	}
}

// TestContextsCarryEverything passes what tests send by every context of ether.
func TestContextsCarryEverything(t *testing.T) {
	for _, name := range Contexts(Ether) {
		for _, offload := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/offload=%v", name, offload), func(t *testing.T) {
				labtest.NoLeaks(t)
				k := connect(t, newLab(t), LinkConfig{Kind: Ether, Context: name, Offload: offload, WireCPU: sys.NoCPU, HandlerCPU: sys.NoCPU})
				for _, size := range []int{1, 1472} {
					if err := sendOne(k.lab, k, size); err != nil {
						t.Errorf("UDP of %d bytes: %v", size, err)
					}
				}
				ping(t, k, 10)
				nothingLost(t, k)
				if err := stream(k, k.AddrA(), k.AddrB(), 1<<20); err != nil {
					t.Errorf("TCP: %v", err)
				}
				if k.lab.ipv6 {
					if err := stream(k, k.Addr6A(), k.Addr6B(), 1<<20); err != nil {
						t.Errorf("TCP by IPv6: %v", err)
					}
				}
				counts, err := k.Counts()
				if err != nil {
					t.Fatal(err)
				}
				for name, n := range counts {
					// A stream fills the ring of a second thread that is behind, and
					// sends again what did not fit; nothing else may be lost.
					full := strings.HasSuffix(name, ".drop_ring_full")
					if strings.Contains(name, ".drop_") && !full && n != 0 {
						t.Errorf("%s is %d", name, n)
					}
				}
				if err := k.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestBacklogIsOnItsCPU has the wire on one CPU and the backlog on another: all
// kinds of packets are taken in by the latter.
func TestBacklogIsOnItsCPU(t *testing.T) {
	wire, handler := twoCPUs(t)
	k := connect(t, newLab(t), LinkConfig{Kind: Ether, Context: "backlog", WireCPU: wire, HandlerCPU: handler})
	defer k.Close()
	const n = 200
	for _, c := range []struct {
		name  string
		send  func() error
		least uint32
	}{
		{"ICMP", func() error { echoes(t, k.lab.A, k.AddrB(), n); return nil }, 2 * n},
		{"ICMP by IPv6", func() error {
			if k.lab.ipv6 {
				echoes(t, k.lab.A, k.Addr6B(), n)
			} else {
				echoes(t, k.lab.A, k.AddrB(), n)
			}
			return nil
		}, 2 * n},
		{"UDP", func() error {
			for range n {
				if err := sendOne(k.lab, k, 1); err != nil {
					return err
				}
			}
			return nil
		}, n},
		{"TCP", func() error { return stream(k, k.AddrA(), k.AddrB(), n*1448) }, n},
	} {
		before, err := takenIn()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.send(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		after, err := takenIn()
		if err != nil {
			t.Fatal(err)
		}
		if got := after[handler] - before[handler]; got < c.least {
			t.Errorf("%s: CPU %d has taken in %d packets, CPU %d %d, for %d at least", c.name, handler, got, wire, after[wire]-before[wire], c.least)
		}
	}
}

// TestInlineIsOnTheWiresCPU is the other side: with the wire bound, its CPU takes
// in what inline and page fragments have, though the NAPI of the latter is said to
// be threaded.
func TestInlineIsOnTheWiresCPU(t *testing.T) {
	_, wire := twoCPUs(t)
	for _, name := range []string{"inline", "frags"} {
		t.Run(name, func(t *testing.T) {
			lab := newLab(t)
			k := connect(t, lab, LinkConfig{Kind: Ether, Context: name, WireCPU: wire, HandlerCPU: sys.NoCPU})
			defer k.Close()
			var threads []int
			if name == "frags" && feature.ThreadedNAPI.Err() == nil {
				threads = threadNow(t, lab.B)
			}
			const n = 200
			before, err := takenIn()
			if err != nil {
				t.Fatal(err)
			}
			ran := switches(t, threads)
			echoes(t, lab.A, k.AddrB(), n)
			after, err := takenIn()
			if err != nil {
				t.Fatal(err)
			}
			if got := after[wire] - before[wire]; got < 2*n {
				t.Errorf("CPU %d has taken in %d packets for %d", wire, got, 2*n)
			}
			for pid, now := range switches(t, threads) {
				if now-ran[pid] > n/4 {
					t.Errorf("NAPI thread %d ran %d times for %d frames: About is wrong", pid, now-ran[pid], n)
				}
			}
		})
	}
}

// threadNow makes a host's interface threaded, and returns the threads that
// were not there before.
func threadNow(t *testing.T, h *Host) []int {
	t.Helper()
	before, _, err := sys.NAPIThreads(h.Device)
	if err != nil {
		t.Fatal(err)
	}
	fs, err := h.NS.OpenSysfs()
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	if err := fs.Set("class/net/"+h.Device+"/threaded", "1"); err != nil {
		t.Fatal(err)
	}
	now, _, err := sys.NAPIThreads(h.Device)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(now, func(pid int) bool { return slices.Contains(before, pid) })
}

func TestParseTakenIn(t *testing.T) {
	const zero = " 00000000"
	row := func(n, cpu string) string { return n + strings.Repeat(zero, 11) + " " + cpu + zero + zero + "\n" }
	online := func() ([]int, error) { return []int{0, 2}, nil }
	for _, c := range []struct {
		text string
		want string
	}{
		{row("0000000a", "00000000") + row("ffffffff", "00000003"), "map[0:10 3:4294967295]"},
		{"00000001" + zero + "\n00000002" + zero + "\n", "map[0:1 2:2]"},
		{"", "map[]"},
		{"x\n", ""},
		{row("1", "x"), ""},
	} {
		got, err := parseTakenIn(c.text, online)
		if (err != nil) != (c.want == "") || err == nil && fmt.Sprint(got) != c.want {
			t.Errorf("%q: %v, %v, want %s", c.text, got, err, c.want)
		}
	}
}
