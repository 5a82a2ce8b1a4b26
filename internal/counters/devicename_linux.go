package counters

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
