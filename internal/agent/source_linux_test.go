package agent

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/ctl"
	"netdelta/internal/labtest"
	"netdelta/internal/labtest/veth"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// newLink joins two hosts by veth.
func newLink(t *testing.T) (*netlab.Lab, *netlab.Link) {
	t.Helper()
	labtest.NoLeaks(t)
	return veth.Pair(t)
}

// An address that is left open becomes this host's own on the way to the
// peer, by the routes of the worker's namespace.
func TestPlace(t *testing.T) {
	lab, link := newLink(t)
	any4, any6 := netip.IPv4Unspecified(), netip.IPv6Unspecified()
	type one struct {
		name             string
		ns               *sys.NetNS
		addr, peer, want netip.Addr
		err              string
	}
	cases := []one{
		{"a to b", lab.A.NS, any4, link.AddrB(), link.AddrA(), ""},
		{"b to a", lab.B.NS, any4, link.AddrA(), link.AddrB(), ""},
		{"mapped", lab.A.NS, any6, netip.AddrFrom16(link.AddrB().As16()), link.AddrA(), ""},
		{"itself", lab.A.NS, any4, link.AddrA(), link.AddrA(), ""},
		{"given", lab.A.NS, link.AddrB(), link.AddrA(), link.AddrB(), ""}, // wrong, but said
		{"no route", lab.A.NS, any4, netip.MustParseAddr("203.0.113.1"), any4, "on the way to 203.0.113.1: connect: network is unreachable (no route"},
		{"no peer", lab.A.NS, any4, netip.Addr{}, any4, "no peer is named"},
		{"no such zone", lab.A.NS, any6, netip.MustParseAddr("fe80::1%none0"), any6, `interface "none0": no such device`},
		{"long zone", lab.A.NS, any6, netip.MustParseAddr("fe80::1%" + strings.Repeat("x", 40)), any6, "interface"},
	}
	if link.Addr6B().IsValid() {
		cases = append(cases,
			one{"IPv6", lab.A.NS, any6, link.Addr6B(), link.Addr6A(), ""},
			one{"IPv6, asked for IPv4", lab.A.NS, any4, link.Addr6B(), link.Addr6A(), ""},
		)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(result.Local)
			cfg.Addr, cfg.Peer = c.addr, c.peer
			err := place(c.ns, &cfg)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || cfg.Addr != c.want {
				t.Errorf("got %v, error %v, want %v", cfg.Addr, err, c.want)
			}
		})
	}
}

// Without a namespace of its own an agent goes by its process's routes: here
// those of loopback.
func TestPlaceAtHome(t *testing.T) {
	cfg := config(result.Local)
	cfg.Addr, cfg.Peer = netip.IPv4Unspecified(), netip.MustParseAddr("127.0.0.1")
	err := place(nil, &cfg)
	if errors.Is(err, unix.ENETUNREACH) {
		labtest.Skip(t, err) // a namespace whose loopback is down
	}
	if err != nil || cfg.Addr != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("got %v, error %v", cfg.Addr, err)
	}
}

// What the agent chose is what the worker is started with, and what the
// client is told.
func TestPrepareChoosesAddress(t *testing.T) {
	lab, link := newLink(t)
	st := newStable()
	h := hold(t, st, Config{NS: lab.A.NS})
	defer h.finish(t)
	cfg := config(result.Local)
	cfg.Addr, cfg.Peer = netip.IPv4Unspecified(), link.AddrB()
	at, err := h.Prepare(t.Context(), h.id, cfg)
	if want := netip.AddrPortFrom(link.AddrA(), 7118); err != nil || at != want || st.last.Addr != link.AddrA() {
		t.Errorf("got %v, a worker at %v, error %v, want %v", at, st.last.Addr, err, want)
	}
	cfg.Peer = netip.Addr{}
	if _, err := h.Prepare(t.Context(), h.id, cfg); !errors.Is(err, ctl.ErrInvalid) {
		t.Errorf("got %v, want %v", err, ctl.ErrInvalid)
	}
}
