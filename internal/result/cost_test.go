package result

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"netdelta/internal/spec"
)

// costly is a trial of a second in which both hosts counted: 1000 messages and
// 1,000,000 bytes at the receiver.
func costly(t testing.TB, test string, local, remote []Reading) Trial {
	end := func(role string, readings []Reading) End {
		return End{Role: role, Elapsed: time.Second, Messages: 1000, Bytes: 1e6, Counters: &Counters{CPUs: []int{0, 1}, Device: "eth0", Readings: readings}}
	}
	r := end(Remote, remote)
	return Trial{Test: mustTest(t, test), Local: end(Local, local), Remote: &r}
}

// TestCosts holds each derivation against readings that are made up.
func TestCosts(t *testing.T) {
	type c = map[string]int64
	busy := func(local, remote int64) ([]Reading, []Reading) {
		one := func(n int64) []Reading { return []Reading{ticked(c{"cpu0.user": n * ms, "cpu1.idle": 1000 * ms})} }
		return one(local), one(remote)
	}
	device := func(counts c) Reading { return read(SourceDevice, counts) }
	twice := func(r Reading) Reading { r.Elapsed = 2 * time.Second; return r }
	lines := func(n int64, counts c) Reading {
		r := read(SourceInterrupts, counts)
		r.Levels = c{"device_lines": n}
		return r
	}
	both := func(readings ...Reading) ([]Reading, []Reading) { return readings, readings }
	for _, x := range []struct {
		name, test string
		readings   func() ([]Reading, []Reading)
		change     func(*Trial)
		metrics    string // of those named, in the table's order
		want       string // metric@end=value unit or metric@end!code
	}{
		{"round trips", "tcp_rr", func() ([]Reading, []Reading) { return busy(400, 200) }, nil, "cpu_per_op cpu",
			"cpu_per_op@local=0.0004 s/op, cpu_per_op@remote=0.0002 s/op, cpu@local=0.4 s/s, cpu@remote=0.2 s/s"},
		{"connections", "tcp_crr", func() ([]Reading, []Reading) { return busy(400, 200) }, nil, "cpu_per_op",
			"cpu_per_op@local=0.0004 s/op, cpu_per_op@remote=0.0002 s/op"},
		{"an echo has one end", "icmp_echo", func() ([]Reading, []Reading) { return busy(400, 200) }, nil, "cpu_per_op", "cpu_per_op@local=0.0004 s/op"},
		{"a wake-up has one end", "wake", func() ([]Reading, []Reading) { return busy(400, 0) }, nil, "cpu_per_op", "cpu_per_op@local=0.0004 s/op"},
		{"a stream, by what the receiver got", "tcp_stream", func() ([]Reading, []Reading) { return busy(500, 250) },
			func(x *Trial) { x.Local.Bytes = 9e6 }, "cpu_per_byte",
			"cpu_per_byte@local=5e-07 s/B, cpu_per_byte@remote=2.5e-07 s/B"},
		{"a stream back", "tcp_maerts", func() ([]Reading, []Reading) { return busy(500, 250) },
			func(x *Trial) { x.Remote.Bytes = 9e6 }, "cpu_per_byte",
			"cpu_per_byte@local=5e-07 s/B, cpu_per_byte@remote=2.5e-07 s/B"},
		{"a stream each way, by both", "tcp_bidir", func() ([]Reading, []Reading) { return busy(500, 250) },
			func(x *Trial) {
				x.Local.Counts = c{CountReceivedBytes: 3e6, CountReceivedElapsed: 1e9}
				x.Remote.Counts = c{CountReceivedBytes: 2e6, CountReceivedElapsed: 1e9}
			}, "cpu_per_byte", "cpu_per_byte@local=1e-07 s/B, cpu_per_byte@remote=5e-08 s/B"},
		{"nothing came through", "tcp_rr", func() ([]Reading, []Reading) { return busy(500, 250) },
			func(x *Trial) { x.Local.Messages = 0 }, "cpu_per_op cpu", "cpu_per_op@local!no-samples, cpu_per_op@remote!no-samples, cpu@local=0.5 s/s, cpu@remote=0.25 s/s"},
		{"no byte came through", "udp_stream", func() ([]Reading, []Reading) { return busy(500, 250) },
			func(x *Trial) { x.Remote.Bytes = 0 }, "cpu_per_byte", "cpu_per_byte@local!nothing-received, cpu_per_byte@remote!nothing-received"},
		{"a window that is broken", "tcp_rr", func() ([]Reading, []Reading) { return busy(500, 250) },
			func(x *Trial) { x.Window = 3 * time.Second }, "cpu", "cpu@local!short-window, cpu@remote!short-window"},
		{"CPUs that are shared", "tcp_rr", func() ([]Reading, []Reading) { return busy(500, 500) },
			func(x *Trial) {
				x.Local.Counters.OneMachine, x.Remote.Counters.OneMachine, x.Remote.Counters.Shared = true, true, true
			}, "cpu_per_op", "cpu_per_op@local=0.0005 s/op, cpu_per_op@remote!one-machine"},
		{"the remote host counted nothing", "tcp_rr", func() ([]Reading, []Reading) { return busy(500, 500) },
			func(x *Trial) { x.Remote.Counters = nil }, "cpu_per_op", "cpu_per_op@local=0.0005 s/op, cpu_per_op@remote!not-asked"},
		{"there is no remote end", "tcp_rr", func() ([]Reading, []Reading) { return busy(500, 500) },
			func(x *Trial) { x.Remote = nil }, "cpu_per_op run_delay interrupts_per_packet", "cpu_per_op@local=0.0005 s/op, cpu_per_op@remote!not-asked, " +
				"interrupts_per_packet@local!not-asked, interrupts_per_packet@remote!not-asked, run_delay@local!not-asked, run_delay@remote!not-asked"},
		{"an idle loop", "tcp_stream", func() ([]Reading, []Reading) {
			return both(read(SourceSoak, c{"cpu0.idle": 500 * ms, "cpu1.idle": 1000 * ms}))
		}, nil, "cpu_soak cpu_soak_per_byte", "cpu_soak_per_byte@local=5e-07 s/B, cpu_soak_per_byte@remote=5e-07 s/B, cpu_soak@local=0.5 s/s, cpu_soak@remote=0.5 s/s"},
		{"an idle loop beside round trips", "udp_rr", func() ([]Reading, []Reading) { return both(read(SourceSoak, c{"cpu0.idle": 1000 * ms})) }, nil,
			"cpu_soak_per_op", "cpu_soak_per_op@local=0.001 s/op, cpu_soak_per_op@remote=0.001 s/op"},
		{"cycles", "tcp_rr", func() ([]Reading, []Reading) { return both(read(SourceCycles, c{"cycles": 5e6, "cycles@0": 5e6})) }, nil,
			"cycles_per_op", "cycles_per_op@local=5000 cycles/op, cycles_per_op@remote=5000 cycles/op"},
		{"cycles of CPUs of one machine", "tcp_stream", func() ([]Reading, []Reading) {
			return both(read(SourceCycles, c{"cycles": 5e6, "cycles@0": 2e6, "cycles@1": 3e6}))
		}, func(x *Trial) {
			for i, e := range []*End{&x.Local, x.Remote} {
				e.Counters.OneMachine, e.Counters.CPUs = true, []int{i}
			}
		}, "cycles_per_byte", "cycles_per_byte@local=2 cycles/B, cycles_per_byte@remote=3 cycles/B"},
		{"packets of a TCP stream", "tcp_stream", func() ([]Reading, []Reading) {
			return both(twice(device(c{"rx_packets": 1000, "rx_bytes": 1514000, "tx_packets": 500, "tx_bytes": 33000})))
		}, nil, "packets bytes_per_packet", "bytes_per_packet@remote=1514 B/packet, packets@remote=500 1/s"},
		{"packets of a stream each way", "tcp_bidir", func() ([]Reading, []Reading) {
			return both(device(c{"rx_packets": 1000, "rx_bytes": 1514000}))
		}, nil, "packets bytes_per_packet", "bytes_per_packet@remote=1514 B/packet, bytes_per_packet@local=1514 B/packet, packets@remote=1000 1/s, packets@local=1000 1/s"},
		{"datagrams are counted by the receiver", "udp_stream", func() ([]Reading, []Reading) { return both(device(c{"rx_packets": 10, "rx_bytes": 100})) }, nil,
			"packets bytes_per_packet", "packets@remote=1000 1/s, bytes_per_packet@remote=10 B/packet"},
		{"no packets", "tcp_maerts", func() ([]Reading, []Reading) { return both(device(nil)) }, nil, "bytes_per_packet packets",
			"bytes_per_packet@local!no-packets, packets@local=0 1/s"},
		{"segments", "tcp_maerts", func() ([]Reading, []Reading) {
			return both(read(SourceTCPInfo, c{"data_segs_out": 100, "bytes_sent": 144800}))
		}, nil,
			"bytes_per_segment", "bytes_per_segment@remote=1448 B/packet"},
		{"no segments", "tcp_stream", func() ([]Reading, []Reading) { return both(read(SourceTCPInfo, nil)) }, nil, "bytes_per_segment", "bytes_per_segment@local!not-counted"},
		{"interrupts", "udp_rr", func() ([]Reading, []Reading) {
			return both(lines(2, c{"device": 300}), twice(device(c{"rx_packets": 1000, "tx_packets": 1000})))
		}, nil, "interrupts_per_packet", "interrupts_per_packet@local=0.3 1/packet, interrupts_per_packet@remote=0.3 1/packet"},
		{"lines that were silent", "icmp_echo", func() ([]Reading, []Reading) { return both(lines(2, nil), device(c{"rx_packets": 1})) }, nil,
			"interrupts_per_packet", "interrupts_per_packet@local=0 1/packet"},
		{"no lines", "icmp_echo", func() ([]Reading, []Reading) { return both(lines(0, nil), device(c{"rx_packets": 1})) }, nil,
			"interrupts_per_packet", "interrupts_per_packet@local!no-interrupts"},
		{"no lines and a wire", "udp_rr", func() ([]Reading, []Reading) { return both(lines(0, nil), device(c{"rx_packets": 1})) },
			func(x *Trial) {
				x.Path.Counts = c{"wire.a_to_b.frames_in": 100, "wire.a_to_b.wakeups": 50, "wire.b_to_a.frames_in": 10}
			},
			"interrupts_per_packet", "interrupts_per_packet@local=0 1/packet, interrupts_per_packet@remote=0.5 1/packet"},
		{"a wire that tells of its runs", "udp_stream", func() ([]Reading, []Reading) {
			return both(lines(0, nil), device(c{"rx_packets": 1000, "tx_packets": 500}))
		}, func(x *Trial) {
			x.Path.Counts = c{"wire.a_to_b.frames_in": 100, "wire.a_to_b.frames_out": 80, "wire.a_to_b.runs": 20, "wire.a_to_b.wakeups": 90,
				"wire.b_to_a.frames_out": 10, "wire.b_to_a.runs": 10}
		}, "interrupts_per_packet interrupts interface_packets", "interrupts_per_packet@local=1 1/packet, interrupts_per_packet@remote=0.25 1/packet, " +
			"interrupts@local=1000 1/s, interrupts@remote=250 1/s, interface_packets@local=1500 1/s, interface_packets@remote=1500 1/s"},
		{"interrupts per second", "udp_rr", func() ([]Reading, []Reading) {
			return both(lines(2, c{"device": 300}), device(c{"rx_packets": 1000, "tx_packets": 1000}))
		}, nil, "interrupts interface_packets", "interrupts@local=300 1/s, interrupts@remote=300 1/s, interface_packets@local=2000 1/s, interface_packets@remote=2000 1/s"},
		{"the threads' own time", "tcp_rr", func() ([]Reading, []Reading) {
			return both(twice(read(SourceThreads, c{"run_ns": 800 * ms, "traffic0.run_ns": 700 * ms})))
		}, nil, "cpu_threads_per_op cpu_threads", "cpu_threads@local=0.4 s/s, cpu_threads@remote=0.4 s/s, " +
			"cpu_threads_per_op@local=0.0004 s/op, cpu_threads_per_op@remote=0.0004 s/op"},
		{"the threads' own time, by what the receiver got", "tcp_stream", func() ([]Reading, []Reading) {
			return []Reading{read(SourceThreads, c{"run_ns": 500 * ms})}, []Reading{read(SourceThreads, c{"run_ns": 250 * ms})}
		}, func(x *Trial) { x.Local.Bytes = 9e6 }, "cpu_threads_per_byte", "cpu_threads_per_byte@local=5e-07 s/B, cpu_threads_per_byte@remote=2.5e-07 s/B"},
		{"loops of the test's own", "wake", func() ([]Reading, []Reading) {
			return both(ticked(c{"cpu0.user": 1000 * ms, "context_switches": 4000}), read(SourceThreads, c{"run_ns": 900 * ms}),
				read(SourceSoak, c{"cpu0.idle": 1000 * ms}), read(SourceCycles, c{"cycles": 9e9}))
		}, func(x *Trial) { x.Test.Params.Busy = spec.WakeAwake }, "cpu_per_op cpu_soak_per_op cpu cpu_threads cycles_per_op context_switches_per_op",
			"cpu_per_op@local!loops-beside, cpu_soak_per_op@local!loops-beside, cpu@local!loops-beside, cpu_threads@local!loops-beside, " +
				"cycles_per_op@local!loops-beside, context_switches_per_op@local=4 1/op"},
		{"what was not asked for is not missed", "wake", func() ([]Reading, []Reading) { return both(read(SourceThreads, nil)) },
			func(x *Trial) { x.Test.Params.Busy = spec.WakeAwake }, "cpu_soak_per_op cpu cpu_threads cycles_per_op",
			"cpu_soak_per_op@local!not-asked, cpu@local!not-asked, cpu_threads@local!loops-beside, cycles_per_op@local!not-asked"},
		{"softirqs", "udp_rr", func() ([]Reading, []Reading) {
			return both(read(SourceSoftirqs, c{"NET_RX": 60, "NET_RX@0": 50, "NET_RX@1": 10, "NET_TX@1": 40, "TIMER@0": 900}), device(c{"rx_packets": 100, "tx_packets": 100}))
		}, nil, "softirqs_per_packet", "softirqs_per_packet@local=0.5 1/packet, softirqs_per_packet@remote=0.5 1/packet"},
		{"softirqs of CPUs of one machine", "udp_rr", func() ([]Reading, []Reading) {
			return both(read(SourceSoftirqs, c{"NET_RX": 60, "NET_RX@0": 50, "NET_RX@1": 10, "NET_TX@1": 40}), device(c{"rx_packets": 50, "tx_packets": 50}))
		}, func(x *Trial) { x.Remote.Counters.OneMachine, x.Remote.Counters.CPUs = true, []int{1} },
			"softirqs_per_packet", "softirqs_per_packet@local=1 1/packet, softirqs_per_packet@remote=0.5 1/packet"},
		{"switches", "udp_rr", func() ([]Reading, []Reading) { return both(ticked(c{"context_switches": 4000})) }, nil,
			"context_switches_per_op", "context_switches_per_op@local=4 1/op, context_switches_per_op@remote=4 1/op"},
		{"switches of one machine are not told apart", "udp_rr", func() ([]Reading, []Reading) { return both(ticked(c{"context_switches": 4000})) },
			func(x *Trial) { x.Local.Counters.OneMachine, x.Remote.Counters.OneMachine = true, true },
			"context_switches_per_op", "context_switches_per_op@local=4 1/op, context_switches_per_op@remote!one-machine"},
		{"wake-ups", "tcp_rr", func() ([]Reading, []Reading) {
			return both(read(SourceBPF, c{"wakeups": 2000, "traffic_wakeups": 900}))
		}, nil,
			"wakeups_per_op", "wakeups_per_op@local=2 1/op, wakeups_per_op@remote=2 1/op"},
		{"wake-ups that can't be had", "tcp_rr", func() ([]Reading, []Reading) { return both() },
			func(x *Trial) { x.Local.Counters.Missing = []Fact{{SourceBPF, "no BTF"}} },
			"wakeups_per_op", "wakeups_per_op@local!not-counted, wakeups_per_op@remote!not-asked"},
		{"waiting for a CPU", "udp_stream", func() ([]Reading, []Reading) {
			return both(read(SourceThreads, c{"run_delay_ns": 900 * ms, "traffic0.run_delay_ns": 100 * ms, "traffic12.run_delay_ns": 200 * ms, "traffic0.run_ns": 700 * ms}))
		}, nil, "run_delay", "run_delay@local=0.3 s/s, run_delay@remote=0.3 s/s"},
	} {
		local, remote := x.readings()
		trial := costly(t, x.test, local, remote)
		if x.change != nil {
			x.change(&trial)
		}
		if got := figuresOf(&trial, strings.Fields(x.metrics)...); got != x.want {
			t.Errorf("%s:\n got %s\nwant %s", x.name, got, x.want)
		}
	}
}

