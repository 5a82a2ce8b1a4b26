package traffic

import (
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// inPorts runs f on a thread of a network namespace in which so few ports can
// be connected from, and in which so many connections can be in TIME_WAIT.
func inPorts(t *testing.T, first, last, waits int, f func()) {
	t.Helper()
	inNetNS(t, false, func() error {
		for name, value := range map[string]string{
			"ip_local_port_range": fmt.Sprintf("%d %d", first, last),
			"tcp_max_tw_buckets":  fmt.Sprint(waits),
		} {
			if err := os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0); err != nil {
				return err
			}
		}
		f()
		return nil
	})
}

// Thousands of connections from a few ports: this end's are free again at once,
// and the far end takes new ones in the place of those in TIME_WAIT.
func TestCRRReusesPorts(t *testing.T) {
	for _, most := range []int{1000, 4} {
		eachFamily(t, func(t *testing.T, addr netip.Addr) { reusePorts(t, addr, most) })
	}
}

// reusePorts has at most so many connections in TIME_WAIT: of others the kernel
// forgets that they were.
func reusePorts(t *testing.T, addr netip.Addr, most int) {
	const ports = 32
	inPorts(t, 40000, 40000+ports-1, most, func() {
		tr := trial{test: "tcp_crr", addr: addr, warmup: testWarmup, window: 4 * testWindow}
		var end result.End
		for range 10 { // a busy machine may let too few connections through
			remote, err := newTestCRR(tr, result.Remote, netip.AddrPortFrom(addr, 0))
			if err != nil {
				t.Error(err)
				return
			}
			at := netip.AddrPortFrom(addr, remote.port)
			local, err := newTestCRR(tr, result.Local, at)
			if err != nil {
				t.Error(err)
				return
			}
			remoteDone := start(remote)
			end, err = local.Run() // its sockets are made on this thread
			if err != nil {
				t.Error(err)
			}
			waits, here, err := timeWaits(addr, at.Port())
			remote.Stop()
			o := <-remoteDone
			local.Close()
			remote.Close()
			if err != nil || o.err != nil {
				t.Error(err, o.err)
			}
			if waits == 0 && most > ports || here != 0 {
				t.Errorf("%d connections are in TIME_WAIT at the far end, %d at this one", waits, here)
			}
			if end.Messages > 10*ports {
				break
			}
		}
		if end.Messages <= 10*ports || end.Counts[CountFailed] != 0 {
			t.Errorf("%d connections from %d ports, %v, %v", end.Messages, ports, end.Counts, end.Warnings)
		}
		// A SYN that was not taken is sent again after a second.
		if p99 := time.Duration(end.RTT.Quantile(0.99)); p99 > 900*time.Millisecond {
			t.Errorf("1 in 100 connections took %v", p99)
		}
	})
}

type preparedEngine struct {
	Engine
	port uint16
}

// newTestCRR makes an engine on the calling thread.
func newTestCRR(tr trial, role string, peer netip.AddrPort) (preparedEngine, error) {
	e, err := New(Config{Role: role, Test: spec.Test{Name: tr.test, Params: tr.params}, Warmup: tr.warmup, Window: tr.window, CPU: -1, Addr: tr.addr})
	if err != nil {
		return preparedEngine{}, err
	}
	port, err := e.Prepare()
	if err == nil {
		err = e.Arm(peer)
	}
	return preparedEngine{e, port}, err
}

// timeWaits counts the connections in TIME_WAIT in the thread's network
// namespace: at the port, and towards it (proc(5), /proc/net/tcp).
func timeWaits(addr netip.Addr, port uint16) (at, towards int, err error) {
	name := "/proc/thread-self/net/tcp"
	if addr.Is6() {
		name += "6"
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, 0, err
	}
	const timeWait = "06"
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[3] != timeWait {
			continue
		}
		for i, n := range map[int]*int{1: &at, 2: &towards} {
			_, hex, _ := strings.Cut(f[i], ":")
			if p, err := strconv.ParseUint(hex, 16, 16); err == nil && uint16(p) == port {
				*n++
			}
		}
	}
	return at, towards, nil
}

// All ports are taken: it waits for one, and says so.
func TestCRRHasNoPort(t *testing.T) {
	addr := loopbacks["ipv4"]
	inPorts(t, 40000, 40001, 1000, func() {
		tr := trial{test: "tcp_crr", addr: addr, warmup: testWarmup, window: 2 * testWindow}
		remote, err := New(Config{Role: result.Remote, Test: spec.Test{Name: tr.test, Params: tr.params}, Window: tr.window, CPU: -1, Addr: addr, Port: 50000})
		if err != nil {
			t.Error(err)
			return
		}
		defer remote.Close()
		if _, err := remote.Prepare(); err != nil {
			t.Error(err)
			return
		}
		at := netip.AddrPortFrom(addr, 50000)
		local, err := newTestCRR(tr, result.Local, at)
		if err != nil {
			t.Error(err)
			return
		}
		defer local.Close()
		for _, port := range []int{40000, 40001} {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer unix.Close(fd)
			if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: addr.As4()}); err != nil {
				t.Error(err)
				return
			}
		}
		end, err := local.Run()
		if err != nil {
			t.Error(err)
			return
		}
		c := end.Counts
		if end.Messages != 0 || c[CountConnectRetries] == 0 || c[CountFailed] != 0 || c[CountSent] != 0 {
			t.Errorf("%d messages, %v", end.Messages, c)
		}
		if !warned(end, WarnPorts) || !warned(end, WarnNoTraffic) {
			t.Errorf("warnings %v", end.Warnings)
		}
		for _, w := range end.Warnings {
			if w.Code == WarnPorts && (!strings.Contains(w.Advice, "net.ipv4.ip_local_port_range") || !strings.Contains(w.Advice, "tcp_tw_reuse")) {
				t.Errorf("advice %q", w.Advice)
			}
		}
	})
}
