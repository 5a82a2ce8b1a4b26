package result

import (
	"time"

	"pgregory.net/rapid"
)

// countedNames are names that derivations look for.
var countedNames = map[string][]string{
	SourceCPU:  {"cpu0.user", "cpu0.nice", "cpu1.system", "cpu0.idle", "cpu1.steal", "cpu0.iowait", "context_switches"},
	SourceIdle: {"cpu0.idle", "cpu1.idle"}, SourceSoak: {"cpu0.idle", "cpu1.idle"},
	SourceBPF:     {"idle_ns@0", "idle_ns@1", "wakeups", "softirq_ns@0", "softirq_ns@1"},
	SourceThreads: {"run_ns", "traffic0.run_delay_ns", "traffic1.run_delay_ns"}, SourceCycles: {"cycles@0", "cycles@1", "cycles"},
	SourceInterrupts: {"device", "41 eth0@0", "LOC@1"}, SourceSoftirqs: {"NET_RX@0", "NET_TX@1", "NET_RX", "TIMER@0"},
	SourceSoftnet: {"processed", "dropped", "squeezed"}, SourceQdisc: {"drops", "requeues"},
	SourceDevice:  {"rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_dropped", "tx_dropped", "rx_missed", "rx_fifo", "rx_errors"},
	SourceSNMP:    {"Ip.InDiscards", "Ip.OutDiscards", "Udp.RcvbufErrors", "Udp.NoPorts", "Udp6.MemErrors"},
	SourceTCPInfo: {"data_segs_out", "bytes_sent"},
}

// anyCounters is what some host counted.
func anyCounters(t *rapid.T) *Counters {
	count := rapid.OneOf(rapid.Int64Range(0, 50), rapid.Int64Min(0))
	one := func(source string) Reading {
		r := Reading{Source: source, Elapsed: time.Duration(count.Draw(t, "elapsed of "+source))}
		for _, name := range countedNames[source] {
			if n := count.Draw(t, name); n > 0 && rapid.Bool().Draw(t, "has "+name) {
				if r.Counts == nil {
					r.Counts = map[string]int64{}
				}
				r.Counts[name] = n
			}
		}
		if rapid.Bool().Draw(t, "has levels") {
			r.Levels = map[string]int64{"resolution_ns": rapid.Int64().Draw(t, "resolution"), "mtu": rapid.Int64().Draw(t, "mtu"),
				"device_lines": rapid.Int64Range(0, 2).Draw(t, "lines")}
			r.Was = map[string]int64{"mtu": rapid.Int64().Draw(t, "was")}
		}
		return r
	}
	some := func(label string, sources ...string) (all []Reading) {
		for _, s := range sources {
			if rapid.Bool().Draw(t, label+" "+s) {
				all = append(all, one(s))
			}
		}
		return all
	}
	c := &Counters{
		Readings: some("reads", SourceCPU, SourceIdle, SourceSoak, SourceBPF, SourceThreads, SourceCycles, SourceInterrupts,
			SourceSoftirqs, SourceSoftnet, SourceDevice, SourceTCPInfo),
		Whole:      some("reads all the time", SourceSoftnet, SourceDevice, SourceQdisc, SourceSNMP),
		Baseline:   some("reads before", SourceCPU, SourceIdle),
		CPUs:       rapid.SampledFrom([][]int{nil, {0}, {0, 1}, {7}}).Draw(t, "cpus"),
		OneMachine: rapid.Bool().Draw(t, "one machine"),
		Device:     rapid.SampledFrom([]string{"", "eth0"}).Draw(t, "device"),
	}
	c.Shared = c.OneMachine && rapid.Bool().Draw(t, "shared")
	if rapid.Bool().Draw(t, "missing") {
		c.Missing = []Fact{{Name: SourceDriver, Value: "not supported"}}
	}
	return c
}
