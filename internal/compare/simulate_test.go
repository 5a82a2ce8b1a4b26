package compare

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// simulation makes trials of a plan as a drifting machine would.
type simulation struct {
	plan spec.Plan
	// effect is what a variant multiplies a test's headline figure with.
	effect func(spec.Variant, spec.Test) float64
	// noise is the standard deviation of a trial's logarithm, drift that of a
	// step of the machine's random walk from trial to trial.
	noise, drift float64
	// loss is the share of datagrams that udp_stream loses.
	loss func(spec.Variant) float64
	seed uint64
}

// paths are what tests measure on the simulated machine: round trips in ns,
// and streams in payload bits per second.
var paths = map[string]float64{
	"icmp_echo": 31e3, "udp_rr": 21e3, "tcp_rr": 26e3, "udp_stream": 1.2e9, "tcp_stream": 9.8e9,
}

func (s simulation) run() []result.Trial {
	rng := rand.New(rand.NewPCG(s.seed, 1))
	var trials []result.Trial
	walk := 0.0
	for _, slot := range s.plan.Schedule() {
		for _, test := range slot.Tests {
			walk += s.drift * rng.NormFloat64()
			level := paths[test.Name] * math.Exp(walk+s.noise*rng.NormFloat64()) * s.effect(slot.Variant, test)
			trials = append(trials, s.trial(rng, slot, test, level, len(trials)))
		}
	}
	return trials
}

func (s simulation) trial(rng *rand.Rand, slot spec.Slot, test spec.Test, level float64, order int) result.Trial {
	w := s.plan.Window
	t := result.Trial{
		Schema: result.Schema, Block: slot.Block, Order: order, Variant: slot.Variant, Test: test,
		Start: time.Unix(1e9, 0).Add(time.Duration(order) * 2 * w).UTC(),
		Local: result.End{Role: result.Local, Elapsed: w, Counts: map[string]int64{}},
	}
	if test.Kind().Pattern == spec.Stream {
		t.Remote = &result.End{Role: result.Remote, Elapsed: w, Bytes: int64(level / 8 * w.Seconds()), Counts: map[string]int64{}}
		t.Remote.Messages = t.Remote.Bytes / int64(test.Params.Size)
		if test.Name == "tcp_stream" {
			t.Local.Bytes = t.Remote.Bytes + 65536
			t.Local.Counts["retransmits"] = 0
			return t
		}
		got := t.Remote.Messages
		sent := int64(float64(got) / (1 - s.loss(slot.Variant)))
		t.Local.Bytes = sent * int64(test.Params.Size)
		t.Local.Counts["sent"], t.Local.Counts["send_errors"] = sent, 0
		t.Remote.Counts = map[string]int64{"unique": got, "total": got, "duplicates": 0, "reordered": 0}
		// A warm-up of a quarter of the window, lossless; of what is lost a
		// quarter goes at the socket and the rest at the sender's interface.
		lost, warmup := sent-got, got/4
		t.Local.Counts["sent_all"], t.Remote.Counts["received_all"] = sent+warmup, got+warmup
		t.Remote.Counts["socket_drops_all"] = lost / 4
		frames := sent + warmup - (lost - lost/4)
		t.Path.Counts = map[string]int64{"a.tx_packets": frames, "a.tx_dropped": lost - lost/4, "b.rx_dropped": 0,
			"wire.a_to_b.frames_in": frames, "wire.a_to_b.wakeups": frames / 50}
		return t
	}
	h := hist.New()
	for spent := time.Duration(0); spent < w; {
		ns := level * (0.9 + 0.1*rng.ExpFloat64())
		if rng.IntN(400) == 0 {
			ns *= 8 // a wake-up from idle
		}
		h.Record(int64(ns))
		spent += time.Duration(ns)
	}
	t.Local.RTT = h
	t.Local.Messages = h.Count()
	t.Local.Bytes = h.Count() * int64(test.RequestSize())
	t.Local.Counts["sent"], t.Local.Counts["lost"], t.Local.Counts["late"] = h.Count(), 0, 0
	t.Path.Counts = map[string]int64{"wire.a_to_b.frames_in": h.Count(), "wire.b_to_a.frames_in": h.Count(),
		"wire.a_to_b.wakeups": h.Count(), "wire.b_to_a.wakeups": h.Count()}
	return t
}

// tests makes tests with their defaults.
func tests(t testing.TB, names ...string) []spec.Test {
	t.Helper()
	var all []spec.Test
	for _, name := range names {
		test, err := spec.NewTest(name, spec.Params{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, test)
	}
	return all
}

// rxContext is the plan of the receive-handler experiment, and a machine on
// which a kernel thread costs round trips and leaves streams alone.
func rxContext(t testing.TB, blocks int) simulation {
	return simulation{
		plan: spec.Plan{
			Experiment: "rx-context",
			Question:   "what the receive handler's context does to a path",
			Factors:    []spec.Factor{{Name: "rx", Levels: []string{"softirq", "inline", "kthread", "uthread"}}},
			Baseline:   spec.Variant{"rx": "softirq"},
			Tests:      tests(t, "icmp_echo", "udp_rr", "tcp_rr", "udp_stream", "tcp_stream"),
			Blocks:     blocks,
			Warmup:     50 * time.Millisecond,
			Window:     200 * time.Millisecond,
			Seed:       1,
			Margin:     0.02,
		},
		effect: func(v spec.Variant, test spec.Test) float64 {
			stream := test.Kind().Pattern == spec.Stream
			switch v["rx"] {
			case "inline":
				if stream {
					return 1
				}
				return 0.8
			case "kthread":
				if stream {
					return 1.05
				}
				return 1.57
			case "uthread":
				if stream {
					return 0.7
				}
				return 14
			}
			return 1
		},
		loss: func(v spec.Variant) float64 {
			if v["rx"] == "kthread" {
				return 0.04
			}
			return 0.001
		},
		noise: 0.03, drift: 0.02, seed: 7,
	}
}
