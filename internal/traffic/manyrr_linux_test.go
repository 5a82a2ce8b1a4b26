package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// checkManyEnds checks what holds of both ends on a path that loses nothing.
func checkManyEnds(t *testing.T, tr trial, local, remote result.End) {
	t.Helper()
	test := spec.Test{Name: tr.test, Params: tr.params}
	both := int64(test.RequestSize() + test.ResponseSize())
	if local.Messages == 0 || remote.Messages == 0 {
		t.Fatalf("no round trips: %+v, %+v", local, remote)
	}
	if local.Bytes != both*local.Messages || remote.Bytes != both*remote.Messages {
		t.Errorf("%d and %d bytes in %d and %d round trips of %d", local.Bytes, remote.Bytes, local.Messages, remote.Messages, both)
	}
	if got, want := local.RTT.Count(), local.Messages+local.Counts[CountLate]; got != want {
		t.Errorf("%d samples of %d round trips", got, want)
	}
	if sent := local.Counts[CountSent]; sent != local.Messages+local.Counts[CountLost]+local.Counts[CountLate] {
		t.Errorf("sent is not messages + lost + late: %d messages, %v", local.Messages, local.Counts)
	}
	// Loopback itself loses datagrams when more of them wait at a CPU than
	// net.core.netdev_max_backlog, by default 1000.
	crowded := test.Kind().Protocol == spec.UDP && test.Flows()*test.Burst() >= 1000
	if lost := local.Counts[CountLost] + local.Counts[CountStale]; lost != 0 && !crowded {
		t.Errorf("counts on a path that loses nothing: %v", local.Counts)
	}
	// Little's law: as many requests are under way as were asked for.
	outstanding := float64(test.Flows() * test.Burst())
	under := local.RTT.Mean() * float64(local.RTT.Count()) / float64(local.Elapsed)
	if under > 1.5*outstanding {
		t.Errorf("%.1f requests were under way on the average, want at most %v", under, outstanding)
	}
}

func TestManyRoundTrips(t *testing.T) {
	for _, c := range []spec.Params{
		{Flows: 7, Size: 1},
		{Burst: 16, Size: 1},
		{Flows: 7, Threads: 3, Burst: 16, Size: 100},
		{Flows: 1000, Size: 1},
		{Flows: 1000, Threads: 3, Burst: 2, Request: 9, Response: 64},
	} {
		for _, test := range []string{"udp_rr", "tcp_rr"} {
			t.Run(fmt.Sprintf("%s/flows=%d threads=%d burst=%d", test, c.Flows, c.Threads, c.Burst), func(t *testing.T) {
				eachFamily(t, func(t *testing.T, addr netip.Addr) {
					tr := trial{test: test, params: c, addr: addr, warmup: 4 * testWarmup, window: 2 * testWindow}
					if c.Flows >= 1000 { // a busy machine may take long for all
						tr.warmup, tr.window = 4*tr.warmup, 4*tr.window
					}
					local, remote := tr.runFull(t)
					checkManyEnds(t, tr, local, remote)
					if len(local.Warnings) != 0 && !warned(local, WarnLateAnswers) {
						t.Errorf("warnings %v", local.Warnings)
					}
				})
			})
		}
	}
}

// TestManyLargeMessages has messages that no socket's buffer can hold, several
// outstanding in both directions.
func TestManyLargeMessages(t *testing.T) {
	for _, c := range []struct {
		test   string
		params spec.Params
	}{
		{"tcp_rr", spec.Params{Burst: 4, Size: 1 << 20}},
		{"tcp_rr", spec.Params{Flows: 3, Threads: 2, Burst: 3, Size: 300_000, SndBuf: 8192, RcvBuf: 8192}},
		{"tcp_rr", spec.Params{Flows: 2, Burst: 8, Request: 4 << 20, Response: 1}},
		{"tcp_rr", spec.Params{Flows: 2, Burst: 8, Request: 1, Response: 4 << 20}},
		{"udp_rr", spec.Params{Flows: 5, Burst: 4, Size: 65507}},
		{"udp_rr", spec.Params{Flows: 5, Burst: 4, Size: 8000, SndBuf: 20_000}},
	} {
		t.Run(fmt.Sprintf("%s/%+v", c.test, c.params), func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				tr := trial{test: c.test, params: c.params, addr: addr, warmup: testWarmup, window: 4 * testWindow}
				local, remote := tr.runFull(t)
				checkManyEnds(t, tr, local, remote)
			})
		})
	}
}

