package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ethtool is SIOCETHTOOL of netdevice(7) on a socket that is open: data is a
// structure of linux/ethtool.h that begins with its command.
func ethtool(fd int, device string, data unsafe.Pointer) error {
	// struct ifreq of linux/if.h with a pointer in its union.
	var req struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	if len(device) >= len(req.name) {
		return fmt.Errorf("interface name %q is longer than %d bytes", device, len(req.name)-1)
	}
	copy(req.name[:], device)
	req.data = data
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req))); e != 0 {
		return e
	}
	return nil
}

// withEthtool is ethtool on a socket of its own, of the thread's network
// namespace.
func withEthtool(device string, data unsafe.Pointer) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket for ethtool: %w", err)
	}
	defer unix.Close(fd)
	return ethtool(fd, device, data)
}

// Commands and values of linux/ethtool.h.
const (
	ethtoolGSet    = 0x01
	ethtoolGFlags  = 0x25
	ethtoolFlagLRO = 1 << 15
)

// GetLRO says whether large receive offload of an interface in the thread's
// network namespace is on.
func GetLRO(device string) (on bool, err error) {
	value := struct{ cmd, data uint32 }{cmd: ethtoolGFlags}
	if err := withEthtool(device, unsafe.Pointer(&value)); err != nil {
		return false, fmt.Errorf("read the flags of %s (ethtool %#x): %w", device, ethtoolGFlags, err)
	}
	return value.data&ethtoolFlagLRO != 0, nil
}

// LinkSpeed is the speed in bit/s of an interface in the thread's network
// namespace, as its driver tells; 0 if the driver does not know it.
func LinkSpeed(device string) (int64, error) {
	// struct ethtool_cmd of linux/ethtool.h.
	var set struct {
		cmd, supported, advertising                   uint32
		speed                                         uint16
		duplex, port, phy, transceiver, autoneg, mdio uint8
		maxTxPackets, maxRxPackets                    uint32
		speedHigh                                     uint16
		mdix, mdixControl                             uint8
		partnerAdvertising                            uint32
		_                                             [2]uint32
	}
	set.cmd = ethtoolGSet
	if err := withEthtool(device, unsafe.Pointer(&set)); err != nil {
		return 0, fmt.Errorf("read the speed of %s (ethtool %#x): %w", device, ethtoolGSet, err)
	}
	return speedOf(set.speed, set.speedHigh), nil
}

// speedOf is the speed in bit/s of the two halves of one in Mbit/s.
// SPEED_UNKNOWN is -1, and old drivers set the lower half alone.
func speedOf(low, high uint16) int64 {
	if n := int64(high)<<16 | int64(low); n != 1<<32-1 && n != 1<<16-1 {
		return n * 1_000_000
	}
	return 0
}
