package knob

import (
	"context"
	"slices"
	"strings"

	"netdelta/internal/spec"
)

// congestion is the congestion control of new TCP connections (tcp(7)).
type congestion struct{ *sysctl }

func openCongestion(p Place, _ spec.Setting, _ string) (Control, error) {
	c, err := sysctlAt(p, "net.ipv4.tcp_congestion_control")
	if err != nil {
		return nil, err
	}
	return congestion{c}, nil
}

// Write refuses what is not there yet: the kernel would try to load a module,
// which nothing unloads again.
func (c congestion) Write(ctx context.Context, value string) error {
	have, err := c.place.readFile(sysctlRoot + "net/ipv4/tcp_available_congestion_control")
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(have), value) {
		return unavailable("congestion control "+value, "find it among those of this kernel ("+normal(have)+")",
			"its module", "try modprobe tcp_"+value, nil)
	}
	return c.sysctl.Write(ctx, value)
}
