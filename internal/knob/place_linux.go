package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
)

// in runs f on a thread that is in the place's network namespace.
func (p Place) in(f func() error) error {
	if p.NS == nil {
		return f()
	}
	return p.NS.Do(f)
}

// readFile reads a file of /proc or /sys as the place's namespace has it,
// without the final newline.
func (p Place) readFile(path string) (text string, err error) {
	if below, ok := strings.CutPrefix(path, "/sys/"); ok && p.root == "" {
		err = p.sysfs(func(s *sys.Sysfs) error {
			text, err = s.Get(below)
			return err
		})
		if !errors.Is(err, errPlainSysfs) {
			return text, err
		}
	}
	err = p.in(func() error {
		data, err := os.ReadFile(p.root + path)
		text = strings.TrimSuffix(string(data), "\n")
		return plainly("read", path, err)
	})
	return text, err
}

// writeFile writes a file of /proc or /sys as the place's namespace has it. It is
// never made.
func (p Place) writeFile(path, value string) error {
	if below, ok := strings.CutPrefix(path, "/sys/"); ok && p.root == "" {
		err := p.sysfs(func(s *sys.Sysfs) error { return s.Write(below, value) })
		if !errors.Is(err, errPlainSysfs) {
			return err
		}
	}
	return p.in(func() error {
		f, err := os.OpenFile(p.root+path, os.O_WRONLY|os.O_TRUNC, 0)
		if err == nil {
			_, err = f.WriteString(value)
			err = errors.Join(err, f.Close())
		}
		return plainly(fmt.Sprintf("write %q to", value), path, err)
	})
}

// list returns the sorted names in a directory of /proc or /sys as the place's
// namespace has it.
func (p Place) list(path string) (names []string, err error) {
	if below, ok := strings.CutPrefix(path, "/sys/"); ok && p.root == "" {
		err = p.sysfs(func(s *sys.Sysfs) error {
			names, err = s.List(below)
			return err
		})
		if !errors.Is(err, errPlainSysfs) {
			return names, err
		}
	}
	err = p.in(func() error {
		d, err := os.Open(p.root + path)
		if err == nil {
			defer d.Close()
			names, err = d.Readdirnames(-1)
		}
		slices.Sort(names)
		return plainly("list", path, err)
	})
	return names, err
}

// errPlainSysfs says that /sys as it is mounted shows the right devices.
var errPlainSysfs = errors.New("the mounted sysfs will do")

// sysfs calls f with the sysfs of the place's namespace. A namespace that was
// entered without a mount of its own (nsenter -n) has a /sys that shows the
// devices of another: then one is made, too.
func (p Place) sysfs(f func(*sys.Sysfs) error) error {
	ns := p.NS
	if ns == nil {
		if p.Device == "" || shownBySys(p.Device) {
			return errPlainSysfs
		}
		own, err := sys.CurrentNetNS()
		if err != nil {
			return err
		}
		defer own.Close()
		ns = own
	}
	s, err := ns.OpenSysfs()
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// shownBySys says whether the interface that /sys shows by that name is the one
// that the calling thread's namespace has.
func shownBySys(device string) bool {
	text, err := os.ReadFile("/sys/class/net/" + device + "/ifindex")
	if err != nil {
		return false
	}
	l, err := netlink.LinkByName(device)
	return err == nil && strings.TrimSpace(string(text)) == fmt.Sprint(l.Attrs().Index)
}

// plainly says once what was done to which file, and what to do where the
// reason is a common one.
func plainly(what, path string, err error) error {
	if err == nil {
		return nil
	}
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	advice := ""
	switch {
	case errors.Is(err, unix.EROFS):
		advice = ": it is mounted read-only; mount it writable, or if this is a container run outside of it"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		advice = ": run as root"
	}
	return fmt.Errorf("%s %s: %w%s", what, path, err, advice)
}

// netlink calls f with a route netlink socket of the place's namespace.
func (p Place) netlink(f func(*netlink.Handle) error) error {
	var nl *netlink.Handle
	err := p.in(func() (err error) {
		nl, err = netlink.NewHandle(unix.NETLINK_ROUTE)
		return err
	})
	if err != nil {
		return fmt.Errorf("open a route netlink socket: %w", err)
	}
	defer nl.Close()
	return f(nl)
}

// link calls f with a route netlink socket of the place's namespace and the
// place's interface, freshly looked up.
func (p Place) link(f func(*netlink.Handle, netlink.Link) error) error {
	return p.netlink(func(nl *netlink.Handle) error {
		l, err := nl.LinkByName(p.Device)
		if err != nil {
			return fmt.Errorf("find interface %s: %w", p.Device, err)
		}
		return f(nl, l)
	})
}

// unavailable is the error of what this system does not have: name the thing
// ("coalescing of eth0"), what was tried ("read it with ethtool"), what it needs
// and what to do, which may be empty. It is feature.ErrUnavailable.
func unavailable(name, tried, need, advice string, err error) error {
	return &feature.Error{Feature: name, Tried: tried, Need: need, Advice: advice, Kernel: feature.Kernel().String(), Err: err}
}