func TestManyIntervals(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprint(test, threads), func(t *testing.T) {
				tr := trial{test: test, params: spec.Params{Flows: 8, Threads: threads}, addr: loopbacks["ipv4"],
					warmup: testWarmup, window: 4 * testWindow, interval: testWindow}
				local, remote := tr.runFull(t)
				checkManyEnds(t, tr, local, remote)
				var sum int64
				for _, i := range local.Intervals {
					sum += i.Messages
				}
				if len(local.Intervals) < 3 || threads == 1 && sum != local.Messages {
					t.Errorf("%d round trips in %d intervals, of %d", sum, len(local.Intervals), local.Messages)
				}
			})
		}
	}
}

// TestManyLost drops answers at random: what is lost holds up nothing else.
func TestManyLost(t *testing.T) {
	for _, size := range []int{1, 9} {
		t.Run(fmt.Sprint("size ", size), func(t *testing.T) {
			tr := lossyTrial(loopbacks["ipv4"], size)
			tr.params.Burst = 8
			dropped := false
			tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
				if dropped = !dropped; !dropped {
					deliver(answer)
				}
			})
			local, _ := tr.run(t)
			wantCounts(t, local, append(wholeCounts, CountSent, CountLost, CountLate, CountStale)...)
			sent, lost := local.Counts[CountSent], local.Counts[CountLost]
			if local.Messages < 8 || sent != local.Messages+lost+local.Counts[CountLate] {
				t.Errorf("%d messages, %v", local.Messages, local.Counts)
			}
			// Those that are outstanding at either end of the window tell apart
			// by as many as there are slots.
			if diff := lost - local.Messages; diff < -64-sent/4 || diff > 64+sent/4 {
				t.Errorf("every other answer was dropped: %d messages, %v", local.Messages, local.Counts)
			}
		})
	}
}

// TestManyWaitForRoom begins with requests that found no room in the socket.
func TestManyWaitForRoom(t *testing.T) {
	tr := trial{test: "udp_rr", params: spec.Params{Flows: 2, Burst: 4, Size: 8}, addr: loopbacks["ipv4"], warmup: testWarmup, window: testWindow}
	local, remote := tr.ends(t)
	w := local.(*manyUDPLocal).parts[0]
	for w.begun = 0; w.begun < len(w.flows); w.begun++ {
		for slot := range w.burst {
			s := &w.slots[w.begun*w.burst+slot]
			s.round++
			s.sent = 1
			w.unsentNow(w.begun, s, unix.EAGAIN)
		}
	}
	remoteDone := start(remote)
	l := finish(t, start(local))
	remote.Stop()
	checkManyEnds(t, tr, l, finish(t, remoteDone))
	if w.unsent != 0 {
		t.Errorf("%d requests are still unsent", w.unsent)
	}
}

// TestManyNobodyAnswers has a peer whose sockets nobody reads, and one that has
// closed them.
func TestManyNobodyAnswers(t *testing.T) {
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprint("closed=", closed), func(t *testing.T) {
			tr := trial{test: "udp_rr", params: spec.Params{Flows: 20, Burst: 2}, addr: loopbacks["ipv6"], warmup: testWarmup, window: testWindow}
			local, remote := tr.ends(t)
			if closed {
				if err := remote.Close(); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			end := finish(t, start(local))
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
			if end.Messages != 0 || !warned(end, WarnNoTraffic) || end.Counts[CountSent] != end.Counts[CountLost] {
				t.Errorf("figures without answers: %+v", end)
			}
		})
	}
}

