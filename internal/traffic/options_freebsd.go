package traffic

import "golang.org/x/sys/unix"

func (s *socket) bindToDevice(string, bool) error {
	return s.noOption("binding to a device", "Linux or macOS")
}

// setCongestion chooses how TCP controls congestion (mod_cc(4)).
func (s *socket) setCongestion(name string) error {
	if err := unix.SetsockoptString(int(s.Sock), unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
		return s.refusedOption("TCP_CONGESTION", name, "one of net.inet.tcp.cc.available", err)
	}
	return nil
}
