package findings

import (
	"fmt"
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// The latencies in us that were posted of a tun driver, by protocol and length: old,
// which defers, and new, which does not.
var (
	posted = map[string]map[int][2]float64{
		"udp_rr": {64: {44, 38}, 256: {47, 41}, 512: {48, 42}, 1460: {66, 66}},
		"tcp_rr": {64: {52, 45}, 256: {55, 48}, 512: {70, 61}, 1460: {117, 114}},
	}
	// postedStream are the throughputs in Gbit/s.
	postedStream = map[int][2]float64{64: {0.42, 0.45}, 512: {2.02, 2.14}, 1024: {3.75, 3.77}, 1460: {4.68, 5.06}}
)

// tunDriver is that report as a run would have it.
func tunDriver() madeUp {
	var tests []string
	for _, name := range []string{"udp_rr", "tcp_rr", "udp_stream", "tcp_stream"} {
		for _, size := range []int{64, 256, 512, 1460} {
			tests = append(tests, fmt.Sprintf("%s size=%d", name, size))
		}
	}
	tests = append(tests, "udp_stream size=1024")
	return madeUp{factors: []spec.Factor{{Name: receive, Levels: []string{"backlog", direct}}}, tests: strings.Join(tests, ","), blocks: 8,
		fill: func(t *made, noise float64) {
			side := 0
			if t.Variant[receive] == direct {
				side = 1
			}
			for _, end := range []string{"a.", "b."} {
				t.path(map[string]int64{end + "classified_all": 1000, end + "classified_cgroup": 1000})
			}
			reads(t.Remote, result.SourceSoftirqs, map[string]int64{"NET_RX": 400 - 200*int64(side)}, nil)
			if v, ok := posted[t.Test.Name]; ok {
				t.roundTrips(1000 * v[t.Test.RequestSize()][side] * (1 + noise))
				reads(t.Remote, result.SourceDevice, map[string]int64{"rx_packets": 200, "tx_packets": 200}, nil)
				return
			}
			if v := postedStream[t.Test.Params.Size][side]; v > 0 && udpStream(t.Test) {
				t.stream(v * 1e9 * (1 + noise))
				return
			}
			// TCP: less throughput in more packets of fewer bytes each.
			bits, bytes := 4e9, 30_000.0
			if side == 1 && tcpStream(t.Test) && t.Test.Params.Size < 512 {
				bits, bytes = 3.6e9, 20_000
			}
			t.stream(bits * (1 + noise))
			reads(t.Remote, result.SourceDevice, map[string]int64{"rx_bytes": int64(bits / 8), "rx_packets": int64(bits / 8 / bytes * (1 + noise))}, nil)
		}}
}

func TestLengths(t *testing.T) {
	in := tunDriver().input(t)
	Lengths(in)
	says(t, in, "inline against backlog", "UDP latency -14% at 64 B, -13% at 256 B, -12% at 512 B better, at 1460 B same (the gain ends at 1460 B)", "TCP latency")
	says(t, in, "smaller lengths together: UDP latency -13%", "faster, as reported", "softirqs per packet 0.500 against 1.00")
	says(t, in, "TCP loses throughput as reported", "64 B: goodput -9.9%", "bytes per packet -33%")
	says(t, in, "does not differ for sure at the rest", "at 1460 B")
	about(t, cellOf(t, sectionOf(t, in, "latency"), "TCP 1460 B", "backlog"), 117_000, 1000)
	// What the post left unsaid.
	for label, want := range map[string]float64{"UDP 64 B": -13.6, "UDP 256 B": -12.8, "UDP 512 B": -12.5, "UDP 1460 B": 0,
		"TCP 64 B": -13.5, "TCP 256 B": -12.7, "TCP 512 B": -12.9, "TCP 1460 B": -2.6} {
		about(t, cellOf(t, sectionOf(t, in, "latency-change"), label, direct), want, 0.4)
	}
	for label, want := range map[string]float64{"UDP 64 B": 7.1, "UDP 512 B": 5.9, "UDP 1024 B": 0.5, "UDP 1460 B": 8.1} {
		about(t, cellOf(t, sectionOf(t, in, "throughput-change"), label, direct), want, 0.4)
	}
	if d := cellOf(t, sectionOf(t, in, "latency-change"), "UDP 64 B", direct); d.Verdict != compare.Better || d.Lo == nil {
		t.Errorf("%+v", d)
	}
	for _, s := range in.Report.Sections {
		for _, c := range s.Columns {
			if c.Percent == (c.Unit != unit.Unit("")) {
				t.Errorf("section %s: column %+v", s.Name, c)
			}
		}
	}
	if c := checkOf(t, in, direct); !c.Pass || *c.Found != c.Wanted {
		t.Errorf("%+v", c)
	}
}

// A context that is slower is said to be, and one of which nothing is sure, too.
func TestLengthsContrary(t *testing.T) {
	for words, factor := range map[string]float64{"the contrary of what was reported": 1.2, "no difference that matters": 1} {
		m := tunDriver()
		right := m.fill
		m.fill = func(x *made, noise float64) {
			if right(x, noise); x.Local.RTT != nil {
				x.roundTrips(40_000 * (1 + noise))
				if x.Variant[receive] == direct {
					x.roundTrips(40_000 * factor * (1 + noise))
				}
			}
		}
		in := m.input(t)
		Lengths(in)
		says(t, in, words)
	}
}

func TestClassification(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*made)
		pass  bool
		text  string
	}{
		{"one of UDP, as a reading can split it", func(x *made) {
			if udpRR(x.Test) && x.Test.Params.Size == 64 {
				x.Path.Counts["b.classified_cgroup"]--
			}
		}, true, "UDP"},
		{"some of UDP", func(x *made) {
			if udpRR(x.Test) && x.Test.Params.Size == 64 {
				x.Path.Counts["b.classified_cgroup"] -= 50
			}
		}, false, "UDP"},
		{"few of TCP", func(x *made) {
			if tcpStream(x.Test) {
				x.Path.Counts["b.classified_cgroup"]--
			}
		}, true, "TCP"},
		{"many of TCP", func(x *made) {
			if tcpStream(x.Test) {
				x.Path.Counts["b.classified_cgroup"] -= 100
			}
		}, false, "TCP"},
		{"more than there are", func(x *made) {
			if tcpStream(x.Test) {
				x.Path.Counts["b.classified_cgroup"] += 100
			}
		}, false, "TCP"},
		{"not looked at", func(x *made) { x.Path.Counts = nil }, false, "not looked at"},
		{"not to be had", func(x *made) {
			x.Path.Counts = nil
			x.Warnings = []result.Warning{{Code: unclassified, Text: "no nf_tables here"}}
		}, false, "no nf_tables here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := tunDriver()
			right := m.fill
			m.fill = func(x *made, noise float64) {
				if right(x, noise); x.Variant[receive] == direct {
					c.spoil(x)
				}
			}
			in := m.input(t)
			Lengths(in)
			if got := checkOf(t, in, direct); got.Pass != c.pass || !strings.Contains(got.Text, c.text) {
				t.Errorf("%+v", got)
			}
			if got := checkOf(t, in, "backlog"); !got.Pass {
				t.Errorf("the other context: %+v", got)
			}
		})
	}
}
