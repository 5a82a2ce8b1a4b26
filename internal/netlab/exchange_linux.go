package netlab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// carryTime is what a new link has until frames pass, unless the context ends
// before. It takes a millisecond; this is for a machine that is stuck.
const carryTime = 10 * time.Second

// resendAfter is when a datagram that has not come is sent again: an
// interface may drop what is sent before its queue is up.
const resendAfter = 5 * time.Millisecond

// exchange passes a datagram each way, by IPv4 and IPv6.
func (k *Link) exchange(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, carryTime)
	defer cancel()
	if err := k.exchangeBetween(ctx, k.AddrA(), k.AddrB()); err != nil {
		return err
	}
	if !k.lab.ipv6 {
		return nil
	}
	return k.exchangeBetween(ctx, k.Addr6A(), k.Addr6B())
}

func (k *Link) exchangeBetween(ctx context.Context, addrA, addrB netip.Addr) error {
	a, portA, err := k.lab.A.udpSocket(addrA)
	if err != nil {
		return err
	}
	defer unix.Close(a)
	b, portB, err := k.lab.B.udpSocket(addrB)
	if err != nil {
		return err
	}
	defer unix.Close(b)
	if err := pass(ctx, a, b, netip.AddrPortFrom(addrB, portB)); err != nil {
		return fmt.Errorf("from %s to %s: %w", addrA, addrB, err)
	}
	if err := pass(ctx, b, a, netip.AddrPortFrom(addrA, portA)); err != nil {
		return fmt.Errorf("from %s to %s: %w", addrB, addrA, err)
	}
	return nil
}

// pass sends a datagram until one has come.
func pass(ctx context.Context, from, to int, dest netip.AddrPort) error {
	var buf [1]byte
	for {
		// A send may fail for the same passing reason as the frame's being
		// dropped; the wait below is then the pause before the next.
		sent := unix.Sendto(from, []byte{0}, unix.MSG_DONTWAIT, sockaddr(dest))
		n, _, err := unix.Recvfrom(to, buf[:], 0)
		switch {
		case err == nil && n == 1:
			return nil
		case err == nil:
			return fmt.Errorf("a datagram of %d bytes came, sent was 1", n)
		case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR):
			return err
		}
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("no frame has passed: %w", context.Cause(ctx)), sent)
		}
	}
}

// udpSocket opens a socket in the host's namespace at an address of it, whose
// receive calls wait resendAfter at most.
func (h *Host) udpSocket(addr netip.Addr) (fd int, port uint16, err error) {
	family := unix.AF_INET
	if addr.Is6() {
		family = unix.AF_INET6
	}
	err = h.NS.Do(func() error {
		fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return -1, 0, fmt.Errorf("host %s: open a UDP socket: %w", h.Name, err)
	}
	wait := unix.NsecToTimeval(int64(resendAfter))
	err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)
	if err == nil {
		err = unix.Bind(fd, sockaddr(netip.AddrPortFrom(addr, 0)))
	}
	var own unix.Sockaddr
	if err == nil {
		own, err = unix.Getsockname(fd)
	}
	if err != nil {
		unix.Close(fd)
		return -1, 0, fmt.Errorf("host %s: bind a UDP socket to %s: %w", h.Name, addr, err)
	}
	switch own := own.(type) {
	case *unix.SockaddrInet4:
		port = uint16(own.Port)
	case *unix.SockaddrInet6:
		port = uint16(own.Port)
	}
	return fd, port, nil
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}
