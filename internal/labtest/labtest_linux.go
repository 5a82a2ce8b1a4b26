package labtest

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
)

// Main is the body of a package's TestMain: os.Exit(labtest.Main(m, ...)).
// For an ordinary user it runs the tests as root of a user namespace where
// that is possible. Before, it hands the arguments to dispatch (may be nil),
// which runs the roles that the package's code starts the binary in.
func Main(m *testing.M, dispatch func(args []string) (status int, ok bool)) int {
	if dispatch != nil {
		if status, ok := dispatch(os.Args[1:]); ok {
			return status
		}
	}
	// Processes built with the race detector wait for a second at their end;
	// those that tests start need not.
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	if root, err := sys.HasCapability(unix.CAP_SYS_ADMIN); err == nil && !root && feature.UserNS.Err() == nil {
		status, err := sys.ReexecInUserNS(os.Args[1:])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return status
	}
	if err := loopbackUp(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// loopbackUp switches loopback on, which is down in a new network namespace
// such as that of a test run in a user namespace. Elsewhere it is up already,
// and nothing is changed.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("look at loopback: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("look at loopback: %w", err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return fmt.Errorf("look at loopback (SIOCGIFFLAGS): %w", err)
	}
	if lo.Uint16()&unix.IFF_UP != 0 {
		return nil
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("switch loopback on (SIOCSIFFLAGS): %w", err)
	}
	return nil
}

// Pair makes two network namespaces with loopback down, closed when the test
// ends.
func Pair(t testing.TB) (a, b *sys.NetNS) {
	t.Helper()
	Need(t, feature.NetNS)
	return netNS(t), netNS(t)
}

func netNS(t testing.TB) *sys.NetNS {
	t.Helper()
	ns, err := sys.NewNetNS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ns.Close() })
	return ns
}
