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
		{"udp_rr", result.Local, loaded, newLoadedTest},
		{"udp_rr", result.Remote, loaded, newLoadedTest},
		{"tcp_rr", result.Local, loaded, newLoadedTest},
		{"tcp_rr", result.Remote, loaded, newLoadedTest},
		{"icmp_echo", result.Local, spec.Test.OpenLoop, newPacedEcho},
		{"icmp_echo", result.Local, nil, newEcho},
		{"udp_rr", result.Local, many, newManyUDPLocal},
		{"udp_rr", result.Remote, many, newManyUDPRemote},
		{"udp_rr", result.Local, spec.Test.OpenLoop, newPacedUDPRR},
		{"udp_rr", result.Local, nil, newUDPRRLocal},
		{"udp_rr", result.Remote, nil, newUDPRRRemote},
		{"tcp_rr", result.Local, many, newManyTCPLocal},
		{"tcp_rr", result.Remote, many, newManyTCPRemote},
		{"tcp_rr", result.Local, spec.Test.OpenLoop, newPacedTCPRR},
		{"tcp_rr", result.Local, nil, newTCPRRLocal},
		{"tcp_rr", result.Remote, nil, newTCPRRRemote},
		{"tcp_crr", result.Local, nil, newCRRLocal},
		{"tcp_crr", result.Remote, nil, newCRRRemote},
		{"udp_stream", result.Local, many, newUDPFlows},
		{"wake", result.Local, nil, newWake},
		{"udp_stream", result.Local, nil, newUDPSender},
		{"udp_stream", result.Remote, many, newUDPFlowReceiver},
		{"udp_stream", result.Remote, nil, newUDPReceiver},
		{"tcp_stream", result.Local, nil, newTCPLocal},
		{"tcp_stream", result.Remote, nil, newTCPRemote},
		{"tcp_maerts", result.Local, nil, newTCPLocal},
		{"tcp_maerts", result.Remote, nil, newTCPRemote},
		{"tcp_bidir", result.Local, nil, newTCPLocal},
		{"tcp_bidir", result.Remote, nil, newTCPRemote},
	}
}
