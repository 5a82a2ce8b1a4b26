//go:build !linux

package counters

import "runtime"

// What these count comes from interfaces that only Linux has.

func openDevice(*Options) (source, error)  { return onlyLinux("rtnetlink(7)") }
func openDriver(*Options) (source, error)  { return onlyLinux("ethtool's ioctl(2)") }
func openQdisc(*Options) (source, error)   { return onlyLinux("rtnetlink(7)") }
func openSNMP(*Options) (source, error)    { return onlyLinux("/proc/net/snmp") }
func openTCPInfo(*Options) (source, error) { return onlyLinux("Linux's TCP_INFO") }
func openSockets(*Options) (source, error) { return onlyLinux("SO_MEMINFO") }
func openQueues(*Options) (source, error)  { return onlyLinux("SO_MEMINFO") }

func onlyLinux(what string) (source, error) {
	return nil, unavailable("it needs %s, and this is %s", what, runtime.GOOS)
}
