package ether_test

import (
	"fmt"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/ether"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
	"netdelta/internal/sys/tuntap"
)

// experimental is an EtherType that nothing else uses (IEEE 802, local
// experimental 1).
const experimental = 0x88b5

// host is a namespace with one TAP and a socket that sends and receives raw
// frames on it.
type host struct {
	ns    *sys.NetNS
	name  string
	tap   *os.File
	index int
	sock  int
}

// newHosts makes two hosts whose TAPs are up, with nothing of their own to
// send.
func newHosts(t *testing.T, c ether.Context, mtu int) (a, b *host) {
	t.Helper()
	nsA, nsB := labtest.Pair(t)
	return newHost(t, nsA, "ta", c, mtu), newHost(t, nsB, "tb", c, mtu)
}

func newHost(t *testing.T, ns *sys.NetNS, name string, c ether.Context, mtu int) *host {
	t.Helper()
	h := &host{ns: ns, name: name, sock: -1}
	if err := ns.Do(func() error { return h.build(c, mtu) }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.tap.Close()
		unix.Close(h.sock)
	})
	return h
}

func (h *host) build(c ether.Context, mtu int) error {
	// IPv6 would send frames of its own. Where it is not there, that is well.
	os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0)
	open := func() (err error) {
		h.tap, _, err = tuntap.Open(h.name, c.TAP)
		return err
	}
	var err error
	if c.Steered {
		err = h.ns.MakeSteered(h.name, firstCPU(), open)
	} else {
		err = open()
	}
	if err != nil {
		return err
	}
	if c.Threaded {
		if err := setThreaded(h.ns, h.name); err != nil {
			return err
		}
	}
	if err := setLink(h.name, unix.SIOCSIFMTU, func(r *unix.Ifreq) { r.SetUint32(uint32(mtu)) }); err != nil {
		return err
	}
	if err := h.up(true); err != nil {
		return err
	}
	link, err := net.InterfaceByName(h.name)
	if err != nil {
		return err
	}
	h.index = link.Index
	h.sock, err = packetSocket(h.index)
	return err
}

// firstCPU is the first that this process may use.
func firstCPU() int {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		return 0
	}
	return cpus[0]
}

// up sets the interface up or down; call it in the host's namespace.
func (h *host) up(up bool) error {
	return setLink(h.name, unix.SIOCSIFFLAGS, func(r *unix.Ifreq) {
		if up {
			r.SetUint16(unix.IFF_UP)
		}
	})
}

func setThreaded(ns *sys.NetNS, name string) error {
	s, err := ns.OpenSysfs()
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Set("class/net/"+name+"/threaded", "1")
}

// setLink makes a request about an interface (netdevice(7)).
func setLink(name string, request uint, set func(*unix.Ifreq)) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	set(r)
	if err := unix.IoctlIfreq(fd, request, r); err != nil {
		return fmt.Errorf("interface %s, request %#x: %w", name, request, err)
	}
	return nil
}

// packetSocket is a raw socket for frames of the experimental EtherType.
// Reads wait for at most 5 s.
func packetSocket(index int) (int, error) {
	proto := uint16(experimental>>8 | experimental&0xff<<8) // network byte order
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(proto))
	if err != nil {
		return -1, err
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: proto, Ifindex: index}); err != nil {
		return -1, err
	}
	return fd, unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5})
}

// frame is a broadcast of the experimental type with n bytes in all.
func frame(n int, seed byte) []byte {
	p := make([]byte, n)
	copy(p, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, seed, experimental >> 8, experimental & 0xff})
	for i := 14; i < n; i++ {
		p[i] = seed + byte(i)
	}
	return p
}

func (h *host) send(t *testing.T, p []byte) {
	t.Helper()
	if _, err := unix.Write(h.sock, p); err != nil {
		t.Fatalf("%s: send %d bytes: %v", h.name, len(p), err)
	}
}

func (h *host) recv(t *testing.T) []byte {
	t.Helper()
	p := make([]byte, 1<<17)
	for {
		n, err := unix.Read(h.sock, p)
		if err == unix.EINTR { // a read with a timeout is not resumed after a signal
			continue
		}
		if err != nil {
			t.Fatalf("%s: no frame came: %v", h.name, err)
		}
		return p[:n]
	}
}

func (h *host) has(t *testing.T, name string) bool {
	t.Helper()
	found := false
	if err := h.ns.Do(func() error {
		_, err := net.InterfaceByName(name)
		found = err == nil
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// start starts a wire between the hosts.
func start(t *testing.T, a, b *host, c ether.Context, mtu int) *ether.Wire {
	t.Helper()
	w, err := ether.Start(ether.Config{
		A: a.tap, B: b.tap, Handoff: c.Handoff, Bounded: c.TAP.SndBuf > 0, Frags: c.TAP.NAPIFrags, CPU: sys.NoCPU, VNetHdr: c.TAP.VNetHdr, MTU: mtu,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}
