package result

import (
	"testing"
	"time"
)

var pathCases = []guardCase{
	{"a flap", "udp_rr", func(x *Trial) { of(&x.Local, SourceDevice).Counts["carrier_changes"] = 2 },
		[]string{"link-flap: at the local end the interface lost or found its carrier during the trial (changes: 2)"}},
	{"a flap outside the window", "udp_rr", func(x *Trial) {
		x.Local.Counters.Whole = []Reading{{Source: SourceDevice, Elapsed: 2 * time.Second, Counts: map[string]int64{"carrier_changes": 1}}}
	}, []string{"link-flap: (changes: 1)"}},
	{"settings", "udp_rr", func(x *Trial) {
		r := of(&x.Local, SourceDevice)
		r.Was["feature.gro"], r.Was["mtu"], r.Was["speed_bps"], r.Was["up"] = 0, 9000, 10e9, 0
	}, []string{"offload-changed: at the local end the interface's settings changed during the trial: gro, mtu, speed"}},
	{"a setting that is gone", "udp_rr", func(x *Trial) { of(&x.Local, SourceDevice).Was["feature.lro"] = 0 }, nil},

	{"errors", "udp_rr", func(x *Trial) {
		r := of(&x.Local, SourceDevice)
		r.Counts["rx_errors"], r.Counts["tx_carrier"] = 2, 1
	}, []string{"interface-errors: at the local end the interface counted errors (frames: 3)"}},
	{"few drops", "tcp_rr", func(x *Trial) { of(x.Remote, SourceDevice).Counts["rx_missed"] = 100 }, nil},
	{"drops coming in", "tcp_rr", func(x *Trial) {
		r := of(x.Remote, SourceDevice)
		r.Counts["rx_missed"], r.Counts["rx_fifo"], r.Counts["rx_dropped"] = 500, 300, 200
	}, []string{"interface-drops: at the remote end the interface dropped 0.7% of the packets that came in"}},
	{"what a switch says now and then", "icmp_echo", func(x *Trial) {
		r := of(&x.Local, SourceDevice)
		r.Counts["rx_packets"], r.Counts["rx_dropped"] = 100, 19
	}, nil},
	{"a backlog that counts at the interface too", "tcp_stream", func(x *Trial) {
		of(x.Remote, SourceSoftnet).Counts["dropped"], of(x.Remote, SourceDevice).Counts["rx_dropped"] = 50_000, 50_000
	}, []string{"softnet-drops: at the remote end"}},
	{"drops going out", "tcp_rr", func(x *Trial) { of(x.Remote, SourceDevice).Counts["tx_dropped"] = 11_200 },
		[]string{"interface-drops: at the remote end the interface dropped 10% of the packets that were to go out"}},
	{"a queueing discipline", "tcp_stream", func(x *Trial) { of(&x.Local, SourceQdisc).Counts["drops"] = 101 },
		[]string{"qdisc-drops: at the local end the interface's queueing discipline dropped 0.1% of its packets"}},
	{"the backlog", "tcp_stream", func(x *Trial) { of(x.Remote, SourceSoftnet).Counts["dropped"] = 100_000 },
		[]string{"softnet-drops: at the remote end the kernel's backlog queue dropped 50% of the packets that came in"}},
	{"a flood on one machine", "udp_stream", func(x *Trial) { of(x.Remote, SourceSoftnet).Counts["dropped"] = 100_000; oneMachine(x, false) },
		[]string{"one-machine: both ends"}},
	{"a flood between two", "udp_stream", func(x *Trial) { of(x.Remote, SourceSoftnet).Counts["dropped"] = 100_000 },
		[]string{"softnet-drops: at the remote end"}},
	{"a few squeezes", "tcp_stream", func(x *Trial) { of(x.Remote, SourceSoftnet).Counts["squeezed"] = 166 }, nil},
	{"squeezes", "tcp_stream", func(x *Trial) { of(x.Remote, SourceSoftnet).Counts["squeezed"] = 167 },
		[]string{"softnet-squeezed: at the remote end the receive softirq used up its budget before its queue was empty (times: 167)"}},

	{"a little other traffic", "tcp_stream", func(x *Trial) { of(x.Remote, SourceDevice).Counts["rx_bytes"] = 25_000_000 }, nil},
	{"other traffic", "tcp_stream", func(x *Trial) { of(x.Remote, SourceDevice).Counts["rx_bytes"] = 46_000_000 },
		[]string{"other-traffic: at the remote end the interface carried other traffic beside the test's, 50% of all or more"}},
	{"other traffic in a trial that stalled", "tcp_stream", func(x *Trial) {
		of(x.Remote, SourceDevice).Counts["rx_bytes"] = 46_000_000
		x.Remote.Elapsed = x.Window + x.Window/2
	}, nil},
	{"what was sent and lost is the test's", "udp_stream", func(x *Trial) {
		x.Local.Bytes = 46_000_000
		of(x.Remote, SourceDevice).Counts["rx_bytes"] = 46_000_000
	}, nil},
}

func TestPathGuards(t *testing.T) { checkGuards(t, pathCases) }

var flowCases = []guardCase{
	{"half of the time", "tcp_stream", func(x *Trial) { of(&x.Local, SourceTCPInfo).Counts["rwnd_limited_ns"] = 500e6 }, nil},
	{"the receiver's window", "tcp_stream", func(x *Trial) { of(&x.Local, SourceTCPInfo).Counts["rwnd_limited_ns"] = 510e6 },
		[]string{"receiver-limited: at the local end connections waited for room in the receiver's window for 51% of the time that they had data"}},
	{"of the end that receives", "tcp_stream", func(x *Trial) { of(x.Remote, SourceTCPInfo).Counts["rwnd_limited_ns"] = 900e6 }, nil},
	{"of a stream back", "tcp_maerts", func(x *Trial) { of(x.Remote, SourceTCPInfo).Counts["rwnd_limited_ns"] = 900e6 },
		[]string{"receiver-limited: at the remote end"}},
	{"the send buffer", "tcp_stream", func(x *Trial) { of(&x.Local, SourceTCPInfo).Counts["sndbuf_limited_ns"] = 600e6 },
		[]string{"sndbuf-limited: at the local end connections were kept back by the send buffer for 60% of the time that they had data"}},
	{"a tenth copied", "tcp_stream send=zerocopy", func(x *Trial) { x.Local.Counts[CountZeroCopy], x.Local.Counts[CountZeroCopied] = 1000, 100 }, nil},
	{"copied", "tcp_stream send=zerocopy", func(x *Trial) { x.Local.Counts[CountZeroCopy], x.Local.Counts[CountZeroCopied] = 1000, 1000 },
		[]string{"zerocopy-copied: at the local end the kernel copied 100% of what was to be sent without copying"}},
}

func TestFlowGuards(t *testing.T) { checkGuards(t, flowCases) }
