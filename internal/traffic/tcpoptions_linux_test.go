//go:build !portable

package traffic

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func peerOf(t *testing.T, s *socket) netip.AddrPort {
	t.Helper()
	sa, err := unix.Getpeername(int(s.Sock))
	if err != nil {
		t.Fatal(err)
	}
	return addrPort(sa)
}

// armed are the connected ends of a TCP stream.
func armed(t *testing.T, test spec.Test, addr netip.Addr, device string) (local, remote []*socket, err error) {
	t.Helper()
	ends := map[string]Engine{}
	at := map[string]netip.AddrPort{}
	for _, role := range []string{result.Remote, result.Local} {
		e, err := New(Config{Role: role, Test: test, Window: testWindow, CPU: -1, Addr: addr, Device: device})
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
			return nil, nil, err
		}
		ends[role], at[role] = e, netip.AddrPortFrom(addr, port)
	}
	if err := ends[result.Remote].Arm(at[result.Local]); err != nil {
		t.Fatal(err)
	}
	if err := ends[result.Local].Arm(at[result.Remote]); err != nil {
		return nil, nil, err
	}
	accepted := ends[result.Remote].(*tcpRemote).accepted
	if all, err := accepted.wait(); !all || err != nil {
		t.Fatalf("accepted %v, %v", all, err)
	}
	return ends[result.Local].(*tcpLocal).conns, accepted.conns, nil
}

func number(level, option int) func(fd int) (any, error) {
	return func(fd int) (any, error) { return unix.GetsockoptInt(fd, level, option) }
}

func name(level, option int) func(fd int) (any, error) {
	return func(fd int) (any, error) { return unix.GetsockoptString(fd, level, option) }
}

// TestTCPOptions reads each option back from the connections of both ends.
func TestTCPOptions(t *testing.T) {
	for _, c := range []struct {
		name   string
		params spec.Params
		device string
		get    func(fd int) (any, error)
		want   any
		six    func(fd int) (any, error) // for IPv6 where it differs
	}{
		{"nodelay by default", spec.Params{}, "", number(unix.IPPROTO_TCP, unix.TCP_NODELAY), 0, nil},
		{"nodelay off", spec.Params{NoDelay: spec.Off}, "", number(unix.IPPROTO_TCP, unix.TCP_NODELAY), 0, nil},
		{"nodelay on", spec.Params{NoDelay: spec.On}, "", number(unix.IPPROTO_TCP, unix.TCP_NODELAY), 1, nil},
		{"cubic", spec.Params{Congestion: "cubic"}, "", name(unix.IPPROTO_TCP, unix.TCP_CONGESTION), "cubic", nil},
		{"reno", spec.Params{Congestion: "reno"}, "", name(unix.IPPROTO_TCP, unix.TCP_CONGESTION), "reno", nil},
		{"mss", spec.Params{MSS: 1000}, "", func(fd int) (any, error) {
			n, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG)
			return n <= 1000 && n >= 1000-maxTCPOptions, err
		}, true, nil},
		{"dscp", spec.Params{DSCP: 46}, "", number(unix.IPPROTO_IP, unix.IP_TOS), 46 << 2, number(unix.IPPROTO_IPV6, unix.IPV6_TCLASS)},
		{"mark", spec.Params{Mark: 77}, "", number(unix.SOL_SOCKET, unix.SO_MARK), 77, nil},
		{"busypoll", spec.Params{BusyPoll: 13}, "", number(unix.SOL_SOCKET, unix.SO_BUSY_POLL), 13, nil},
		{"pacing", spec.Params{Pacing: 80_000_000}, "", number(unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE), 10_000_000, nil},
		{"device", spec.Params{}, "lo", name(unix.SOL_SOCKET, unix.SO_BINDTODEVICE), "lo", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachFamily(t, func(t *testing.T, addr netip.Addr) {
				for _, flows := range []int{1, 2} {
					c.params.Flows = flows
					local, remote, err := armed(t, spec.Test{Name: "tcp_stream", Params: c.params}, addr, c.device)
					if err != nil {
						t.Fatal(err)
					}
					get := c.get
					if c.six != nil && addr.Is6() {
						get = c.six
					}
					for end, conns := range map[string][]*socket{"local": local, "remote": remote} {
						for _, s := range conns {
							got, err := get(int(s.Sock))
							if err != nil || got != c.want {
								t.Errorf("%s: %v (%v), want %v", end, got, err, c.want)
							}
							if len(s.warnings) > 0 {
								t.Errorf("%s: %v", end, s.warnings)
							}
						}
					}
				}
			})
		})
	}
}

// TestTCPOptionsRefused has one clear line for what the kernel does not take.
func TestTCPOptionsRefused(t *testing.T) {
	for _, c := range []struct {
		params spec.Params
		device string
		want   []string
	}{
		{spec.Params{Congestion: "nonsense"}, "", []string{"TCP_CONGESTION", "nonsense", "tcp_available_congestion_control"}},
		{spec.Params{}, "nonsense0", []string{"SO_BINDTODEVICE", "nonsense0", "interface"}},
	} {
		eachFamily(t, func(t *testing.T, addr netip.Addr) {
			_, _, err := armed(t, spec.Test{Name: "tcp_stream", Params: c.params}, addr, c.device)
			oneLine(t, err, c.want...)
		})
	}
}

func TestTCPMarkNeedsPrivilege(t *testing.T) {
	err := labtest.WithoutCapabilities(func() error {
		e, err := New(Config{Role: result.Local, Test: spec.Test{Name: "tcp_stream", Params: spec.Params{Mark: 5}},
			Window: testWindow, CPU: -1, Addr: loopbacks["ipv4"]})
		if err != nil {
			return err
		}
		_, err = e.Prepare()
		return errors.Join(err, e.Close())
	})
	oneLine(t, err, "SO_MARK", "CAP_NET_ADMIN")
	if !errors.Is(err, unix.EPERM) {
		t.Errorf("%v is no permission error", err)
	}
}

func oneLine(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	for _, w := range append(want, "set ") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q has more than one line", err)
	}
}