// figuresOf writes the trial's figures of some metrics, or why there are none.
func figuresOf(t *Trial, metrics ...string) string {
	x := t.derived()
	var all []string
	for _, d := range Definitions(t.Test) {
		for _, name := range metrics {
			if d.Name != name {
				continue
			}
			text := d.Name + "@" + d.End
			for _, m := range x.metrics {
				if m.Taken() == d.Taken() {
					text += fmt.Sprintf("=%.6g %s", m.Value, m.Unit)
				}
			}
			for _, w := range append(x.missing, x.uncounted...) {
				if w.Alone(d.Taken()) {
					text += "!" + w.Code
				}
			}
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

// A report has rows of what any trial tells of, and none of what nobody counted.
func TestPresent(t *testing.T) {
	test := mustTest(t, "tcp_rr")
	names := func(trials ...Trial) string {
		var all []string
		for _, d := range Present(Definitions(test), func(k Taken) bool {
			for _, x := range trials {
				if told, _ := x.Tells(); told[k] {
					return true
				}
			}
			return false
		}) {
			if strings.HasPrefix(d.Name, "cpu") || d.Name == Rate {
				all = append(all, d.Name+"@"+d.End)
			}
		}
		return strings.Join(all, " ")
	}
	counted := costly(t, "tcp_rr", []Reading{ticked(nil)}, []Reading{ticked(nil)})
	asked := costly(t, "tcp_rr", nil, nil)
	asked.Local.Counters.Missing = []Fact{{SourceCPU, "no /proc"}, {SourceSoak, "no SCHED_IDLE"}}
	old := costly(t, "tcp_rr", nil, nil)
	old.Local.Counters, old.Remote.Counters = nil, nil
	shared := costly(t, "tcp_rr", nil, []Reading{ticked(nil)})
	shared.Remote.Counters.Shared = true
	refused := counted
	refused.Warnings = []Warning{{Code: Unavailable, Text: "no TCP"}}
	const all = "rate@local cpu_per_op@local cpu_per_op@remote cpu@local cpu@remote"
	for _, x := range []struct {
		name   string
		trials []Trial
		want   string
	}{
		{"all that count", []Trial{counted, counted}, all},
		{"one that counts", []Trial{old, counted, asked}, all},
		{"none that counts", []Trial{old, asked}, "rate@local"},
		{"a reason of its own", []Trial{shared, old}, "rate@local cpu_per_op@remote cpu@remote"},
		{"none that could be had", []Trial{refused}, "rate@local"},
		{"none", nil, "rate@local"},
	} {
		if got := names(x.trials...); got != x.want {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
	if _, uncounted := old.Tells(); len(uncounted) == 0 {
		t.Error("nobody says what an old record lacks")
	}
	for _, w := range old.AllWarnings() {
		if w.Code == NotAsked {
			t.Errorf("what was not asked for is warned of: %+v", w)
		}
	}
}