func TestManyAllocateNothing(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		t.Run(test, func(t *testing.T) {
			tr := trial{test: test, params: spec.Params{Flows: 50, Threads: 2, Burst: 4, Size: 100}, addr: loopbacks["ipv4"],
				warmup: testWarmup, window: 4 * testWindow}
			allocatesNothing(t, tr, 400, 1600, fewerMessages)
		})
	}
}

// TestManyPeerClosesOne ends one of the connections under way.
func TestManyPeerClosesOne(t *testing.T) {
	for name, how := range map[string]func(*socket){
		"shutdown": func(s *socket) { s.shutdown(unix.SHUT_RDWR) },
		"reset": func(s *socket) {
			// One that lingers for no time is reset where it is closed, which it
			// is when another file takes its descriptor.
			null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err == nil {
				err = errors.Join(
					unix.SetsockoptLinger(int(s.Sock), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}),
					unix.Dup3(null, int(s.Sock), unix.O_CLOEXEC), unix.Close(null))
			}
			if err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := trial{test: "tcp_rr", params: spec.Params{Flows: 10, Threads: 2}, addr: loopbacks["ipv4"], window: 10 * time.Second}
			local, remote := tr.ends(t)
			r := remote.(*manyTCPRemote)
			<-r.accept.done
			remoteDone, localDone := start(remote), start(local)
			how(r.accept.conns[3])
			o := wait(t, localDone)
			if o.err == nil || !strings.Contains(o.err.Error(), "closed 1 of 10 connections") {
				t.Errorf("error %v", o.err)
			}
			remote.Stop()
			finish(t, remoteDone)
		})
	}
}

// TestManyStop ends remote ends in the middle of the traffic, and before any.
func TestManyStop(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		for _, traffic := range []bool{false, true} {
			t.Run(fmt.Sprint(test, " traffic=", traffic), func(t *testing.T) {
				tr := trial{test: test, params: spec.Params{Flows: 20, Threads: 2, Burst: 2}, addr: loopbacks["ipv4"], window: 100 * time.Millisecond}
				local, remote := tr.ends(t)
				remoteDone := start(remote)
				var localDone <-chan outcome
				if traffic {
					localDone = start(local)
				}
				began := time.Now()
				remote.Stop()
				end := finish(t, remoteDone)
				if took := time.Since(began); took > time.Second {
					t.Errorf("took %v to stop", took)
				}
				if !traffic && !warned(end, WarnNoTraffic) {
					t.Errorf("warnings %v", end.Warnings)
				}
				if traffic {
					wait(t, localDone) // an error where the connections have gone
				}
			})
		}
	}
}

// TestManyStrangers has a connection and a datagram from an address that is not
// the peer's.
func TestManyStrangers(t *testing.T) {
	stranger := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 2}}
	for test, kind := range map[string]int{"udp_rr": unix.SOCK_DGRAM, "tcp_rr": unix.SOCK_STREAM} {
		t.Run(test, func(t *testing.T) {
			tr := trial{test: test, params: spec.Params{Flows: 2, Size: 8}, addr: loopbacks["ipv4"], warmup: testWarmup, window: testWindow}
			var strange int
			tr.between = func(local, remote netip.AddrPort) (netip.AddrPort, netip.AddrPort) {
				var err error
				if strange, err = unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0); err != nil {
					t.Fatal(err)
				}
				to := &unix.SockaddrInet4{Addr: remote.Addr().As4(), Port: int(remote.Port())}
				if err := errors.Join(unix.Bind(strange, stranger), unix.Connect(strange, to)); err != nil {
					t.Fatal(err)
				}
				if _, err := unix.Write(strange, make([]byte, 8)); err != nil {
					t.Fatal(err)
				}
				return remote, local
			}
			local, remote := tr.run(t)
			defer unix.Close(strange)
			checkManyEnds(t, tr, local, remote)
			if n, _, err := unix.Recvfrom(strange, make([]byte, 8), unix.MSG_DONTWAIT); n > 0 {
				t.Errorf("a stranger was answered with %d bytes (%v)", n, err)
			}
		})
	}
}

