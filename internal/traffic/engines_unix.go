//go:build linux || darwin || freebsd

package traffic

import "netdelta/internal/result"

// engines is the table of engines. A new test is a row in package spec's table
// and one here for each of its ends.
var engines = []engine{
	{"icmp_echo", result.Local, newEcho},
	{"udp_rr", result.Local, newUDPRRLocal},
	{"udp_rr", result.Remote, newUDPRRRemote},
	{"tcp_rr", result.Local, newTCPRRLocal},
	{"tcp_rr", result.Remote, newTCPRRRemote},
	{"udp_stream", result.Local, newUDPSender},
	{"udp_stream", result.Remote, newUDPReceiver},
	{"tcp_stream", result.Local, newTCPSender},
	{"tcp_stream", result.Remote, newTCPReceiver},
}
