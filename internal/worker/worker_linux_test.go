package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/labtest/veth"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

const window = 50 * time.Millisecond

// TestTrials runs every test over a link between two hosts.
func TestTrials(t *testing.T) {
	labtest.NoLeaks(t)
	lab, link := veth.Pair(t)
	addrs := map[string][2]netip.Addr{
		"ipv4": {link.AddrA(), link.AddrB()},
		"ipv6": {link.Addr6A(), link.Addr6B()},
	}
	for _, kind := range spec.Kinds() {
		for family, addr := range addrs {
			t.Run(kind.Name+"/"+family, func(t *testing.T) {
				if !addr[0].IsValid() {
					labtest.Skip(t, fmt.Errorf("no %s here", family))
				}
				// A machine that is busy otherwise may starve an end for longer
				// than the window.
				var ends []*result.End
				for range 5 {
					if ends = oneTrial(t, lab, kind, addr); !slices.ContainsFunc(ends, func(e *result.End) bool { return e.Messages == 0 }) {
						break
					}
				}
				for i, e := range ends {
					if e.Role != []string{result.Local, result.Remote}[i] || e.Messages == 0 || (e.Bytes == 0) != (kind.Pattern == spec.Wake) {
						t.Errorf("%+v", e)
					}
					user, knows := e.Counts[traffic.CountCPUUser]
					if system := e.Counts[traffic.CountCPUSystem]; !knows || user+system < 0 || user+system > 16*int64(e.Elapsed+time.Second) {
						t.Errorf("CPU time of the %s end: %v", e.Role, e.Counts)
					}
					// A late answer is a sample and no message.
					if hasRTT := e.RTT != nil && e.RTT.Count() == e.Messages+e.Counts[traffic.CountLate]; hasRTT != (i == 0 && !kind.IsStream()) {
						t.Errorf("round trips at the %s end: %v", e.Role, e.RTT)
					}
				}
			})
		}
	}
}

// oneTrial runs a test between two hosts, and returns what its ends counted.
func oneTrial(t *testing.T, lab *netlab.Lab, kind spec.Kind, addr [2]netip.Addr) []*result.End {
	t.Helper()
	config := func(role string, addr netip.Addr) traffic.Config {
		return traffic.Config{Role: role, Test: spec.Test{Name: kind.Name}, Warmup: window / 2, Window: window, CPU: sys.NoCPU, Addr: addr}
	}
	ctx := t.Context()
	local, localAt := ready(t, lab.A.NS, config(result.Local, addr[0]))
	remoteAt := netip.AddrPortFrom(addr[1], 0)
	var remote *Worker
	if kind.HasRemote() {
		remote, remoteAt = ready(t, lab.B.NS, config(result.Remote, addr[1]))
		if err := remote.Arm(ctx, localAt); err != nil {
			t.Fatal(err)
		}
	}
	if err := local.Arm(ctx, remoteAt); err != nil {
		t.Fatal(err)
	}
	if remote != nil {
		if end, err := remote.Run(ctx); err != nil || end != nil {
			t.Fatalf("%+v, %v from a remote end that has only started", end, err)
		}
	}
	end, err := local.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ends := []*result.End{end}
	if remote != nil {
		if end, err = remote.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	return ends
}

func TestKilledInTheWindow(t *testing.T) {
	labtest.NoLeaks(t)
	for _, test := range []string{"udp_rr", "tcp_stream"} {
		local, remote := armed(t, test, time.Minute)
		if _, err := remote.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		failed := make(chan error)
		go func() {
			_, err := local.Run(t.Context())
			failed <- err
		}()
		// The local one first: it would notice the other's end.
		kill(t, local.PID())
		wantDied(t, <-failed, "signal: killed")
		kill(t, remote.PID())
		_, err := remote.Drain(t.Context())
		wantDied(t, err, "signal: killed")
		// Once dead, always dead.
		_, err = local.Drain(t.Context())
		wantDied(t, err, "signal: killed")
		for _, w := range []*Worker{local, remote} {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func wantDied(t *testing.T, err error, words string) {
	t.Helper()
	if !errors.Is(err, ErrDied) || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want %v with %q", err, ErrDied, words)
	}
}

// TestLastWords makes a worker fail by saying nonsense to it.
func TestLastWords(t *testing.T) {
	labtest.NoLeaks(t)
	w := newWorker(t, nil)
	if _, err := w.control.Write([]byte("\x00\x00\x00\x02{]")); err != nil {
		t.Fatal(err)
	}
	_, err := w.Prepare(t.Context(), loopbackConfig("udp_rr", result.Local, window))
	wantDied(t, err, "exit status 1")
	wantDied(t, err, "decode a control message")
}

// TestParentKilled kills an agent in the middle of a window.
func TestParentKilled(t *testing.T) {
	labtest.NoLeaks(t)
	cmd, err := sys.Reexec(roleParent)
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	worker, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(worker)
	kill(t, cmd.Process.Pid)
	// The descriptor can be read from when the process has ended.
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(worker), Events: unix.POLLIN}}, 5000)
	for err == unix.EINTR {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(worker), Events: unix.POLLIN}}, 5000)
	}
	if err != nil || n != 1 {
		t.Errorf("the worker still runs (%v)", err)
		unix.PidfdSendSignal(worker, unix.SIGKILL, nil, 0)
	}
}

