package traffic

import (
	"flag"
	"log"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// TestMain makes the process what a worker is: a thread that waits in a raw
// system call keeps its P, is not woken by preemption signals, and is not
// waited for by a collection. The runtime reads the one setting only when the
// process starts.
func TestMain(m *testing.M) {
	const setting = "asyncpreemptoff=1"
	if !strings.Contains(os.Getenv("GODEBUG"), setting) {
		os.Setenv("GODEBUG", setting)
		exe, err := os.Executable()
		if err == nil {
			err = unix.Exec(exe, os.Args, os.Environ())
		}
		log.Fatalf("start the tests with GODEBUG=%s: %v", setting, err)
	}
	if err := loopbackUp(); err != nil {
		log.Fatalf("set loopback up: %v", err)
	}
	// Tests that are parallel wait most of the time.
	if err := flag.Set("test.parallel", "8"); err != nil {
		log.Fatal(err)
	}
	runtime.GOMAXPROCS(16)
	debug.SetGCPercent(-1)
	os.Exit(labtest.Main(m, nil))
}

// loopbackUp sets the loopback interface of the calling thread's network
// namespace up, if it is a new one.
func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(s, unix.SIOCGIFFLAGS, ifr); err != nil || ifr.Uint16()&unix.IFF_UP != 0 {
		return err
	}
	ifr.SetUint16(ifr.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, ifr)
}

// loopbacks are the addresses that tests of both families run on.
var loopbacks = map[string]netip.Addr{
	"ipv4": netip.MustParseAddr("127.0.0.1"),
	"ipv6": netip.MustParseAddr("::1"),
}

// eachFamily runs a subtest on both.
func eachFamily(t *testing.T, f func(t *testing.T, addr netip.Addr)) {
	for _, name := range []string{"ipv4", "ipv6"} {
		t.Run(name, func(t *testing.T) { f(t, loopbacks[name]) })
	}
}

// trial is a trial to run on one machine.
type trial struct {
	test           string
	params         spec.Params
	addr           netip.Addr
	warmup, window time.Duration
	interval       time.Duration
	each           int // of the local end
	// between, if set, is told the ports of both ends before they are armed,
	// and tells the ones that each is to take for its peer.
	between func(local, remote netip.AddrPort) (localsPeer, remotesPeer netip.AddrPort)
}

func (tr trial) engine(t *testing.T, role string) (Engine, netip.AddrPort) {
	t.Helper()
	e, err := New(Config{
		Role: role, Test: spec.Test{Name: tr.test, Params: tr.params}, Each: tr.each,
		Warmup: tr.warmup, Window: tr.window, Interval: tr.interval, CPU: -1, Addr: tr.addr,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	port, err := e.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	return e, netip.AddrPortFrom(tr.addr, port)
}

// ends makes both ends and arms them.
func (tr trial) ends(t *testing.T) (local, remote Engine) {
	t.Helper()
	local, localAt := tr.engine(t, result.Local)
	remote, remoteAt := tr.engine(t, result.Remote)
	localsPeer, remotesPeer := remoteAt, localAt
	if tr.between != nil {
		localsPeer, remotesPeer = tr.between(localAt, remoteAt)
	}
	if err := remote.Arm(remotesPeer); err != nil {
		t.Fatal(err)
	}
	if err := local.Arm(localsPeer); err != nil {
		t.Fatal(err)
	}
	return local, remote
}

// run carries the trial out.
func (tr trial) run(t *testing.T) (local, remote result.End) {
	t.Helper()
	l, r := tr.ends(t)
	remoteDone := start(r)
	local = finish(t, start(l))
	r.Stop()
	return local, finish(t, remoteDone)
}

// runFull carries the trial out until both ends have had messages in full
// windows: a machine that is busy otherwise may starve an end for longer than
// these windows are. An end that is short every time is at fault itself.
func (tr trial) runFull(t *testing.T) (local, remote result.End) {
	t.Helper()
	const attempts = 10
	for range attempts {
		local, remote = tr.run(t)
		full := local.Elapsed >= tr.window && remote.Elapsed >= tr.window/2 && !warned(remote, WarnShortWindow)
		if full && local.Messages > 0 && remote.Messages > 0 {
			return local, remote
		}
	}
	t.Fatalf("%d attempts, none with a full window: %+v, %+v", attempts, local, remote)
	return
}

type outcome struct {
	end result.End
	err error
}

// start runs an engine on a thread of its own.
func start(e Engine) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		runtime.LockOSThread()
		end, err := e.Run()
		done <- outcome{end, err}
	}()
	return done
}

// finish waits for an engine; hanging for ever is the fault that it is there
// to find.
func finish(t *testing.T, done <-chan outcome) result.End {
	t.Helper()
	o := wait(t, done)
	if o.err != nil {
		t.Fatal(o.err)
	}
	return o.end
}

func wait(t *testing.T, done <-chan outcome) outcome {
	t.Helper()
	select {
	case o := <-done:
		return o
	case <-time.After(20 * time.Second):
		t.Fatal("an engine did not end")
		return outcome{}
	}
}

func wantCounts(t *testing.T, e result.End, names ...string) {
	t.Helper()
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(untold, n) })
	if len(e.Counts) != len(names) {
		t.Errorf("%s counts %v, want %v", e.Role, e.Counts, names)
	}
	for _, n := range names {
		if _, ok := e.Counts[n]; !ok {
			t.Errorf("%s does not count %s: %v", e.Role, n, e.Counts)
		}
	}
}
