package traffic

import (
	"errors"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// TestZeroCopyReports tells a sender of four slots of ranges, over the wrap of
// the kernel's numbers too.
func TestZeroCopyReports(t *testing.T) {
	for _, c := range []struct {
		name              string
		next              uint32
		used              string // of the slots, before and
		left              string // after
		ranges            []sys.ZeroCopyRange
		completed, copied int64
		nextAfter         uint32
	}{
		{"one", 1, "x...", "....", []sys.ZeroCopyRange{{First: 0, Last: 0}}, 1, 0, 1},
		{"copied", 3, "xxx.", "x...", []sys.ZeroCopyRange{{First: 1, Last: 2, Copied: true}}, 2, 2, 3},
		{"out of order", 4, "xxxx", ".x..", []sys.ZeroCopyRange{{First: 3, Last: 3}, {First: 2, Last: 2, Copied: true}, {First: 0, Last: 0}}, 3, 1, 4},
		{"over the wrap", 1, "x.xx", "....", []sys.ZeroCopyRange{{First: 1<<32 - 2, Last: 0}}, 3, 0, 1},
		{"one that seemed not to be sent", 5, "xx..", "....", []sys.ZeroCopyRange{{First: 4, Last: 5}}, 2, 0, 6},
		{"all and more", 100, "xxxx", "....", []sys.ZeroCopyRange{{First: 0, Last: 99}}, 100, 0, 100},
	} {
		z := zeroCopy{next: c.next, inUse: make([]bool, 4)}
		for i := range z.inUse {
			z.inUse[i] = c.used[i] == 'x'
		}
		for _, r := range c.ranges {
			z.done(&r)
		}
		left := ""
		for _, used := range z.inUse {
			left += map[bool]string{true: "x", false: "."}[used]
		}
		if left != c.left || z.completed != c.completed || z.copied != c.copied || z.next != c.nextAfter || z.outstanding() != strings.Count(c.left, "x") {
			t.Errorf("%s: in use %s, %d completed, %d copied, next %d; want %+v", c.name, left, z.completed, z.copied, z.next, c)
		}
	}
}

// TestZeroCopyKeepsItsBuffers has a sender of datagrams whose buffers the
// kernel still reads.
func TestZeroCopyKeepsItsBuffers(t *testing.T) {
	needMethod(t, spec.Params{Send: "zerocopy"})
	_, s, cfg := udpPair(t, loopbacks["ipv4"], spec.Params{Size: 100, Send: "zerocopy"})
	m, err := newZeroCopyDatagram(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	z := m.(*zeroCopyDatagram)
	seen := map[*byte]bool{}
	for range z.buffers {
		b := m.batch()
		if len(b) != 1 || len(b[0]) != 100 || seen[&b[0][0]] {
			t.Fatalf("the batch is %d datagrams, or one that is in use", len(b))
		}
		seen[&b[0][0]] = true
		z.inUse[z.slot(z.next)] = true // and nothing is sent: no report will come
		z.next++
	}
	began := time.Now()
	if b := m.batch(); len(b) != 1 || seen[&b[0][0]] {
		t.Error("a buffer that the kernel reads is to be written to")
	}
	if took := time.Since(began); took < pollTime/2 || took > pollTime+time.Second {
		t.Errorf("waited %v for a buffer, want some %v", took, pollTime)
	}
	if n, errno := m.send(1); n != 0 || errno != unix.EAGAIN {
		t.Errorf("sent %d without a buffer, %v", n, errno)
	}
}

// TestZeroCopyOfLittleMemory has a kernel that allows few sends at a time, or
// none, in a network namespace that ends with the test's thread.
func TestZeroCopyOfLittleMemory(t *testing.T) {
	needMethod(t, spec.Params{Send: "zerocopy"})
	labtest.Need(t, feature.NetNS)
	p := spec.Params{Size: 40_000, Send: "zerocopy"}
	littleMemory := func(t *testing.T, bytes string) {
		runtime.LockOSThread()
		if err := errors.Join(unix.Unshare(unix.CLONE_NEWNET), loopbackUp()); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("/proc/sys/net/core/optmem_max", []byte(bytes), 0); err != nil {
			t.Skip(err) // one for all namespaces before Linux 6.7, and not for users' own
		}
	}
	t.Run("few", func(t *testing.T) {
		littleMemory(t, "3000")
		cfg, from, to := streamPair(t, loopbacks["ipv4"], p)
		m := newSender(t, cfg, from)
		all := receiveAll(to)
		calls := sendAll(t, m, from, 100, p.Size)
		if err := m.finish(finishTime); err != nil {
			t.Error(err)
		}
		from.shutdown(unix.SHUT_WR)
		if n := len(<-all); n != 100*p.Size {
			t.Errorf("%d bytes came of %d", n, 100*p.Size)
		}
		if s := m.stats(); s.completed != int64(len(calls)) {
			t.Errorf("%d sends, %d reported", len(calls), s.completed)
		}
	})
	t.Run("none", func(t *testing.T) {
		littleMemory(t, "16")
		cfg, from, _ := streamPair(t, loopbacks["ipv4"], p)
		_, errno := newSender(t, cfg, from).send(100)
		if err := from.failed("send on", errno); !errors.Is(err, unix.ENOBUFS) || !strings.Contains(err.Error(), "optmem_max") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("none for datagrams", func(t *testing.T) {
		littleMemory(t, "16")
		_, s, cfg := udpPair(t, loopbacks["ipv4"], p)
		m, err := newZeroCopyDatagram(s, cfg)
		if err != nil {
			t.Fatal(err)
		}
		m.batch()
		_, errno := m.send(1)
		if err := s.failed("send on", errno); transient(errno) || !errors.Is(err, unix.ENOBUFS) {
			t.Errorf("error %v", err)
		}
	})
}

// udpPair makes a connected pair of UDP sockets and the configuration of the
// second.
func udpPair(t *testing.T, addr netip.Addr, p spec.Params) (a, b *socket, cfg Config) {
	t.Helper()
	cfg = Config{Role: result.Local, Test: spec.Test{Name: "udp_stream", Params: p}, Window: testWindow, CPU: -1, Addr: addr}
	if err := cfg.check(); err != nil {
		t.Fatal(err)
	}
	var ports [2]uint16
	for i, s := range []**socket{&a, &b} {
		var err error
		if *s, ports[i], err = openUDP(cfg); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*s).close() })
	}
	for i, s := range []*socket{a, b} {
		if err := s.connect(netip.AddrPortFrom(addr, ports[1-i])); err != nil {
			t.Fatal(err)
		}
	}
	return a, b, cfg
}
