package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// inNetNS runs f on a thread in a network namespace of its own, where loopback
// is up and where ICMP datagram sockets are allowed to root or, as in every new
// one, to nobody. f is not on the test's goroutine.
func inNetNS(t *testing.T, datagram bool, f func() error) {
	t.Helper()
	ns, _ := labtest.Pair(t)
	err := ns.Do(func() error {
		if err := loopbackUp(); err != nil || !datagram {
			return err
		}
		return os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 0"), 0)
	})
	if err != nil {
		labtest.Skip(t, fmt.Errorf("prepare a network namespace: %w", err))
	}
	if err := ns.Do(f); err != nil {
		t.Error(err)
	}
}

func TestEcho(t *testing.T) {
	for _, datagram := range []bool{true, false} {
		for _, size := range []int{1, 7, 8, 9, 56, 1473, 65507} {
			t.Run(fmt.Sprintf("datagram=%v/%d", datagram, size), func(t *testing.T) {
				eachFamily(t, func(t *testing.T, addr netip.Addr) {
					inNetNS(t, datagram, func() error {
						e, err := newTestEcho(addr, size)
						if err != nil {
							return err
						}
						defer e.Close()
						if what := e.(*echo).exchange.sock.what; strings.HasPrefix(what, "raw") == datagram {
							t.Errorf("ran on a %s", what)
						}
						end, err := e.Run()
						if err == nil {
							checkEcho(t, end, size)
						}
						return err
					})
				})
			})
		}
	}
}

// newTestEcho returns an engine that is armed.
func newTestEcho(addr netip.Addr, size int) (Engine, error) {
	e, err := New(Config{Role: result.Local, Test: spec.Test{Name: "icmp_echo", Params: spec.Params{Size: size}},
		Warmup: testWarmup / 2, Window: testWindow / 2, CPU: -1, Addr: addr})
	if err != nil {
		return nil, err
	}
	port, err := e.Prepare()
	if err == nil && port != 0 {
		err = fmt.Errorf("port %d of a test that has none", port)
	}
	if err == nil {
		err = e.Arm(netip.AddrPortFrom(addr, 7))
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func checkEcho(t *testing.T, end result.End, size int) {
	t.Helper()
	wantCounts(t, end, CountSent, CountLost, CountLate, CountStale)
	if end.Messages == 0 || end.RTT.Count() != end.Messages || end.Bytes != 2*int64(size)*end.Messages || end.Elapsed < testWindow/2 {
		t.Errorf("%d messages, %d samples, %d bytes in %v", end.Messages, end.RTT.Count(), end.Bytes, end.Elapsed)
	}
	if end.Counts[CountSent] != end.Messages || end.Counts[CountStale] != 0 {
		t.Errorf("%d messages, %v", end.Messages, end.Counts)
	}
}

// TestEchoesDontMix runs several at once over one address: raw sockets see
// every reply of the network namespace.
func TestEchoesDontMix(t *testing.T) {
	eachFamily(t, func(t *testing.T, addr netip.Addr) {
		inNetNS(t, false, func() error {
			var running []<-chan outcome
			for range 3 {
				// A socket is in the namespace of the thread that made it.
				e, err := newTestEcho(addr, 56)
				if err != nil {
					return err
				}
				defer e.Close()
				running = append(running, start(e))
			}
			var errs []error
			for _, done := range running {
				o := <-done
				errs = append(errs, o.err)
				if o.err == nil {
					checkEcho(t, o.end, 56)
				}
			}
			return errors.Join(errs...)
		})
	})
}

// TestEchoWithoutPrivilege wants to hear what would help.
func TestEchoWithoutPrivilege(t *testing.T) {
	inNetNS(t, false, func() error {
		if err := setNetRaw(false); err != nil {
			return err
		}
		e, err := newTestEcho(loopbacks["ipv4"], 56)
		if err == nil {
			e.Close()
		}
		if err == nil || !errors.Is(err, os.ErrPermission) ||
			!strings.Contains(err.Error(), "CAP_NET_RAW") || !strings.Contains(err.Error(), "net.ipv4.ping_group_range") {
			t.Errorf("error %v", err)
		}
		return setNetRaw(true)
	})
}

// setNetRaw takes CAP_NET_RAW out of the calling thread's effective set, or
// puts it back.
func setNetRaw(on bool) error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	data[0].Effective &^= 1 << unix.CAP_NET_RAW
	if on {
		data[0].Effective |= 1 << unix.CAP_NET_RAW
	}
	return unix.Capset(&head, &data[0])
}
