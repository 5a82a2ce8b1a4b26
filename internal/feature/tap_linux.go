package feature

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
	"netdelta/internal/sys/tuntap"
)

const tunDevice = "/dev/net/tun"

func tryTAP() *Error { return openTAP("make a TAP", "Linux 2.4 or later", tuntap.Options{}) }
func tryTAPNAPI() *Error {
	return openTAP("make a TAP with IFF_NAPI", "Linux 4.15 or later", tuntap.Options{NAPI: true})
}
func tryTAPFrags() *Error {
	e := openTAP("make a TAP with IFF_NAPI_FRAGS", "Linux 4.15 or later", tuntap.Options{NAPI: true, NAPIFrags: true})
	if e != nil && TAPNAPI.Err() == nil && errors.Is(e, os.ErrPermission) {
		e.Need = "CAP_NET_ADMIN in the initial user namespace: being root of another one is not enough"
		e.Advice = "run as root, outside of any user namespace, or choose another context"
	}
	return e
}
func tryVNetHdr() *Error {
	return openTAP("make a TAP with IFF_VNET_HDR and checksum and TSO offload", "Linux 2.6.27 or later", tuntap.Options{VNetHdr: true})
}

// openTAP makes a TAP in a fresh namespace. kernel is the version that brought
// the options.
func openTAP(tried, kernel string, o tuntap.Options) *Error {
	if e := tunDeviceError(unix.Access(tunDevice, unix.R_OK|unix.W_OK), describeTunDevice); e != nil {
		return e
	}
	err := inNewNetNS(func(*sys.NetNS) error {
		f, _, err := tuntap.Open("probe0", o)
		if err != nil {
			return err
		}
		return f.Close()
	})
	if err == nil {
		return nil
	}
	e := &Error{Tried: tried + " in a network namespace of its own", Need: kernel, Err: err}
	if errors.Is(err, os.ErrPermission) {
		e.Need, e.Advice = "CAP_NET_ADMIN and CAP_SYS_ADMIN", asRoot
	}
	return e
}

// tunDeviceError explains why the TUN device cannot be opened; opening it
// needs no capability, only the device file's permission bits, so being root
// of a user namespace does not help.
func tunDeviceError(err error, describe func() string) *Error {
	if err == nil {
		return nil
	}
	e := &Error{Tried: "open " + tunDevice + " to read and write", Err: err}
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		e.Need = "the TUN device, CONFIG_TUN"
		e.Advice = "load it (modprobe tun); if this is a container, start it with --device " + tunDevice + "; the veth link needs none"
	default:
		e.Need = "permission to read and write the device" + describe()
		e.Advice = "run as root, or chmod 0666 " + tunDevice + " as most systems have it; the veth link needs none"
	}
	return e
}

// describeTunDevice tells the device file's mode.
func describeTunDevice() string {
	var st unix.Stat_t
	if err := unix.Stat(tunDevice, &st); err != nil {
		return ""
	}
	return fmt.Sprintf(" (its mode is %#04o)", st.Mode&0o777)
}
