package traffic

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
)

// relay is a path between two UDP sockets that does with each answer what a
// test says. Requests pass untouched.
type relay struct {
	asks, answers *net.UDPConn // face the local and the remote end
	local, remote netip.AddrPort
	wait          sync.WaitGroup
}

// newRelay returns a relay whose treat is called with each answer, numbered
// from 1, and a function that delivers datagrams.
func newRelay(t *testing.T, local, remote netip.AddrPort, treat func(i int, answer []byte, deliver func([]byte))) *relay {
	t.Helper()
	r := &relay{asks: listenUDP(t, local.Addr()), answers: listenUDP(t, remote.Addr()), local: local, remote: remote}
	r.wait.Add(2)
	go r.pass(t, r.asks, func(b []byte) { r.write(t, r.answers, b, remote) })
	i := 0
	go r.pass(t, r.answers, func(b []byte) {
		i++
		treat(i, b, func(b []byte) { r.write(t, r.asks, b, local) })
	})
	t.Cleanup(func() {
		r.asks.Close()
		r.answers.Close()
		r.wait.Wait()
	})
	return r
}

func listenUDP(t *testing.T, addr netip.Addr) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (r *relay) pass(t *testing.T, from *net.UDPConn, to func([]byte)) {
	defer r.wait.Done()
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			t.Error(err)
			return
		}
		to(b[:n])
	}
}

func (r *relay) write(t *testing.T, c *net.UDPConn, b []byte, to netip.AddrPort) {
	if _, err := c.WriteToUDPAddrPort(b, to); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// peers are the addresses that the two ends take for each other's.
func (r *relay) peers() (localsPeer, remotesPeer netip.AddrPort) {
	return r.asks.LocalAddr().(*net.UDPAddr).AddrPort(), r.answers.LocalAddr().(*net.UDPAddr).AddrPort()
}

// through makes a trial run through a relay.
func through(t *testing.T, treat func(i int, answer []byte, deliver func([]byte))) func(local, remote netip.AddrPort) (netip.AddrPort, netip.AddrPort) {
	return func(local, remote netip.AddrPort) (netip.AddrPort, netip.AddrPort) {
		return newRelay(t, local, remote, treat).peers()
	}
}
