//go:build darwin || freebsd

package traffic

var (
	newUDPFlows        = newNotMany
	newUDPFlowReceiver = newNotMany
)
