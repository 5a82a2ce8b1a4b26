package main

import (
	"math"
	"testing"
)

func TestRates(t *testing.T) {
	for _, c := range []struct {
		name  string
		parse func([]byte) (float64, error)
		out   string
		want  float64
	}{
		{"qperf", qperfRate, "udp_lat:\n    latency  =  10 us\n", 50000},
		{"qperf in ms", qperfRate, "tcp_lat:\n    latency  =  0.5 ms\n", 1000},
		{"sockperf", sockperfRate, "sockperf: [Valid Duration] RunTime=0.500 sec; SentMessages=10001; ReceivedMessages=10000\n", 20000},
		{"netperf", netperfRate, "48012.34\n", 48012.34},
	} {
		got, err := c.parse([]byte(c.out))
		if err != nil || math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
		if v, err := c.parse([]byte("connect: Connection refused\n")); err == nil {
			t.Errorf("%s: an error message is read as %v", c.name, v)
		}
	}
}

func FuzzRates(f *testing.F) {
	f.Add([]byte("latency = 1 us"))
	f.Add([]byte("[Valid Duration] RunTime=0 sec; SentMessages=1; ReceivedMessages=1"))
	f.Fuzz(func(t *testing.T, out []byte) {
		for _, parse := range []func([]byte) (float64, error){qperfRate, sockperfRate, netperfRate} {
			if v, err := parse(out); err == nil && (math.IsNaN(v) || v < 0) {
				t.Errorf("%q is a rate of %v", out, v)
			}
		}
	})
}
