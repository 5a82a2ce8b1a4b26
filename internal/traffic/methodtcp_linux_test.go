package traffic

import (
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/spec"
)

// fileMethods are the send methods that send a file, sendTCP those and the
// others for streams but write, recvTCP the receive methods but recv.
var (
	fileMethods = []string{"read+write", "mmap+write", "sendfile", "splice"}
	sendTCP     = append([]string{"writev", "zerocopy"}, fileMethods...)
	recvTCP     = []string{"trunc", "splice", "zerocopy"}
)

// eachMethod runs a subtest with each send method, received by recv, and with
// each receive method of what write sends, and at last without any copy.
func eachMethod(t *testing.T, f func(t *testing.T, p spec.Params)) {
	var pairs []spec.Params
	for _, m := range sendTCP {
		pairs = append(pairs, spec.Params{Send: m})
	}
	for _, m := range recvTCP {
		pairs = append(pairs, spec.Params{Recv: m})
	}
	for _, p := range append(pairs, spec.Params{Send: "zerocopy", Recv: "zerocopy"}) {
		t.Run("send="+p.Send+",recv="+p.Recv, func(t *testing.T) {
			needMethod(t, p)
			if p.Send != "" && p.Send != "writev" && p.Send != "zerocopy" {
				p.FileSize = 1<<20 + 4097
			}
			f(t, p)
		})
	}
}

func needMethod(t *testing.T, p spec.Params) {
	t.Helper()
	if p.Send == "zerocopy" {
		labtest.Need(t, feature.ZeroCopySend)
	}
	if p.Recv == "zerocopy" {
		labtest.Need(t, feature.ZeroCopyReceive)
	}
}

func TestTCPMethods(t *testing.T) {
	eachMethod(t, func(t *testing.T, p spec.Params) {
		eachFamily(t, func(t *testing.T, addr netip.Addr) {
			const once = 400 // objects that are made for a trial
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p.Size = 3000
			local, remote := trial{test: "tcp_stream", params: p, addr: addr, warmup: testWarmup, window: testWindow}.runFull(t)
			runtime.ReadMemStats(&after)
			if n := int64(after.Mallocs - before.Mallocs); local.Messages > 4*once && n > once {
				t.Errorf("%d objects were allocated for %d messages", n, local.Messages)
			}
			if local.Bytes == 0 || remote.Bytes == 0 || local.Counts[CountSendCalls] == 0 || remote.Counts[CountReceiveCalls] == 0 {
				t.Errorf("%d bytes sent, %d received, counts %v, %v", local.Bytes, remote.Bytes, local.Counts, remote.Counts)
			}
			// What is sent on loopback is always copied.
			if n := local.Counts[CountZeroCopy]; (n != 0) != (p.Send == "zerocopy") || local.Counts[CountZeroCopied] != n {
				t.Errorf("sends without copying: %v", local.Counts)
			}
			got, mapped := remote.Counts[CountMapReceived], remote.Counts[CountMapped]
			// A receiver that comes late to its window's beginning counts what came
			// with that call in the window, and the method's part of it before.
			if (got != 0) != (p.Recv == "zerocopy") || mapped > got || got > remote.Bytes || got > 0 && remote.Bytes-got > maxWrite {
				t.Errorf("of %d bytes, %v", remote.Bytes, remote.Counts)
			}
		})
	})
}

func TestUDPMethodsOfTCP(t *testing.T) {
	for _, method := range []string{"writev", "zerocopy"} {
		for _, size := range []int{1, 1024, 65507} {
			t.Run(method, func(t *testing.T) {
				p := spec.Params{Size: size, Send: method}
				needMethod(t, p)
				eachFamily(t, func(t *testing.T, addr netip.Addr) {
					local, remote := trial{test: "udp_stream", params: p, addr: addr, warmup: testWarmup, window: testWindow}.runFull(t)
					if sent, received := local.Counts[CountSentAll], remote.Counts[CountReceivedAll]+remote.Counts[CountSocketDropsAll]; sent != received {
						t.Errorf("%d sent, %d received or dropped at the socket", sent, received)
					}
					if size > 2 && (remote.Counts[CountUnique] != remote.Counts[CountTotal] || remote.Counts[CountReordered] != 0) {
						t.Errorf("a datagram was written to while it was sent: %v", remote.Counts)
					}
					if n := local.Counts[CountZeroCopy]; (n != 0) != (method == "zerocopy") || local.Counts[CountZeroCopied] != n {
						t.Errorf("sends without copying: %v", local.Counts)
					}
				})
			})
		}
	}
}

