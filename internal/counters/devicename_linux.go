package counters

import (
	"fmt"
	"net"
)

// device is the interface of the path, or why there is none.
func (o *Options) device() (string, error) {
	switch {
	case o.Device != "":
		return o.Device, nil
	case !o.Addr.IsValid():
		return "", unavailable("the interface of the path is not known")
	case o.Addr.IsUnspecified():
		return "", unavailable("%v is the address of every interface: give this end the address that it has on the path", o.Addr)
	}
	return "", unavailable("no interface of this network namespace has the address %v", o.Addr)
}

// openInterface finds the interface of the path and opens a way to ask for it.
func (o *Options) openInterface() (name string, index int, r *routes, err error) {
	if name, err = o.device(); err != nil {
		return "", 0, nil, err
	}
	d, err := net.InterfaceByName(name)
	if err != nil {
		return "", 0, nil, reason(fmt.Errorf("find interface %s: %w", name, err))
	}
	if r, err = openRoutes(); err != nil {
		return "", 0, nil, reason(err)
	}
	return name, d.Index, r, nil
}
