package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// checkDevice says what is wrong with the name of a place's interface, and
// whether there is one.
func checkDevice(p Place) error {
	switch {
	case p.Device == "":
		return errors.New("which interface is meant is not known: name it, as in eth0.gro")
	case len(p.Device) >= unix.IFNAMSIZ:
		return fmt.Errorf("interface name %q is longer than %d bytes", p.Device, unix.IFNAMSIZ-1)
	case p.Device == "." || p.Device == ".." || strings.ContainsFunc(p.Device, func(r rune) bool { return r == '/' || r == ':' || r <= ' ' }):
		// What the kernel allows of no name (dev_valid_name in net/core/dev.c).
		return fmt.Errorf("%q is no name of an interface", p.Device)
	}
	if p.root != "" {
		return nil
	}
	return p.link(func(*netlink.Handle, netlink.Link) error { return nil })
}

// settingID names a setting of the place's interface among all.
func settingID(p Place, setting string) string { return p.Device + " " + setting }

// gone is err, or if the place's interface has gone the error that says so.
func gone(p Place, err error) error {
	if err == nil || errors.Is(err, errGone) {
		return err
	}
	if missing := (netlink.LinkNotFoundError{}); errors.As(err, &missing) || errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("%s: %w", p.Device, errGone)
	}
	// sysfs says these things of a device that is being taken away.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EINVAL) {
		if again := checkDevice(p); errors.As(again, &netlink.LinkNotFoundError{}) {
			return fmt.Errorf("%s: %w", p.Device, errGone)
		}
	}
	return err
}

// ethtoolWords is sys.Ethtool in the place's namespace.
func (p Place) ethtoolWords(words []uint32) error {
	return p.in(func() error { return sys.Ethtool(p.Device, words) })
}

// deviceFile is the path of a file of the place's interface in sysfs.
func deviceFile(p Place, name string) string { return "/sys/class/net/" + p.Device + "/" + name }

// forbidden is err, or where the user may not write a file of the interface in
// sysfs the error that says who may: of most of them the kernel asks for
// CAP_NET_ADMIN in the first user namespace, whosever the network namespace is.
func forbidden(p Place, knob string, err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return unavailable("change of "+knob+" of "+p.Device, "write it in sysfs", "the machine's root, and not only that of a user namespace", "run as root", err)
	}
	return err
}
