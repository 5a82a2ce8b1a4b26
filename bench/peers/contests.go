package main

import (
	"fmt"
	"slices"
	"strconv"

	"netdelta/internal/spec"
)

// contests returns the table of contests.
func contests() []contest {
	return []contest{
		{
			name: "udp_rr", what: "round trips of one byte over UDP", judged: []figure{rate},
			ours:  []tool{ours("netdelta", "udp_rr size=1")},
			peers: []tool{qperf("udp_lat", "-m", "1"), netperf("UDP_RR")},
		},
		{
			name: "udp_rr_14", what: "round trips of 14 bytes over UDP, with their tail", judged: []figure{rate, p999},
			ours:  []tool{ours("netdelta", "udp_rr size=14")},
			peers: []tool{sockperf()},
		},
		{
			name: "tcp_rr", what: "round trips of one byte over TCP", judged: []figure{rate},
			ours:  []tool{ours("netdelta", "tcp_rr size=1")},
			peers: []tool{qperf("tcp_lat", "-m", "1"), netperf("TCP_RR"), neper("tcp_rr", rate)},
		},
		{
			name: "tcp_rr_14", what: "round trips of 14 bytes over TCP, with their tail", judged: []figure{rate, p999},
			ours:  []tool{ours("netdelta", "tcp_rr size=14")},
			peers: []tool{sockperf("--tcp")},
		},
		{
			name: "tcp_rr_1000", what: "round trips of one byte over 1,000 TCP connections, one thread an end", judged: []figure{rate},
			ours:  []tool{ours("netdelta", "tcp_rr size=1 flows=1000")},
			peers: []tool{neper("tcp_rr", rate, "-F", "1000", "-T", "1")},
		},
		{
			name: "tcp_crr", what: "connect, request, response and close", judged: []figure{rate},
			ours:  []tool{ours("netdelta", "tcp_crr size=1")},
			peers: []tool{netperf("TCP_CRR"), neper("tcp_crr", rate)},
		},
		{
			name: "tcp_stream", what: "bytes one way over one TCP connection, 128 KiB a call", judged: []figure{goodput},
			ours: []tool{
				ours("netdelta", "tcp_stream"), ours("netdelta nap", "tcp_stream wait=nap"),
				ours("netdelta trunc", "tcp_stream recv=trunc"), ours("netdelta trunc nap", "tcp_stream recv=trunc wait=nap"),
			},
			peers: []tool{
				iperf3("", "-l", "128K"), iperf3("--skip-rx-copy", "-l", "128K", "--skip-rx-copy"),
				netperf("TCP_STREAM"), qperf("tcp_bw", "-m", strconv.Itoa(128<<10)), neper("tcp_stream", goodput),
			},
		},
		{
			name: "udp_stream", what: "datagrams of 1024 bytes one way, as fast as it goes, counted at the receiver", judged: []figure{goodput},
			ours: []tool{
				ours("netdelta", "udp_stream"),
				ours("netdelta nap", "udp_stream wait=nap"),
				ours("netdelta mmsg nap", "udp_stream send=sendmmsg recv=recvmmsg wait=nap"),
				ours("netdelta mmsg", "udp_stream send=sendmmsg recv=recvmmsg"),
				ours("netdelta gso+gro", "udp_stream send=gso recv=gro"),
			},
			peers: []tool{iperf3("", udpFlood...), iperf3("--gsro", append(slices.Clone(udpFlood), "--gsro")...)},
		},
		methods("tcp_send", "ways to send a TCP stream", "tcp_stream wait=nap", "send", spec.SendMethods(), spec.TCP),
		methods("tcp_recv", "ways to receive a TCP stream", "tcp_stream wait=nap", "recv", spec.RecvMethods(), spec.TCP),
		methods("udp_send", "ways to send datagrams", "udp_stream recv=gro wait=nap", "send", spec.SendMethods(), spec.UDP),
		methods("udp_recv", "ways to receive datagrams", "udp_stream send=gso wait=nap", "recv", spec.RecvMethods(), spec.UDP),
	}
}

// methods is the contest of netdelta's own ways to do one thing. The receiver's
// wake-ups are left out where a method can: they are no part of the question.
func methods(name, what, test, parameter string, table []spec.Method, protocol spec.Protocol) contest {
	c := contest{name: name, what: what, judged: []figure{goodput, sends, recvs, copied}, ways: true}
	for _, m := range table {
		if slices.Contains(m.Protocols, protocol) {
			c.ours = append(c.ours, ours(m.Name, fmt.Sprintf("%s %s=%s", test, parameter, m.Name)))
		}
	}
	return c
}

// udpFlood has iperf3 send datagrams as fast as it can.
var udpFlood = []string{"-u", "-b", "0", "-l", "1024"}
