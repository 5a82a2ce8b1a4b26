package netlab

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// setting is a value of the namespace's /proc/sys/net, which shows the
// namespace of the thread that opens a file in it.
type setting struct {
	path  string // below /proc/sys/net
	value string
	// second is written where the kernel refuses value as invalid.
	second string
	ipv6   bool
}

// settings make a host quiet, so that only a test's own frames pass in its
// window, and make trials independent of each other.
var settings = []setting{
	// Datagram ICMP sockets for everyone (icmp(7)). In a user namespace only
	// groups that are mapped can be named.
	{path: "ipv4/ping_group_range", value: "0 2147483647", second: "0 0"},
	// Or a connection would begin with what the last one learned of the path,
	// whatever link that had.
	{path: "ipv4/tcp_no_metrics_save", value: "1"},
	// New namespaces inherit the machine's choice.
	{path: "ipv4/conf/all/rp_filter", value: "0"},
	{path: "ipv4/conf/default/rp_filter", value: "0"},
	{path: "ipv6/conf/all/disable_ipv6", value: "0", ipv6: true},
	{path: "ipv6/conf/default/disable_ipv6", value: "0", ipv6: true},
	// No duplicate address detection, link-local addresses, or routers.
	{path: "ipv6/conf/default/accept_dad", value: "0", ipv6: true},
	{path: "ipv6/conf/default/addr_gen_mode", value: "1", ipv6: true},
	{path: "ipv6/conf/default/autoconf", value: "0", ipv6: true},
	{path: "ipv6/conf/default/accept_ra", value: "0", ipv6: true},
	{path: "ipv6/conf/default/router_solicitations", value: "0", ipv6: true},
	// Group memberships are reported twice; have it done within 40 ms of the
	// link's coming up rather than within seconds.
	{path: "ipv6/conf/default/mldv1_unsolicited_report_interval", value: "20", ipv6: true},
	{path: "ipv6/conf/default/mldv2_unsolicited_report_interval", value: "20", ipv6: true},
}

const sysctlRoot = "/proc/sys/net/"

func hasIPv6() bool {
	_, err := os.Stat(sysctlRoot + "ipv6/conf/default")
	return err == nil
}

// set writes the setting and reads it back, in the calling thread's
// namespace.
func (s setting) set() error {
	value := s.value
	err := writeSysctl(s.path, value)
	if errors.Is(err, unix.EINVAL) && s.second != "" {
		value = s.second
		err = writeSysctl(s.path, value)
	}
	if errors.Is(err, unix.EROFS) {
		return fmt.Errorf("%w: /proc/sys is mounted read-only; mount it writable, or if this is a container run outside of it", err)
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(sysctlRoot + s.path)
	if err != nil {
		return err
	}
	if got := strings.Join(strings.Fields(string(text)), " "); got != value {
		return fmt.Errorf("%s%s reads %q after %q was written: the kernel ignored it", sysctlRoot, s.path, got, value)
	}
	return nil
}

func writeSysctl(path, value string) error {
	f, err := os.OpenFile(sysctlRoot+path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
