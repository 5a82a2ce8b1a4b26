package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ethtoolSGRO is ETHTOOL_SGRO of linux/ethtool.h.
const ethtoolSGRO = 0x2c

// SetGRO switches generic receive offload of an interface in the thread's
// network namespace.
func SetGRO(name string, on bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket for ethtool: %w", err)
	}
	defer unix.Close(fd)
	value := struct{ cmd, data uint32 }{cmd: ethtoolSGRO}
	if on {
		value.data = 1
	}
	// struct ifreq of linux/if.h with a pointer in its union.
	var req struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	if len(name) >= len(req.name) {
		return fmt.Errorf("interface name %q is longer than %d bytes", name, len(req.name)-1)
	}
	copy(req.name[:], name)
	req.data = unsafe.Pointer(&value)
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req))); e != 0 {
		return fmt.Errorf("switch GRO of %s (ethtool): %w", name, e)
	}
	return nil
}
