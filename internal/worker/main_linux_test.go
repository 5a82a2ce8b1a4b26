package worker

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// roleParent is a process that starts a worker and waits to be killed.
const roleParent = "__parent"

func TestMain(m *testing.M) {
	if status, ok := dispatch(os.Args[1:]); ok {
		os.Exit(status)
	}
	if err := loopbackUp(); err != nil {
		log.Fatalf("set loopback up: %v", err)
	}
	os.Exit(labtest.Main(m, nil))
}

func dispatch(args []string) (status int, ok bool) {
	if len(args) > 0 {
		switch args[0] {
		case sys.RoleWorker:
			return Main(args[1:]), true
		case roleParent:
			return parent(), true
		}
	}
	return 0, false
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

// parent starts a worker, has it run, tells its number and waits.
func parent() int {
	w, err := Start(nil)
	if err == nil {
		_, err = w.Prepare(context.Background(), loopbackConfig("udp_rr", result.Remote, time.Minute))
	}
	if err == nil {
		err = w.Arm(context.Background(), netip.MustParseAddrPort("127.0.0.1:9"))
	}
	if err == nil {
		_, err = w.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(w.PID())
	io.Copy(io.Discard, os.Stdin)
	return 0
}

var loopback = netip.MustParseAddr("127.0.0.1")

func loopbackConfig(test, role string, window time.Duration) traffic.Config {
	return traffic.Config{Role: role, Test: spec.Test{Name: test}, Warmup: 10 * time.Millisecond, Window: window,
		CPU: sys.NoCPU, Addr: loopback}
}

// newWorker starts a worker that is closed when the test ends.
func newWorker(t testing.TB, ns *sys.NetNS) *Worker {
	t.Helper()
	w, err := Start(ns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// ready starts a worker and prepares it; it returns its address too.
func ready(t testing.TB, ns *sys.NetNS, cfg traffic.Config) (*Worker, netip.AddrPort) {
	t.Helper()
	w := newWorker(t, ns)
	port, err := w.Prepare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w, netip.AddrPortFrom(cfg.Addr, port)
}

// armed starts both ends of a test on loopback.
func armed(t testing.TB, test string, window time.Duration) (local, remote *Worker) {
	t.Helper()
	local, localAt := ready(t, nil, loopbackConfig(test, result.Local, window))
	remote, remoteAt := ready(t, nil, loopbackConfig(test, result.Remote, window))
	if err := remote.Arm(t.Context(), localAt); err != nil {
		t.Fatal(err)
	}
	if err := local.Arm(t.Context(), remoteAt); err != nil {
		t.Fatal(err)
	}
	return local, remote
}
