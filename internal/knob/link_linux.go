package knob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

// linkNumber is a number that route netlink sets of an interface (rtnetlink(7)).
type linkNumber struct {
	place Place
	knob  string
	read  func(*netlink.LinkAttrs) int
	write func(*netlink.Handle, netlink.Link, int) error
	// check says, before anything is changed, why a value must not be written.
	check func(p Place, n int) error
}

func openMTU(p Place, s spec.Setting, _ string) (Control, error) {
	return openLinkNumber(linkNumber{p, s.Knob, func(a *netlink.LinkAttrs) int { return a.MTU }, (*netlink.Handle).LinkSetMTU, keepIPv6})
}

func openTxQueueLen(p Place, s spec.Setting, _ string) (Control, error) {
	return openLinkNumber(linkNumber{p, s.Knob, func(a *netlink.LinkAttrs) int { return a.TxQLen }, (*netlink.Handle).LinkSetTxQLen, nil})
}

func openLinkNumber(c linkNumber) (Control, error) {
	if err := checkDevice(c.place); err != nil {
		return nil, gone(c.place, err)
	}
	return c, nil
}

// leastIPv6 is the least MTU with which there is IPv6 (RFC 8200, 5).
const leastIPv6 = 1280

// keepIPv6 refuses an MTU with which the kernel takes IPv6 off the interface:
// its addresses, routes and settings do not come back with the MTU.
func keepIPv6(p Place, n int) error {
	if n >= leastIPv6 {
		return nil
	}
	_, err := p.readFile("/proc/sys/net/ipv6/conf/" + p.Device + "/mtu")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("below %d the kernel takes IPv6 off the interface, and its addresses do not come back", leastIPv6)
}

func (c linkNumber) ID() string { return settingID(c.place, c.knob) }

func (c linkNumber) Read(context.Context) (text string, err error) {
	err = c.place.link(func(_ *netlink.Handle, l netlink.Link) error {
		text = strconv.Itoa(c.read(l.Attrs()))
		return nil
	})
	return text, gone(c.place, err)
}

func (c linkNumber) Write(_ context.Context, value string) error {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("%s of %s: %q is no whole number", c.knob, c.place.Device, value)
	}
	err = c.place.link(func(nl *netlink.Handle, l netlink.Link) error {
		if c.read(l.Attrs()) == int(n) {
			return nil
		}
		if c.check != nil {
			if err := c.check(c.place, int(n)); err != nil {
				return err
			}
		}
		return c.write(nl, l, int(n))
	})
	switch {
	case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ERANGE):
		err = fmt.Errorf("%w: the device does not take it; ip -d link show %s tells its range", err, c.place.Device)
	case errors.Is(err, unix.EPERM):
		err = fmt.Errorf("%w: run as root", err)
	}
	if err != nil {
		return gone(c.place, fmt.Errorf("set %s of %s to %d: %w", c.knob, c.place.Device, n, err))
	}
	return nil
}

func (c linkNumber) Restore(ctx context.Context, was string) error { return c.Write(ctx, was) }

func (c linkNumber) Equal(read, asked string) bool { return read == asked }