// TestManyConnectFails says how many connections there are.
func TestManyConnectFails(t *testing.T) {
	tr := trial{test: "tcp_rr", params: spec.Params{Flows: 10}, addr: loopbacks["ipv4"], window: testWindow}
	remote, at := tr.engine(t, result.Remote)
	if err := remote.Close(); err != nil {
		t.Fatal(err)
	}
	local, _ := tr.engine(t, result.Local)
	if err := local.Arm(at); err == nil || !strings.Contains(err.Error(), "0 connections were made") {
		t.Errorf("connected to a closed port: %v", err)
	}
}

// TestManyRefused asks for what can't be.
func TestManyRefused(t *testing.T) {
	for _, c := range []struct {
		test string
		Config
		want string
	}{
		{"udp_rr", Config{Test: spec.Test{Params: spec.Params{Flows: 10000, Burst: 4096, Size: 8}}}, "outstanding requests"},
		{"tcp_rr", Config{Test: spec.Test{Params: spec.Params{Flows: 10000, Burst: 4096}}}, "outstanding requests"},
		{"udp_rr", Config{Test: spec.Test{Params: spec.Params{Burst: 17, Size: 1}}}, "16 outstanding requests"},
		{"udp_rr", Config{Test: spec.Test{Params: spec.Params{Flows: 3}}, PortMin: 20000, PortMax: 20001}, "--data-ports"},
		{"tcp_rr", Config{Test: spec.Test{Params: spec.Params{Flows: 3}}, Port: 65534}, "65535 is the last one"},
	} {
		t.Run(c.test+" "+c.want, func(t *testing.T) {
			c.Config.Role, c.Config.Window, c.Config.CPU, c.Config.Addr = result.Local, time.Second, -1, loopbacks["ipv4"]
			c.Config.Test.Name = c.test
			e, err := New(c.Config)
			if err == nil {
				defer e.Close()
				_, err = e.Prepare()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
}

// TestManyPorts has a namespace with ten ports for the kernel to choose from.
func TestManyPorts(t *testing.T) {
	ns, _ := labtest.Pair(t)
	var once sync.Once
	inside := func(test, want string) {
		t.Helper()
		err := ns.Do(func() (err error) {
			once.Do(func() {
				err = errors.Join(loopbackUp(), os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40009"), 0))
			})
			if err != nil {
				labtest.Skip(t, err)
			}
			tr := trial{test: test, params: spec.Params{Flows: 20}, addr: loopbacks["ipv4"], window: testWindow}
			remote, at := tr.engine(t, result.Remote)
			local, err := New(Config{Role: result.Local, Test: spec.Test{Name: test, Params: tr.params}, Window: testWindow, CPU: -1, Addr: tr.addr})
			if err != nil {
				return err
			}
			defer local.Close()
			if _, err = local.Prepare(); err == nil {
				if err = remote.Arm(netip.AddrPortFrom(tr.addr, 1)); err == nil {
					err = local.Arm(at)
				}
			}
			return err
		})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "ip_local_port_range") {
			t.Errorf("%s: error %v", test, err)
		}
	}
	inside("udp_rr", "of 20 flows")
	inside("tcp_rr", "of 20 flows")
}

const fewFiles = "NETDELTA_TEST_FEW_FILES"

// TestManyFiles runs in a process of its own, which may have few descriptors and
// not raise that.
func TestManyFiles(t *testing.T) {
	if os.Getenv(fewFiles) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestManyFiles$", "-test.v")
		cmd.Env = append(os.Environ(), fewFiles+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	runtime.LockOSThread() // for good: the thread has fewer rights now
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 128}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flows int
		ok    bool
	}{{1000, false}, {80, true}} {
		e, err := New(Config{Role: result.Local, Test: spec.Test{Name: "udp_rr", Params: spec.Params{Flows: c.flows}},
			Window: testWindow, CPU: -1, Addr: loopbacks["ipv4"]})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Prepare()
		if !c.ok && (err == nil || !strings.Contains(err.Error(), "1000 flows need 10") || !strings.Contains(err.Error(), "may have 128: ulimit -n")) {
			t.Errorf("%d flows: error %v", c.flows, err)
		}
		if c.ok && err != nil {
			t.Errorf("%d flows: %v", c.flows, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
