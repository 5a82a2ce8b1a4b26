package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// EthtoolFlag is the command of linux/ethtool.h that reads one switch of an
// interface.
type EthtoolFlag uint32

const (
	RxChecksum EthtoolFlag = 0x14 // ETHTOOL_GRXCSUM
	TxChecksum EthtoolFlag = 0x16 // ETHTOOL_GTXCSUM
	SG         EthtoolFlag = 0x18 // ETHTOOL_GSG
	TSO        EthtoolFlag = 0x1e // ETHTOOL_GTSO
	GSO        EthtoolFlag = 0x23 // ETHTOOL_GGSO
	GRO        EthtoolFlag = 0x2b // ETHTOOL_GGRO
)

// GetEthtoolFlag reads a switch of an interface in the thread's network
// namespace.
func GetEthtoolFlag(name string, flag EthtoolFlag) (on bool, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("open a socket for ethtool: %w", err)
	}
	defer unix.Close(fd)
	value := struct{ cmd, data uint32 }{cmd: uint32(flag)}
	// struct ifreq of linux/if.h with a pointer in its union.
	var req struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	if len(name) >= len(req.name) {
		return false, fmt.Errorf("interface name %q is longer than %d bytes", name, len(req.name)-1)
	}
	copy(req.name[:], name)
	req.data = unsafe.Pointer(&value)
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req))); e != 0 {
		return false, fmt.Errorf("read a setting of %s (ethtool %#x): %w", name, uint32(flag), e)
	}
	return value.data != 0, nil
}
