package stages

import (
	"strings"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// made is a trial of a stream with made-up readings.
func made(t *testing.T, name string, block int, sender, receiver map[string]int64, tcp map[string]int64, bpf map[string]int64) *result.Trial {
	t.Helper()
	test, err := spec.NewTest(name, spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	reading := func(source string, levels, counts map[string]int64) result.Reading {
		return result.Reading{Source: source, Elapsed: time.Second, Levels: levels, Counts: counts}
	}
	from := &result.Counters{Readings: []result.Reading{reading(result.SourceQueues, sender, nil)}}
	to := &result.Counters{Readings: []result.Reading{
		reading(result.SourceQueues, receiver, nil),
		reading(result.SourceDevice, map[string]int64{"mtu": 1500}, map[string]int64{"rx_bytes": 1_000_000, "rx_packets": 1000}),
	}}
	if tcp != nil {
		from.Readings = append(from.Readings, reading(result.SourceTCPInfo, nil, tcp))
	}
	if bpf != nil {
		to.Readings = append(to.Readings, reading(result.SourceBPF, nil, bpf))
	}
	x := &result.Trial{Test: test, Block: block, Warmup: time.Second, Window: time.Second,
		Local: result.End{Role: result.Local, Elapsed: time.Second}, Remote: &result.End{Role: result.Remote, Elapsed: time.Second, Bytes: 1, Messages: 1}}
	x.Local.Counters, x.Remote.Counters = from, to
	if !test.Kind().Sends() {
		x.Local.Counters, x.Remote.Counters = to, from
	}
	return x
}

func levels(values map[string]int64) map[string]int64 {
	all := map[string]int64{result.QueueSamples: 100}
	for name, v := range values {
		if name == result.QueueSoftnet {
			all[name+result.QueueMilli], all[name+result.QueueMax] = 1000*v, 2*v
			continue
		}
		all[name+result.QueueMean], all[name+result.QueueMax] = v, 2*v
	}
	return all
}

// Before, frames wait in the qdisc; after, data waits in the receive buffer and the
// sender for the receiver's window.
func change(t *testing.T, name string, blocks int, polls [2]map[string]int64) []Of {
	t.Helper()
	var all []Of
	for b := range blocks {
		v := int64(b)
		all = append(all,
			Of{Variant: "softirq", Trial: made(t, name, b,
				levels(map[string]int64{"unsent": 1 << 20, "sent": 90_000 + v, "qdisc": 60_000, "cwnd": 100_000}),
				levels(map[string]int64{"received": 10_000, "softnet": 10}),
				map[string]int64{"busy_ns": 1000, "rwnd_limited_ns": 30 + v, "sndbuf_limited_ns": 10}, polls[0])},
			Of{Variant: "kthread", At: 1, Trial: made(t, name, b,
				levels(map[string]int64{"unsent": 1 << 20, "sent": 20_000, "qdisc": 0, "cwnd": 100_000}),
				levels(map[string]int64{"received": 200_000 + v, "softnet": 0}),
				map[string]int64{"busy_ns": 1000, "rwnd_limited_ns": 710 + 2*v, "sndbuf_limited_ns": 10},
				polls[1])})
	}
	return all
}

func TestStreams(t *testing.T) {
	for _, name := range []string{"tcp_stream", "tcp_maerts"} {
		for _, paired := range []bool{true, false} {
			all := Streams(change(t, name, 7, [2]map[string]int64{nil, {"napi_polls": 100, "napi_work": 1250}}), paired)
			if len(all) != 1 || len(all[0].Variants) != 2 || len(all[0].Said) != 1 {
				t.Fatalf("%s: %+v", name, all)
			}
			s := &all[0]
			want := name + " size=128KiB, softirq to kthread: limited by the receive window 3% -> 72% of the time; queueing moved from the qdisc to the receive buffer."
			if s.Said[0] != want {
				t.Errorf("got  %s\nwant %s", s.Said[0], want)
			}
			a, b := &s.Variants[0], &s.Variants[1]
			if a.Largest != PlaceQdisc || b.Largest != PlaceReceived || a.Trials != 7 || a.Samples != 700 {
				t.Errorf("%+v\n%+v", a, b)
			}
			// Ten packets of 1000 bytes in the backlog and the qdisc's are no more on the way.
			for i, want := range []float64{1 << 20, 60_000, 20_003, 10_000, 10_000} {
				if p := a.Places[i]; p.Bytes == nil || *p.Bytes != want {
					t.Errorf("%s: %v, want %v", p.Name, p.Bytes, want)
				}
			}
			if a.FramesPerRun != nil || len(a.Missing) != 1 || b.FramesPerRun == nil || *b.FramesPerRun != 12.5 || len(b.Missing) != 0 {
				t.Errorf("frames per run: %v %v, %v %v", a.FramesPerRun, a.Missing, b.FramesPerRun, b.Missing)
			}
			if b.BytesPerPacket == nil || *b.BytesPerPacket != 1000 {
				t.Errorf("bytes per packet: %v", b.BytesPerPacket)
			}
			if w := s.Where(b); !strings.Contains(w, "kthread: most is in the receive buffer, 195 KiB in the mean; limited by the receive window 72% of the time.") {
				t.Error(w)
			}
		}
	}
}

// How many frames a run of the receive handler finds is told where it has changed.
func TestStreamsBatches(t *testing.T) {
	polls := func(work int64) map[string]int64 { return map[string]int64{"napi_polls": 100, "napi_work": work} }
	s := Streams(change(t, "tcp_stream", 7, [2]map[string]int64{polls(100), polls(230)}), true)
	if got := s[0].Said[0]; !strings.HasSuffix(got, "; frames per run of the receive handler 1.0 -> 2.3.") {
		t.Error(got)
	}
	s = Streams(change(t, "tcp_stream", 7, [2]map[string]int64{polls(100), polls(101)}), true)
	if got := s[0].Said[0]; strings.Contains(got, "frames per run") {
		t.Error(got)
	}
}

// Where the same place holds most, how much more or less that is.
func TestStreamsGrown(t *testing.T) {
	all := change(t, "tcp_stream", 7, [2]map[string]int64{})
	for i, v := range []map[string]int64{{"sent": 900_000, "qdisc": 0}, {"sent": 500_000, "qdisc": 0}} {
		for k := i; k < len(all); k += 2 {
			all[k].Trial.Local.Counters.Readings = []result.Reading{{Source: result.SourceQueues, Levels: levels(v)}}
			all[k].Trial.Remote.Counters.Readings = []result.Reading{{Source: result.SourceQueues, Levels: levels(map[string]int64{"received": 9000 + int64(i)})}}
		}
	}
	want := "tcp_stream size=128KiB, softirq to kthread: 879 KiB -> 488 KiB between the hosts (rings, wire, receive handler)."
	if got := Streams(all, true)[0].Said[0]; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A change that too few trials show, or none, is not told as one.
func TestStreamsUnsure(t *testing.T) {
	few := Streams(change(t, "tcp_stream", 2, [2]map[string]int64{}), true)
	if got := few[0].Said[0]; !strings.Contains(got, "2 trials are too few") {
		t.Error(got)
	}
	same := change(t, "tcp_stream", 7, [2]map[string]int64{})
	for i := range same {
		same[i].Trial = same[i/2*2].Trial
	}
	if got := Streams(same, true)[0].Said[0]; !strings.Contains(got, "what limits it, where data waits and how much comes at once are not different for sure") {
		t.Error(got)
	}
}

// Where nobody looked at the queues there is nothing to tell; where somebody could not,
// the reason.
func TestStreamsMissing(t *testing.T) {
	all := change(t, "tcp_stream", 1, [2]map[string]int64{})[:1]
	x := all[0].Trial
	x.Local.Counters.Readings, x.Remote.Counters.Readings = nil, nil
	if s := Streams(all, true); s != nil {
		t.Errorf("%+v", s)
	}
	x.Remote.Counters.Missing = []result.Fact{{Name: result.SourceQueues, Value: "too busy."}}
	s := Streams(all, true)
	if len(s) != 1 || s[0].Variants[0].Largest != "" || !strings.Contains(strings.Join(s[0].Source(), " "), "No queues of the remote end: too busy.") {
		t.Errorf("%+v", s)
	}
	several := change(t, "tcp_stream", 3, [2]map[string]int64{})
	for i, why := range []string{"late by 5 ms", "late by 6 ms"} {
		c := several[2*i].Trial.Local.Counters
		c.Readings, c.Missing = nil, []result.Fact{{Name: result.SourceQueues, Value: why}}
	}
	if text := strings.Join(Streams(several, true)[0].Source(), " "); strings.Count(text, "late by") != 1 || !strings.Contains(text, "No queues of the local end in 2 of 3 trials: late by 5 ms.") {
		t.Error(text)
	}
	if w := s[0].Where(&s[0].Variants[0]); !strings.Contains(w, "nothing waits that could be seen") {
		t.Error(w)
	}
}

// Datagrams have no limits and no send buffer that they wait in.
func TestStreamsDatagrams(t *testing.T) {
	x := made(t, "udp_stream", 0, levels(map[string]int64{"sent": 50_000, "qdisc": 0}), levels(map[string]int64{"received": 9000, "softnet": 0}), nil, nil)
	s := Streams([]Of{{Trial: x}}, false)
	if len(s) != 1 || s[0].Variants[0].Largest != PlaceWay || s[0].Variants[0].Limits != nil || s[0].Variants[0].Places[0].Bytes != nil {
		t.Errorf("%+v", s)
	}
	if w := s[0].Where(&s[0].Variants[0]); !strings.Contains(w, "most is between the hosts (rings, wire, receive handler), 48.8 KiB in the mean.") {
		t.Error(w)
	}
}
