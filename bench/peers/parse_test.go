package main

import (
	"math"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name  string
		parse func([]byte) (figures, error)
		out   string
		want  figures
	}{
		{"qperf", parseQperf, "udp_lat:\n    latency  =  10 us\n", figures{rate: 50000}},
		{"qperf in ms", parseQperf, "tcp_lat:\n    latency  =  0.5 ms\n", figures{rate: 1000}},
		{"qperf bandwidth", parseQperf, "tcp_bw:\n    bw              =   2.3 GB/sec\n", figures{goodput: 18.4e9}},
		{"sockperf", parseSockperf, "sockperf: [Valid Duration] RunTime=0.500 sec; SentMessages=10001; ReceivedMessages=10000\nsockperf: ---> percentile 99.900 =   49.882\n",
			figures{rate: 20000, p999: 99764}},
		{"netperf", parseNetperf(false), "48012.34\n", figures{rate: 48012.34}},
		{"netperf stream", parseNetperf(true), "  16400.5\n", figures{goodput: 16400.5e6}},
		{"neper", parseNeper(rate), "num_transactions=28000\nthroughput=28000.12\n", figures{rate: 28000.12}},
		{"neper stream", parseNeper(goodput), "throughput=9388.15\nthroughput_units=Mbit/s\n", figures{goodput: 9388.15e6}},
		{"iperf3", parseIperf3, `{"end": {"sum_sent": {"seconds": 1, "bytes": 2000}, "sum_received": {"seconds": 2, "bytes": 1000, "sender": false}}}`,
			figures{goodput: 4000}},
	} {
		got, err := c.parse([]byte(c.out))
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
		for f, want := range c.want {
			if math.Abs(got[f]-want) > 1e-9*want {
				t.Errorf("%s: %s is %v, want %v", c.name, f, got[f], want)
			}
		}
		for _, bad := range []string{"", "connect: Connection refused\n", `{"error": "unable to connect"}`, `{"end": {}}`, "throughput=nan\n"} {
			if v, err := c.parse([]byte(bad)); err == nil {
				t.Errorf("%s: %q is read as %v", c.name, bad, v)
			}
		}
	}
}

// The table of contests must hold: names that differ, and tests that there are.
func TestContests(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range contests() {
		if seen[c.name] || c.what == "" || len(c.ours) == 0 || len(c.judged) == 0 {
			t.Errorf("contest %q is not whole", c.name)
		}
		seen[c.name] = true
	}
	if _, err := choose("udp_rr,nosuch"); err == nil {
		t.Error("a contest that there is not is chosen")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("latency = 1 us"))
	f.Add([]byte("[Valid Duration] RunTime=0 sec; SentMessages=1; ReceivedMessages=1"))
	f.Add([]byte(`{"end":{"sum_received":{"seconds":1e-300,"bytes":1}}}`))
	f.Fuzz(func(t *testing.T, out []byte) {
		for _, parse := range []func([]byte) (figures, error){parseQperf, parseSockperf, parseNetperf(true), parseNeper(rate), parseIperf3} {
			all, err := parse(out)
			for name, v := range all {
				if err != nil || !(v > 0) || math.IsInf(v, 0) {
					t.Errorf("%q has %s %v, %v", out, name, v, err)
				}
			}
		}
	})
}