// TestMethodsToAPeerThatReadsNothing has a connection that nobody reads from.
func TestMethodsToAPeerThatReadsNothing(t *testing.T) {
	for _, method := range sendTCP {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			needMethod(t, spec.Params{Send: method})
			sender, _ := trial{test: "tcp_stream", params: spec.Params{Send: method}, addr: loopbacks["ipv4"],
				warmup: testWarmup, window: testWindow}.ends(t)
			began := time.Now()
			end := finish(t, start(sender))
			if took := time.Since(began); took > testWarmup+testWindow+finishTime+hangUpTime+time.Second {
				t.Errorf("took %v", took)
			}
			if end.Elapsed < testWindow || end.Elapsed > testWindow+time.Second {
				t.Errorf("window of %v, want %v and at most one wait", end.Elapsed, testWindow)
			}
		})
	}
}

// TestMethodsPeerGone has a peer that resets the connection.
func TestMethodsPeerGone(t *testing.T) {
	for _, method := range sendTCP {
		t.Run(method, func(t *testing.T) {
			needMethod(t, spec.Params{Send: method})
			tr := trial{test: "tcp_stream", params: spec.Params{Send: method}, addr: loopbacks["ipv6"], window: 10 * time.Second}
			sender, remote := tr.ends(t)
			if err := remote.Close(); err != nil { // with the connection in its backlog
				t.Fatal(err)
			}
			began := time.Now()
			if o := wait(t, start(sender)); o.err == nil || !strings.Contains(o.err.Error(), "the peer closed") {
				t.Errorf("error %v, %+v", o.err, o.end)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestFileShrinks cuts a file off while it is sent.
func TestFileShrinks(t *testing.T) {
	for _, method := range fileMethods {
		for _, left := range []int64{100, 70000} {
			t.Run(method, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "file")
				if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
					t.Fatal(err)
				}
				tr := trial{test: "tcp_stream", params: spec.Params{Send: method, File: path}, addr: loopbacks["ipv4"], window: 10 * time.Second}
				local, remote := tr.ends(t)
				remoteDone, localDone := start(remote), start(local)
				if err := os.Truncate(path, left); err != nil {
					t.Fatal(err)
				}
				o := wait(t, localDone)
				if o.err == nil || !errors.Is(o.err, io.ErrUnexpectedEOF) || !strings.Contains(o.err.Error(), path+" shrank") {
					t.Errorf("error %v", o.err)
				}
				local.Close()
				remote.Stop()
				wait(t, remoteDone)
			})
		}
	}
}

// TestMethodsWaitAMoment has receive methods on a connection on which nothing
// comes, and then the end or a reset.
func TestMethodsWaitAMoment(t *testing.T) {
	for _, method := range append([]string{"recv"}, recvTCP...) {
		for _, reset := range []bool{false, true} {
			t.Run(method, func(t *testing.T) {
				p := spec.Params{Recv: method}
				needMethod(t, p)
				cfg, from, to := streamPair(t, loopbacks["ipv4"], p)
				row, err := recvMethodOf(cfg)
				if err != nil {
					t.Fatal(err)
				}
				m, err := row.stream(to, cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer m.close()
				began := time.Now()
				if n, errno := m.receive(); n > 0 || errno != unix.EAGAIN {
					t.Errorf("received %d, %v, want %v", n, errno, unix.EAGAIN)
				}
				if took := time.Since(began); took < gatherTime/2 || took > pollTime+time.Second {
					t.Errorf("waited %v, want some %v to %v", took, gatherTime, pollTime)
				}
				want := unix.Errno(0)
				if reset {
					want = unix.ECONNRESET
					if err := unix.SetsockoptLinger(int(from.Sock), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
						t.Fatal(err)
					}
				}
				if err := from.close(); err != nil {
					t.Fatal(err)
				}
				if n, errno := m.receive(); n > 0 || errno != want {
					t.Errorf("received %d, %v at the end, want %v", n, errno, want)
				}
			})
		}
	}
}
