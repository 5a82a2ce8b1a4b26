//go:build !linux

package sys

import (
	"fmt"
	"net"
)

// InterfaceIndex is the number of an interface, by its name on this host.
func InterfaceIndex(_ int, name string) (uint32, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return 0, fmt.Errorf("interface %q: %w", name, err)
	}
	return uint32(i.Index), nil
}
