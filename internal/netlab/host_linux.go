package netlab

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
	"netdelta/internal/sys/nft"
)

// The hosts' addresses, from the ranges for documentation (RFC 5737, RFC
// 3849), so that they are nobody's.
var (
	prefixA  = netip.MustParsePrefix("192.0.2.1/24")
	prefixB  = netip.MustParsePrefix("192.0.2.2/24")
	prefixA6 = netip.MustParsePrefix("2001:db8::1/64")
	prefixB6 = netip.MustParsePrefix("2001:db8::2/64")
)

// Host is one of a lab's two hosts.
type Host struct {
	Name string // "a" or "b"
	// NS is the host's network namespace: start its processes in it.
	NS *sys.NetNS
	// Device is the name of the host's end of a link.
	Device string
	// Group is the directory of the control group that the host's workers are to be
	// started in; nil unless Lab.Classify was called.
	Group *os.File

	group       *group
	classes     *nft.Table // counts by that group
	addr, addr6 netip.Prefix
	mac         net.HardwareAddr
	// Netlink and ethtool sockets belong to the namespace that they were made
	// in, whatever thread uses them.
	nl  *netlink.Handle
	eth *ethtool.Ethtool
}

func newHost(name string, addr, addr6 netip.Prefix) (*Host, error) {
	h := &Host{Name: name, Device: "lab-" + name, addr: addr, addr6: addr6}
	// A locally administered address that ends in the host's letter.
	h.mac = net.HardwareAddr{0x02, 0, 0, 0, 0, name[0]}
	var err error
	if h.NS, err = sys.NewNetNS(); err != nil {
		return nil, fmt.Errorf("make host %s: %w", name, err)
	}
	if h.nl, err = h.netlink(); err != nil {
		return nil, errors.Join(err, h.close())
	}
	err = h.NS.Do(func() error {
		h.eth, err = ethtool.NewEthtool()
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("host %s: open a socket for ethtool: %w", name, err), h.close())
	}
	return h, nil
}

// settle makes the namespace quiet and brings loopback up.
func (h *Host) settle(ipv6 bool) error {
	err := h.NS.Do(func() error {
		for _, s := range settings {
			if s.ipv6 && !ipv6 {
				continue
			}
			if err := s.set(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("host %s: %w", h.Name, err)
	}
	lo, err := h.nl.LinkByName("lo")
	if err == nil {
		err = h.nl.LinkSetUp(lo)
	}
	if err != nil {
		return fmt.Errorf("host %s: set loopback up: %w", h.Name, err)
	}
	return nil
}

// device looks the host's end of the link up.
func (h *Host) device() (netlink.Link, error) {
	l, err := h.nl.LinkByName(h.Device)
	if err != nil {
		return nil, fmt.Errorf("host %s: find %s: %w", h.Name, h.Device, err)
	}
	return l, nil
}

// hasDevice reports whether the host has an end of a link.
func (h *Host) hasDevice() (bool, error) {
	_, err := h.nl.LinkByName(h.Device)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return false, nil
	}
	return err == nil, err
}

// netlink opens a route netlink socket in the namespace.
func (h *Host) netlink() (*netlink.Handle, error) {
	nl, err := netlink.NewHandleAt(netns.NsHandle(h.NS.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("host %s: open a route netlink socket: %w", h.Name, err)
	}
	return nl, nil
}

// goneTime is how long an interface may take to be unlisted. It takes a
// millisecond; this is for a machine that is stuck.
const goneTime = 10 * time.Second

// waitGone returns when the host has no end of a link.
func (h *Host) waitGone() error {
	for end := time.Now().Add(goneTime); ; time.Sleep(200 * time.Microsecond) {
		there, err := h.hasDevice()
		if err != nil || !there {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("host %s: %s is still there after %v", h.Name, h.Device, goneTime)
		}
	}
}

func (h *Host) close() error {
	return errors.Join(h.unclassify(), h.leave())
}

func (h *Host) leave() error {
	if h.nl != nil {
		h.nl.Close()
	}
	if h.eth != nil {
		h.eth.Close()
	}
	if err := h.NS.Close(); err != nil {
		return fmt.Errorf("host %s: give up its network namespace: %w", h.Name, err)
	}
	return nil
}
