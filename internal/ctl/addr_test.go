package ctl

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

func TestParseAddr(t *testing.T) {
	for _, c := range []struct {
		text, host string
		port       uint16
		err        string
	}{
		{text: "bench2", host: "bench2", port: 7117},
		{text: "bench2.example.org:7200", host: "bench2.example.org", port: 7200},
		{text: "192.0.2.1", host: "192.0.2.1", port: 7117},
		{text: "192.0.2.1:1", host: "192.0.2.1", port: 1},
		{text: "2001:db8::1", host: "2001:db8::1", port: 7117},
		{text: "2001:DB8:0::1", host: "2001:db8::1", port: 7117},
		{text: "[2001:db8::1]", host: "2001:db8::1", port: 7117},
		{text: "[2001:db8::1]:65535", host: "2001:db8::1", port: 65535},
		{text: "fe80::1%eth0", host: "fe80::1%eth0", port: 7117},
		{text: "[fe80::1%eth0]:7200", host: "fe80::1%eth0", port: 7200},
		{text: ":7200", host: "", port: 7200},
		{text: "::", host: "::", port: 7117},
		{text: "", err: "is no host"},
		{text: "7117", err: "a port is written :7117"},
		{text: "bench2:", err: "port \"\" is no number"},
		{text: "bench2:http", err: "port \"http\""},
		{text: "bench2:0", err: "from 1 to 65535"},
		{text: "bench2:65536", err: "from 1 to 65535"},
		{text: "bench2:-1", err: "from 1 to 65535"},
		{text: "bench2:1:2", err: "want HOST"},
		{text: "[2001:db8::1", err: "want HOST"},
		{text: "2001:db8::1]", err: "want HOST"},
		{text: "[bench2]", err: "no IPv6 address"},
		{text: "[192.0.2.1]", err: "no IPv6 address"},
		{text: "[a:b]:7117", err: "no IPv6 address"},
		{text: "http://bench2", err: "address"},
		{text: "two words", err: "is no host"},
		{text: "::%a b", err: "is no host"},
		{text: "fe80::1%[", err: "is no IPv6 address"},
		{text: "[fe80::1%]]:7", err: "address"},
	} {
		host, port, err := ParseAddr(c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: got error %v, want one with %q", c.text, err, c.err)
			}
			continue
		}
		if err != nil || host != c.host || port != c.port {
			t.Errorf("%q: got %q, %d, error %v, want %q, %d", c.text, host, port, err, c.host, c.port)
		}
	}
}

func FuzzParseAddr(f *testing.F) {
	for _, s := range []string{"h", "h:1", "::1", "[::1]:2", "[fe80::1%a]:3", ":7", "[]", "%:1", "::% 0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, port, err := ParseAddr(s)
		if err != nil {
			return
		}
		if port == 0 {
			t.Fatalf("%q has port 0", s)
		}
		full := joined(host, port)
		if h, p, err := ParseAddr(full); err != nil || h != host || p != port {
			t.Fatalf("%q is %q, and that %q, %d, %v", s, full, h, p, err)
		}
	})
}

func TestAddrPort(t *testing.T) {
	for _, c := range []struct {
		addr net.Addr
		want netip.AddrPort
	}{
		{&net.TCPAddr{IP: net.IP{192, 0, 2, 1}, Port: 5}, netip.MustParseAddrPort("192.0.2.1:5")},
		{&net.TCPAddr{IP: net.ParseIP("::ffff:192.0.2.1"), Port: 5}, netip.MustParseAddrPort("192.0.2.1:5")},
		{&net.TCPAddr{IP: net.ParseIP("fe80::1"), Port: 5, Zone: "eth0"}, netip.MustParseAddrPort("[fe80::1%eth0]:5")},
		{pipeAddr{}, netip.AddrPort{}},
		{nil, netip.AddrPort{}},
	} {
		if got := addrPort(c.addr); got != c.want {
			t.Errorf("%v: got %v, want %v", c.addr, got, c.want)
		}
	}
}