// TestContextEnds gives up waiting for a window, and for a worker that is
// stopped.
func TestContextEnds(t *testing.T) {
	labtest.NoLeaks(t)
	local, remote := armed(t, "udp_rr", time.Minute)
	if _, err := remote.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := local.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
	}
	if _, err := local.Run(t.Context()); err == nil {
		t.Error("a worker that was given up answers")
	}

	if err := unix.Kill(remote.PID(), unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("enough")
	stopped, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { stop(cause) })
	if _, err := remote.Drain(stopped); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
}

func TestCloseAtAnyTime(t *testing.T) {
	labtest.NoLeaks(t)
	w := newWorker(t, nil)
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.Prepare(t.Context(), loopbackConfig("udp_rr", result.Local, window)); err == nil {
		t.Error("a closed worker answers")
	}

	local, _ := armed(t, "udp_rr", time.Minute)
	failed := make(chan error)
	go func() {
		_, err := local.Run(t.Context())
		failed <- err
	}()
	time.AfterFunc(20*time.Millisecond, func() { local.Close() })
	if err := <-failed; err == nil {
		t.Error("a run went on after Close")
	}
}

func TestErrorsHaveKinds(t *testing.T) {
	labtest.NoLeaks(t)
	for _, c := range []struct {
		name string
		call func(w *Worker) error
		kind Kind
		text string
	}{
		{"out of order", func(w *Worker) error { return w.Arm(t.Context(), netip.AddrPort{}) }, KindInvalid, "prepare"},
		{"bad configuration", func(w *Worker) error {
			_, err := w.Prepare(t.Context(), traffic.Config{Role: result.Local})
			return err
		}, KindInvalid, "unknown test"},
		{"foreign address", func(w *Worker) error {
			cfg := loopbackConfig("udp_rr", result.Local, window)
			cfg.Addr = netip.MustParseAddr("192.0.2.77")
			_, err := w.Prepare(t.Context(), cfg)
			return err
		}, KindFailed, "192.0.2.77"},
		{"a CPU that is not there", func(w *Worker) error {
			cfg := loopbackConfig("udp_rr", result.Local, window)
			cfg.CPU = 1 << 20
			_, err := w.Prepare(t.Context(), cfg)
			return err
		}, KindFailed, "CPU"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(t, nil)
			err := c.call(w)
			var e *Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("error %v, want kind %s with %q", err, c.kind, c.text)
			}
			// The worker lives on, but its trial doesn't.
			if _, err := w.Run(t.Context()); !errors.As(err, &e) || e.Kind != KindInvalid {
				t.Errorf("error %v, want kind %s", err, KindInvalid)
			}
		})
	}
}

func TestReportedErrors(t *testing.T) {
	if report(nil) != nil {
		t.Error("no error is reported as one")
	}
	e := report(fmt.Errorf("make a raw socket: %w", unix.EPERM))
	if e.Kind != KindPermission || !errors.Is(e, fs.ErrPermission) {
		t.Errorf("EPERM is reported as %+v", e)
	}
}

// TestStopWithoutTraffic drains remote ends to which nobody has come.
func TestStopWithoutTraffic(t *testing.T) {
	labtest.NoLeaks(t)
	for _, test := range []string{"udp_rr", "tcp_rr", "udp_stream", "tcp_stream"} {
		w, _ := ready(t, nil, loopbackConfig(test, result.Remote, time.Minute))
		if err := w.Arm(t.Context(), netip.AddrPortFrom(loopback, 9)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		end, err := w.Drain(t.Context())
		if err != nil {
			t.Errorf("%s: %v", test, err)
		} else if end.Messages != 0 || end.Elapsed != 0 {
			t.Errorf("%s: figures without traffic: %+v", test, end)
		}
	}
}

// TestPeerGone runs local ends whose remote worker has been killed.
func TestPeerGone(t *testing.T) {
	labtest.NoLeaks(t)
	for _, c := range []struct {
		test   string
		failed bool
	}{{"udp_rr", false}, {"udp_stream", false}, {"tcp_rr", true}, {"tcp_stream", true}} {
		local, remote := armed(t, c.test, window)
		if err := remote.Close(); err != nil {
			t.Fatal(err)
		}
		end, err := local.Run(t.Context())
		if (err != nil) != c.failed {
			t.Errorf("%s: %+v, %v", c.test, end, err)
		}
	}
}

// BenchmarkStart is the time from the start of a process until it has its
// sockets and is ready for its peer.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		w, err := Start(nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Prepare(b.Context(), loopbackConfig("udp_rr", result.Local, window)); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
