package knob

import (
	"math/bits"
	"strconv"

	"netdelta/internal/spec"
)

// flowEntries is the size of the table of flows that receive flow steering uses
// (Documentation/networking/scaling.rst).
type flowEntries struct{ *sysctl }

func openFlowEntries(p Place, _ spec.Setting, _ string) (Control, error) {
	c, err := sysctlAt(p, "net.core.rps_sock_flow_entries")
	if err != nil {
		return nil, err
	}
	return flowEntries{c}, nil
}

// Equal knows that the kernel rounds up to a power of two
// (rps_sock_flow_sysctl).
func (c flowEntries) Equal(read, asked string) bool {
	n, err := strconv.ParseUint(asked, 10, 32)
	if err != nil || n == 0 {
		return read == asked
	}
	return read == strconv.FormatUint(1<<bits.Len64(n-1), 10)
}
