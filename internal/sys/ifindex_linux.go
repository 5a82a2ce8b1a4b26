package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// InterfaceIndex is the number of an interface, by its name in the network
// namespace that the socket is of (netdevice(7), SIOCGIFINDEX).
func InterfaceIndex(socket int, name string) (uint32, error) {
	ifr, err := unix.NewIfreq(name)
	if err != nil {
		return 0, fmt.Errorf("interface %q: %w", name, err)
	}
	if err := unix.IoctlIfreq(socket, unix.SIOCGIFINDEX, ifr); err != nil {
		return 0, fmt.Errorf("interface %q: %w (ioctl SIOCGIFINDEX)", name, err)
	}
	return ifr.Uint32(), nil
}
