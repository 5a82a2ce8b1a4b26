package traffic

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// uringWays are the ways to send and to receive that make use of io_uring, and
// one that does not, at the other end.
var uringWays = []spec.Params{
	{Send: "uring", Recv: "uring"},
	{Send: "uring-zc", Recv: "uring"},
	{Send: "uring"},
	{Send: "uring-zc"},
	{Recv: "uring"},
}

// needURing skips the test where the kernel, or a limit of this user, refuses
// the methods.
func needURing(t *testing.T) {
	t.Helper()
	labtest.Need(t, feature.URing, feature.URingSendZC)
	test := spec.Test{Name: "udp_stream", Params: spec.Params{Size: 65507, Send: "uring-zc", Recv: "uring"}}
	for _, role := range []string{result.Local, result.Remote} {
		if err := Refused(test, role); errors.Is(err, feature.ErrUnavailable) {
			labtest.Skip(t, err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func eachURing(t *testing.T, f func(t *testing.T, p spec.Params, addr netip.Addr)) {
	needURing(t)
	for _, p := range uringWays {
		t.Run(p.Send+","+p.Recv, func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) { f(t, p, addr) })
		})
	}
}

// checkCopied checks what the notices said: loopback copies everything. Of a
// stream the kernel may tell after a short window.
func checkCopied(t *testing.T, p spec.Params, local result.End, always bool) {
	t.Helper()
	zc, copied := local.Counts[CountZeroCopy], local.Counts[CountZeroCopied]
	if p.Send == "uring-zc" && always && zc == 0 || p.Send != "uring-zc" && zc != 0 || zc != copied {
		t.Errorf("%d sends without copying, of which %d were copied over loopback", zc, copied)
	}
}

func TestURingUDPStream(t *testing.T) {
	eachURing(t, func(t *testing.T, p spec.Params, addr netip.Addr) {
		for _, size := range []int{9, 65507} {
			p.Size = size
			local, remote := trial{test: "udp_stream", params: p, addr: addr, warmup: testWarmup, window: testWindow}.runFull(t)
			checkCopied(t, p, local, true)
			c := remote.Counts
			if sent := local.Counts[CountSentAll]; sent != c[CountReceivedAll]+c[CountSocketDropsAll] {
				t.Errorf("size %d: of %d sent in all, %d were received and %d dropped", size, sent, c[CountReceivedAll], c[CountSocketDropsAll])
			}
			if c[CountDuplicates]+c[CountReordered] != 0 || c[CountTotal] > local.Counts[CountSent] {
				t.Errorf("size %d: sent %d, %v", size, local.Counts[CountSent], c)
			}
			for _, e := range []result.End{local, remote} {
				if e.Bytes != int64(size)*e.Messages {
					t.Errorf("%s: %d messages, %d bytes", e.Role, e.Messages, e.Bytes)
				}
			}
		}
	})
}

func TestURingTCPStream(t *testing.T) {
	eachURing(t, func(t *testing.T, p spec.Params, addr netip.Addr) {
		for _, size := range []int{1000, 3 << 20} {
			p.Size = size
			local, remote := trial{test: "tcp_stream", params: p, addr: addr, warmup: testWarmup, window: testWindow}.runFull(t)
			checkCopied(t, p, local, false)
			if off := local.Bytes - local.Messages*int64(size); off < -int64(size) || off > int64(size) {
				t.Errorf("%d bytes in %d messages of %d", local.Bytes, local.Messages, size)
			}
			if local.Counts[CountSendCalls] == 0 || remote.Bytes == 0 {
				t.Errorf("%v, %d bytes came", local.Counts, remote.Bytes)
			}
		}
	})
}

// TestURingAllocatesNothing is TestLoopsAllocateNothing with the methods at both
// ends.
func TestURingAllocatesNothing(t *testing.T) {
	needURing(t)
	for _, test := range []string{"udp_stream", "tcp_stream"} {
		for _, send := range []string{"uring", "uring-zc"} {
			t.Run(test+"/"+send, func(t *testing.T) {
				tr := trial{test: test, params: spec.Params{Size: 1000, Send: send, Recv: "uring"}, addr: loopbacks["ipv4"],
					warmup: testWarmup, window: 4 * testWindow}
				allocatesNothing(t, tr, 200, 800, func(l, r result.End) int64 { return min(l.Messages, r.Bytes/1000) })
			})
		}
	}
}

// TestURingRefused has the kernel refuse a ring after it had granted one.
func TestURingRefused(t *testing.T) {
	err := uringRefused("uring", &socket{what: "TCP socket"}, unix.EMFILE)
	if !errors.Is(err, feature.ErrUnavailable) || !errors.Is(err, unix.EMFILE) || !strings.Contains(err.Error(), "method uring") {
		t.Error(err)
	}
}

// TestURingCloses gives both ends up at each step of their life: no descriptor
// is left, and the port is free again.
func TestURingCloses(t *testing.T) {
	needURing(t)
	for _, test := range []string{"udp_stream", "tcp_stream"} {
		for _, send := range []string{"uring", "uring-zc"} {
			for _, step := range []string{"New", "Prepare", "Arm", "Run"} {
				t.Run(test+"/"+send+"/"+step, func(t *testing.T) {
					before := descriptors(t)
					tr := trial{test: test, params: spec.Params{Send: send, Recv: "uring"}, addr: loopbacks["ipv4"], window: testWindow}
					closeAfter(t, tr, step)
					for until := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
						after := descriptors(t)
						if len(after) <= len(before) {
							break
						}
						if time.Now().After(until) {
							t.Fatalf("left behind: %v, before %v", after, before)
						}
					}
				})
			}
		}
	}
}

// closeAfter closes the two ends of a trial after a step.
func closeAfter(t *testing.T, tr trial, step string) {
	t.Helper()
	var ends [2]Engine
	var at [2]netip.AddrPort
	for i, role := range []string{result.Local, result.Remote} {
		e, err := New(Config{Role: role, Test: spec.Test{Name: tr.test, Params: tr.params}, Window: tr.window, CPU: -1, Addr: tr.addr})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}()
		if ends[i] = e; step == "New" {
			continue
		}
		port, err := e.Prepare()
		if err != nil {
			t.Fatal(err)
		}
		at[i] = netip.AddrPortFrom(tr.addr, port)
	}
	if step == "New" || step == "Prepare" {
		return
	}
	for _, i := range []int{1, 0} {
		if err := ends[i].Arm(at[1-i]); err != nil {
			t.Fatal(err)
		}
	}
	if step == "Run" {
		remote := start(ends[1])
		finish(t, start(ends[0]))
		ends[1].Stop()
		finish(t, remote)
	}
}

// descriptors are the sockets and rings that this process has.
func descriptors(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	var held []string
	for _, name := range names {
		if target, err := os.Readlink(name); err == nil && (strings.HasPrefix(target, "socket:") || strings.Contains(target, "io_uring")) {
			held = append(held, target)
		}
	}
	return held
}
