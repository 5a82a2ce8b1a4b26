//go:build linux || darwin || freebsd

package traffic

import (
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// many says that a test has more than one flow, thread or outstanding request.
func many(t spec.Test) bool { return t.Flows() > 1 || t.Burst() > 1 }

// loaded says that a stream flows beside a test.
func loaded(t spec.Test) bool { return t.Params.Load != "" }

// engines returns the table of engines. A new test is a row in package spec's
// table and one here for each of its ends.
func engines() []engine {
	return []engine{
		{"icmp_echo", result.Local, nil, newEcho},
		{"udp_rr", result.Local, nil, newUDPRRLocal},
		{"udp_rr", result.Remote, nil, newUDPRRRemote},
		{"tcp_rr", result.Local, nil, newTCPRRLocal},
		{"tcp_rr", result.Remote, nil, newTCPRRRemote},
		{"udp_stream", result.Local, nil, newUDPSender},
		{"udp_stream", result.Remote, nil, newUDPReceiver},
		{"tcp_stream", result.Local, nil, newTCPSender},
		{"tcp_stream", result.Remote, nil, newTCPReceiver},
	}
}
