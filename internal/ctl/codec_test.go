package ctl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

func testEnd() *result.End {
	h := hist.New()
	for _, ns := range []int64{1, 17_000, 18_500, 60_000_000_000} {
		h.Record(ns)
	}
	return &result.End{
		Role:     result.Local,
		Elapsed:  200 * time.Millisecond,
		Messages: 4,
		Bytes:    4,
		Counts:   map[string]int64{"lost": 1},
		RTT:      h,
		Warnings: []result.Warning{{Code: "memory", Text: "mlockall was refused", Advice: "raise RLIMIT_MEMLOCK"}},
	}
}

func TestConfigRoundTrip(t *testing.T) {
	want := testConfig()
	data, err := EncodeConfig(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// An address may be left open where the peer's is there to choose it by.
func TestOpenAddressRoundTrip(t *testing.T) {
	want := testConfig()
	want.Addr, want.Peer = netip.IPv6Unspecified(), netip.MustParseAddr("fe80::2%eth0")
	want.PortMin, want.PortMax = 7118, 7150
	data, err := EncodeConfig(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeConfig(data); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, error %v, want %+v", got, err, want)
	}
}

func TestDecodeFacts(t *testing.T) {
	want := []result.Fact{{Name: "kernel", Value: "6.18"}, {Name: "empty", Value: ""}}
	data, err := encodeFacts(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeFacts(data); err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
	for _, bad := range []string{"", "[]", `{"schema":"x","facts":[]}`, string(data) + "{}",
		`{"schema":"netdelta.environment/1","facts":[{"value":"v"}]}`, strings.Repeat(" ", maxFacts+1)} {
		if _, err := decodeFacts([]byte(bad)); err == nil {
			t.Errorf("%.40q is taken for facts", bad)
		}
	}
}

func FuzzDecodeFacts(f *testing.F) {
	f.Add([]byte(`{"schema":"netdelta.environment/1","facts":[{"name":"n","value":"v"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		facts, err := decodeFacts(data)
		if err != nil {
			return
		}
		again, err := encodeFacts(facts)
		if err != nil {
			return // longer than it was, with characters that JSON escapes
		}
		if back, err := decodeFacts(again); err != nil || !cmp.Equal(back, facts) {
			t.Fatalf("%v came back as %v, error %v", facts, back, err)
		}
	})
}

func TestEndRoundTrip(t *testing.T) {
	want := testEnd()
	data, err := EncodeEnd(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeEnd(data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// What a machine of very many CPUs counts must fit, too.
func TestManyCPUsFit(t *testing.T) {
	const cpus, names = 1024, 60 // of counts, of one CPU
	e := testEnd()
	e.Counters = &result.Counters{}
	r := result.Reading{Source: result.SourceInterrupts, Elapsed: time.Second, Counts: map[string]int64{}}
	for cpu := range cpus {
		e.Counters.CPUs = append(e.Counters.CPUs, cpu)
		for n := range names {
			r.Counts[fmt.Sprintf("%d mlx5_comp%d@%d", 100+n, n, cpu)] = 1 << 50
		}
	}
	e.Counters.Readings = []result.Reading{r}
	data, err := EncodeEnd(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeEnd(data); err != nil || len(data) > maxEnd/2 {
		t.Errorf("%d bytes, at most %d: %v", len(data), maxEnd, err)
	}
}

// A histogram with every bucket in use must fit with room to spare.
func TestFullHistogramFits(t *testing.T) {
	e := testEnd()
	for b := range e.RTT.Buckets() {
		e.RTT.Record(b.Low)
	}
	for ns := int64(1); ns < int64(60*time.Second); ns += 1 + ns/300 {
		for range 200 {
			e.RTT.Record(ns)
		}
	}
	data, err := EncodeEnd(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(data))
	if len(data) > maxEnd/4 {
		t.Errorf("%d bytes leave too little room below %d", len(data), maxEnd)
	}
}

func TestDecodeConfigRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*traffic.Config)
		want   string
	}{
		{"role", func(c *traffic.Config) { c.Role = "both" }, "valid are local, remote"},
		{"test", func(c *traffic.Config) { c.Test.Name = "udp_r" }, "valid are icmp_echo"},
		{"defaults", func(c *traffic.Config) { c.Test.Params = spec.Params{} }, "lacks its defaults"},
		{"size", func(c *traffic.Config) { c.Test.Params.Size = 70000 }, "out of range: 1 to 65507"},
		{"warm-up", func(c *traffic.Config) { c.Warmup = -1 }, "warm-up -1ns is out of range"},
		{"short", func(c *traffic.Config) { c.Window = time.Millisecond }, "window 1ms is out of range"},
		{"long", func(c *traffic.Config) { c.Window = 1 << 62 }, "out of range"},
		{"interval", func(c *traffic.Config) { c.Interval = 1 }, "interval 1ns is out of range"},
		{"cpu", func(c *traffic.Config) { c.CPU = -2 }, "CPU -2 is out of range"},
		{"cpus", func(c *traffic.Config) { c.CPU = 1 << 30 }, "is out of range"},
		{"no address", func(c *traffic.Config) { c.Addr = netip.Addr{} }, "cannot be bound to"},
		{"group", func(c *traffic.Config) { c.Addr = netip.MustParseAddr("224.0.0.1") }, "cannot be bound to"},
		{"open address", func(c *traffic.Config) { c.Addr = netip.IPv4Unspecified() }, "the peer's is needed"},
		{"open peer", func(c *traffic.Config) { c.Peer = netip.IPv6Unspecified() }, "no single host's address"},
		{"peers", func(c *traffic.Config) { c.Peer = netip.MustParseAddr("ff02::1") }, "no single host's address"},
		{"half a range", func(c *traffic.Config) { c.PortMax = 9 }, "ports 0 to 9 are no range"},
		{"range", func(c *traffic.Config) { c.PortMin, c.PortMax = 9, 8 }, "ports 9 to 8 are no range"},
		{"port and range", func(c *traffic.Config) { c.Port, c.PortMin, c.PortMax = 7, 8, 9 }, "both a port, 7, and a range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := testConfig()
			c.change(&cfg)
			data, err := EncodeConfig(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := DecodeConfig(data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestDecodeEndRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*result.End)
		want   string
	}{
		{"role", func(e *result.End) { e.Role = "" }, "valid are local, remote"},
		{"negative window", func(e *result.End) { e.Elapsed = -1 }, "out of range"},
		{"endless window", func(e *result.End) { e.Elapsed = 1 << 62 }, "out of range"},
		{"messages", func(e *result.End) { e.Messages = -1 }, "neither can be negative"},
		{"bytes", func(e *result.End) { e.Bytes = -1 }, "neither can be negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := testEnd()
			c.change(e)
			data, err := EncodeEnd(e)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := DecodeEnd(data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

// What is no document of ours is refused for both kinds in the same way.
func TestDecodeIsStrict(t *testing.T) {
	config, err := EncodeConfig(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	end, err := EncodeEnd(testEnd())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []struct {
		name   string
		good   []byte
		limit  int
		decode func([]byte) error
	}{
		{"config", config, maxConfig, func(b []byte) error { _, err := DecodeConfig(b); return err }},
		{"end", end, maxEnd, func(b []byte) error { _, err := DecodeEnd(b); return err }},
	} {
		if err := kind.decode(kind.good); err != nil {
			t.Fatalf("%s: %v", kind.name, err)
		}
		padded := append(bytes.Clone(kind.good), bytes.Repeat([]byte(" "), kind.limit-len(kind.good))...)
		if err := kind.decode(padded); err != nil {
			t.Errorf("%s of just the limit: %v", kind.name, err)
		}
		for _, c := range []struct {
			name string
			data []byte
			want string
		}{
			{"empty", nil, "EOF"},
			{"null", []byte("null"), "schema"},
			{"cut off", kind.good[:len(kind.good)-1], "unexpected EOF"},
			{"two", append(bytes.Clone(kind.good), kind.good...), "more after"},
			{"trailing text", append(bytes.Clone(kind.good), 'x'), "more after"},
			{"later version", bytes.Replace(kind.good, []byte("/1"), []byte("/2"), 1), "/2"},
			{"unknown field", bytes.Replace(kind.good, []byte(`"role"`), []byte(`"rolle"`), 1), "rolle"},
			{"too long", append(padded, ' '), "at most"},
		} {
			if err := kind.decode(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: got error %v, want one with %q", kind.name, c.name, err, c.want)
			}
		}
	}
}

func TestParsePeer(t *testing.T) {
	for _, c := range []struct {
		in   string
		good bool
	}{
		{"192.0.2.1:7118", true},
		{"192.0.2.1:0", true},
		{"[2001:db8::1]:7118", true},
		{"[fe80::1%eth0]:7118", true},
		{"", false},
		{"192.0.2.1", false},
		{"192.0.2.1:65536", false},
		{"host.example:80", false},
		{"0.0.0.0:80", false},
		{"[::]:80", false},
		{"224.0.0.1:80", false},
	} {
		p, err := ParsePeer(c.in)
		if (err == nil) != c.good {
			t.Errorf("%q: got error %v, want good = %t", c.in, err, c.good)
		}
		if err == nil && p.String() != c.in {
			t.Errorf("%q reads as %v", c.in, p)
		}
	}
}

func FuzzDecodeConfig(f *testing.F) {
	data, err := EncodeConfig(testConfig())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":"netdelta.config/1","config":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeConfig(data)
		if err != nil {
			return
		}
		again, err := EncodeConfig(c)
		if err != nil {
			t.Fatalf("accepted, but cannot be written: %v", err)
		}
		if back, err := DecodeConfig(again); err != nil || !reflect.DeepEqual(back, c) {
			t.Fatalf("%+v comes back as %+v, error %v", c, back, err)
		}
	})
}

func FuzzDecodeEnd(f *testing.F) {
	data, err := EncodeEnd(testEnd())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":"netdelta.end/1","end":{"role":"remote"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := DecodeEnd(data)
		if err != nil {
			return
		}
		again, err := EncodeEnd(e)
		if err != nil {
			// Escapes can make the written form longer than the one read.
			if json.Valid(data) && len(data) < maxEnd/8 {
				t.Fatalf("accepted, but cannot be written: %v", err)
			}
			return
		}
		back, err := DecodeEnd(again)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e, back, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("(-first +second)\n%s", d)
		}
	})
}

func FuzzParsePeer(f *testing.F) {
	f.Add("192.0.2.1:7118")
	f.Add("[fe80::1%eth0]:0")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePeer(s)
		if err != nil {
			return
		}
		if back, err := ParsePeer(p.String()); err != nil || back != p {
			t.Fatalf("%q reads as %v, which reads as %v, error %v", s, p, back, err)
		}
	})
}
