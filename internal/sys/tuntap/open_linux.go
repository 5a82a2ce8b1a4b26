package tuntap

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// clone is the device whose opening gives an unattached TAP descriptor.
const clone = "/dev/net/tun"

// Open makes a TAP in the calling thread's network namespace, down and
// without addresses, and returns its descriptor and its name. An empty name,
// or one with %d, lets the kernel number it. The TAP goes when the last copy
// of the descriptor is closed.
//
// The descriptor blocks and is not known to Go's netpoller.
//
// Errors wrap fs.ErrNotExist where there is no /dev/net/tun, fs.ErrPermission
// where a privilege is missing, errors.ErrUnsupported where the kernel lacks
// an option, and unix.EBUSY where the name is taken.
func Open(name string, o Options) (*os.File, string, error) {
	if err := o.check(); err != nil {
		return nil, "", err
	}
	if err := checkName(name); err != nil {
		return nil, "", err
	}
	// unix.Open, not os.OpenFile: that tries to give the descriptor to the
	// netpoller, and TAPs can be polled. A blocking one stays out of it.
	fd, err := unix.Open(clone, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", openError(err)
	}
	f := os.NewFile(uintptr(fd), "tap "+name)
	name, err = attach(fd, name, o)
	if err != nil {
		f.Close()
		return nil, "", err
	}
	return f, name, nil
}

func openError(err error) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return fmt.Errorf("open %s: no such device (load the module: modprobe tun; if this is a container, give it the device): %w", clone, errors.Join(os.ErrNotExist, err))
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf("open %s: not permitted (run as root, or let this user read and write the device): %w", clone, err)
	}
	return fmt.Errorf("open %s: %w", clone, err)
}

// feature is an option that a kernel may lack.
type feature struct {
	flag  uint16
	on    bool
	name  string
	since string
}

// flags are the IFF_ flags that the options come to, and those of them that
// not every kernel has.
func (o Options) flags() (uint16, []feature) {
	all := uint16(unix.IFF_TAP | unix.IFF_NO_PI)
	features := []feature{
		{unix.IFF_VNET_HDR, o.VNetHdr, "IFF_VNET_HDR", "2.6.27"},
		{unix.IFF_NAPI, o.NAPI, "IFF_NAPI", "4.15"},
		{unix.IFF_NAPI_FRAGS, o.NAPIFrags, "IFF_NAPI_FRAGS", "4.15"},
	}
	for _, f := range features {
		if f.on {
			all |= f.flag
		}
	}
	return all, features
}

// attach turns the descriptor into a TAP's. The order is the kernel's: the
// header size and offloads belong to the attached device.
func attach(fd int, name string, o Options) (string, error) {
	flags, features := o.flags()
	// Kernels ignore flags that they don't know, so ask first.
	has, err := unix.IoctlGetUint32(fd, unix.TUNGETFEATURES)
	if err != nil {
		return "", fmt.Errorf("ask for the TAP features of this kernel (TUNGETFEATURES): %w", err)
	}
	for _, f := range features {
		if f.on && has&uint32(f.flag) == 0 {
			return "", fmt.Errorf("make TAP %q: this kernel has no %s (Linux %s): %w", name, f.name, f.since, errors.ErrUnsupported)
		}
	}
	req, err := unix.NewIfreq(ifreqName(name))
	if err != nil {
		return "", fmt.Errorf("make TAP %q: %w", name, err)
	}
	req.SetUint16(flags)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
		return "", attachError(name, o, err)
	}
	name = req.Name()
	if o.VNetHdr {
		if err := setOffload(fd, name); err != nil {
			return "", err
		}
	}
	if o.SndBuf != 0 {
		if err := unix.IoctlSetPointerInt(fd, unix.TUNSETSNDBUF, o.SndBuf); err != nil {
			return "", fmt.Errorf("TAP %s: set a send buffer of %d bytes (TUNSETSNDBUF): %w", name, o.SndBuf, err)
		}
	}
	return name, nil
}

// ifreqName is what TUNSETIFF is asked for; NewIfreq takes no empty name.
func ifreqName(name string) string {
	if name == "" {
		return "tap%d"
	}
	return name
}

func attachError(name string, o Options, err error) error {
	var hint string
	switch {
	case errors.Is(err, unix.EPERM) && o.NAPIFrags:
		hint = "IFF_NAPI_FRAGS needs CAP_NET_ADMIN in the initial user namespace: run as root"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		hint = "needs CAP_NET_ADMIN over the network namespace: run as root, or in a user namespace that owns it"
	case errors.Is(err, unix.EBUSY):
		hint = "an interface of that name is in use"
	case errors.Is(err, unix.EINVAL):
		hint = "the name or the options were refused"
	}
	if hint != "" {
		hint = " (" + hint + ")"
	}
	return fmt.Errorf("make TAP %q (TUNSETIFF)%s: %w", name, hint, err)
}

// setOffload fixes the header's size and tells the kernel that it may leave
// checksums and segmentation to the descriptor's reader.
func setOffload(fd int, name string) error {
	if err := unix.IoctlSetPointerInt(fd, unix.TUNSETVNETHDRSZ, VNetHdrSize); err != nil {
		return fmt.Errorf("TAP %s: set a virtio-net header of %d bytes (TUNSETVNETHDRSZ): %w", name, VNetHdrSize, err)
	}
	const basic = unix.TUN_F_CSUM | unix.TUN_F_TSO4 | unix.TUN_F_TSO6
	// UDP segmentation came with Linux 6.2; kernels refuse the whole set if
	// they don't know one of it.
	err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, basic|unix.TUN_F_USO4|unix.TUN_F_USO6)
	if errors.Is(err, unix.EINVAL) {
		err = unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, basic)
	}
	if err != nil {
		return fmt.Errorf("TAP %s: switch on checksum and segmentation offload (TUNSETOFFLOAD): %w", name, err)
	}
	return nil
}
