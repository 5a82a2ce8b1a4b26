package result

import (
	"math"
	"testing"

	"netdelta/internal/spec"
)

// carries has both ends' counts say that so many bits a second of payload came
// through.
func carries(x *Trial, bits int64) {
	for _, e := range []*End{&x.Local, x.Remote} {
		e.Bytes = bits / 8
		c := of(e, SourceDevice).Counts
		c["rx_bytes"], c["tx_bytes"] = bits/8, bits/8
	}
}

// Of 1 Gbit/s TCP can carry 1448 bytes of each 1538, which is 941.5 Mbit/s.
var speedCases = []guardCase{
	{"a link with room", "tcp_stream", func(x *Trial) { carries(x, 894e6) }, nil},
	{"a full link", "tcp_stream", func(x *Trial) { carries(x, 895e6) },
		[]string{"link-saturated: the link is full (895 Mbit/s of payload over an interface of 1.00 Gbit/s), so that throughput can't tell variants apart"}},
	{"a full link back", "tcp_maerts", func(x *Trial) { carries(x, 940e6) }, []string{"link-saturated: the link is full"}},
	{"the slower of two interfaces", "tcp_stream", func(x *Trial) {
		carries(x, 940e6)
		of(&x.Local, SourceDevice).Levels["speed_bps"] = 10e9
	}, []string{"link-saturated: over an interface of 1.00 Gbit/s"}},
	{"a speed that is not known", "tcp_stream", func(x *Trial) {
		carries(x, 940e6)
		delete(of(&x.Local, SourceDevice).Levels, "speed_bps")
		delete(of(x.Remote, SourceDevice).Levels, "speed_bps")
	}, nil},
	{"one machine's interfaces have no speed", "tcp_stream", func(x *Trial) { carries(x, 5e9); oneMachine(x, false) },
		[]string{"one-machine: both ends"}},
	{"more than there is", "tcp_stream", func(x *Trial) { carries(x, 952e6) },
		[]string{"above-line-rate: 952 Mbit/s of payload are more than the interface of 1.00 Gbit/s can carry"}},
	{"offered more than there is", "udp_stream size=1472", func(x *Trial) { carries(x, 500e6); x.Local.Bytes = 2e9 / 8 },
		[]string{"above-line-rate: 2.00 Gbit/s of payload"}},

	{"a rate that is kept", "tcp_stream rate=100Mbit/s", func(x *Trial) { carries(x, 98e6); x.Local.Counts[CountSlots] = 95 },
		[]string{"rate-held: throughput is what the test asks for (rate: 100 Mbit/s)"}},
	{"one that is not", "tcp_stream rate=100Mbit/s", func(x *Trial) { carries(x, 97e6); x.Local.Counts[CountSlots] = 95 }, nil},
	{"one of which slots are missed", "tcp_stream rate=100Mbit/s", func(x *Trial) {
		carries(x, 100e6)
		x.Local.Counts[CountSlots], x.Local.Counts[CountMissed] = 95, 2
	}, nil},
	{"pacing of two flows", "tcp_stream pacing=50Mbit/s flows=2", func(x *Trial) { carries(x, 94e6) },
		[]string{"rate-held: throughput is what the test asks for (pacing: 100 Mbit/s)"}},
	{"pacing that was not reached", "tcp_stream pacing=50Mbit/s flows=2", func(x *Trial) { carries(x, 92e6) }, nil},
}

func TestSpeedGuards(t *testing.T) { checkGuards(t, speedCases) }

// What each direction of a stream both ways was held by is said of that end.
func TestHeldDuplex(t *testing.T) {
	x := guarded(t, "tcp_bidir")
	carries(x, 100e6)
	x.Remote.Counts[CountReceivedBytes], x.Remote.Counts[CountReceivedElapsed] = 940e6/8, 1e9
	x.Local.Counts[CountReceivedBytes], x.Local.Counts[CountReceivedElapsed] = 100e6/8, 1e9
	for _, e := range []*End{&x.Local, x.Remote} {
		of(e, SourceDevice).Counts["rx_bytes"] = 100e6 / 8
	}
	w := x.guards()
	if len(w) != 1 || w[0].Code != GuardLinkSaturated || w[0].End != Remote || w[0].Metric != Goodput {
		t.Errorf("got %+v, want link-saturated of goodput at the remote end", w)
	}
	if x.Held(Local) != nil {
		t.Errorf("the local end's goodput is held: %+v", x.Held(Local))
	}
}

func TestPayloadShare(t *testing.T) {
	for _, c := range []struct {
		test   string
		size   int
		mtu    int64
		header int64
		want   float64
	}{
		{"tcp_stream", 1 << 17, 1500, ipv4Header, 1448.0 / 1538},
		{"tcp_stream", 1 << 17, 9000, ipv6Header, 8928.0 / 9038},
		{"udp_stream", 1472, 1500, ipv4Header, 1472.0 / 1538},
		{"udp_stream", 1, 1500, ipv4Header, 1.0 / 84},
		{"udp_stream", 64, 1500, ipv6Header, 64.0 / 150},
		{"udp_stream", 1473, 1500, ipv4Header, 1473.0 / (1538 + 84)},
	} {
		got := payloadShare(spec.Test{Name: c.test, Params: spec.Params{Size: c.size}}, c.mtu, c.header)
		if math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s size=%d mtu %d: got %v, want %v", c.test, c.size, c.mtu, got, c.want)
		}
	}
}

func TestHeldIn(t *testing.T) {
	link, faster, rate := &Held{HeldByLink, 1e9}, &Held{HeldByLink, 10e9}, &Held{HeldByRate, 1e9}
	times := func(n int, h *Held) (all []*Held) {
		for range n {
			all = append(all, h)
		}
		return all
	}
	for _, c := range []struct {
		name   string
		trials []*Held
		want   *Held
	}{
		{"no trial", nil, nil},
		{"none", times(3, nil), nil},
		{"all", times(3, link), link},
		{"nine of ten", append(times(9, link), nil), link},
		{"eight of nine", append(times(8, link), nil), nil},
		{"two links", append(times(5, link), times(5, faster)...), nil},
		{"another thing", append(times(9, rate), link), rate},
	} {
		if got := HeldIn(c.trials); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	if !(&Held{HeldByLink, 1e9}).Like(&Held{HeldByLink, 1.009e9}) || link.Like(nil) || link.Like(rate) || link.Like(faster) {
		t.Error("limits that are alike are not, or the other way round")
	}
}
