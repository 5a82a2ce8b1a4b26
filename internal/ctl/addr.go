package ctl

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// DefaultPort is the TCP port of an agent's control connection.
const DefaultPort = 7117

// ParseAddr reads an agent's address: a name or an IP address, with or
// without a port, as in bench2, bench2:7200, 192.0.2.1, 2001:db8::1 or
// [fe80::1%eth0]:7200. The port is DefaultPort where there is none. The host is
// "" in :7200, which only a listener can use.
func ParseAddr(s string) (host string, port uint16, err error) {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '/' || r == 0x7f }) {
		return "", 0, fmt.Errorf("address %q is no host", s)
	}
	host, text := s, strconv.Itoa(DefaultPort)
	inner, ended := strings.CutSuffix(s, "]")
	if inner, begun := strings.CutPrefix(inner, "["); begun && ended {
		host = inner
	} else if _, err := netip.ParseAddr(s); err != nil && strings.ContainsAny(s, ":[]") {
		if host, text, err = net.SplitHostPort(s); err != nil {
			return "", 0, fmt.Errorf("address %q: want HOST, HOST:PORT or [IPv6]:PORT", s)
		}
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("address %q: port %q is no number from 1 to 65535", s, text)
	}
	if _, err := strconv.ParseUint(host, 10, 64); err == nil {
		return "", 0, fmt.Errorf("address %q: %s is no host; a port is written :%[2]s", s, host)
	}
	a, err := netip.ParseAddr(host)
	if err == nil {
		host = a.String()
	}
	if strings.ContainsAny(host, "[]") || s[0] == '[' && !a.Is6() || err != nil && strings.Contains(host, ":") {
		return "", 0, fmt.Errorf("address %q: %q is no IPv6 address", s, host)
	}
	return host, uint16(n), nil
}

// joined is the address that package net takes.
func joined(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// addrPort is the IP address and port of one side of a connection; the zero
// AddrPort where the transport has none.
func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}
