package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

var (
	qperfLatency   = regexp.MustCompile(`latency\s*=\s*([0-9.]+) (ns|us|ms|sec)`)
	qperfBandwidth = regexp.MustCompile(`bw\s*=\s*([0-9.]+) (bytes|KB|MB|GB)/sec`)
	sockperfValid  = regexp.MustCompile(`\[Valid Duration\] RunTime=([0-9.]+) sec; SentMessages=\d+; ReceivedMessages=(\d+)`)
	sockperfP999   = regexp.MustCompile(`percentile 99\.900 =\s*([0-9.]+)`)
	netperfNumber  = regexp.MustCompile(`(?m)^\s*([0-9.]+)\s*$`)
	neperNumber    = regexp.MustCompile(`(?m)^throughput(_Mbps)?=([0-9.]+)\s*$`)
)

// positive is a number that a figure can be.
func positive(text []byte, what string) (float64, error) {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(v > 0) || v > 1e18 {
		return 0, errors.New("no " + what)
	}
	return v, nil
}

// parseQperf: qperf prints half of the mean round trip; its MB is 10^6.
func parseQperf(out []byte) (figures, error) {
	if m := qperfLatency.FindSubmatch(out); m != nil {
		v, err := positive(m[1], "latency")
		if err != nil {
			return nil, err
		}
		scale := map[string]float64{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "sec": 1}[string(m[2])]
		return figures{rate: 1 / (2 * v * scale)}, nil
	}
	m := qperfBandwidth.FindSubmatch(out)
	if m == nil {
		return nil, errors.New("neither latency nor bandwidth")
	}
	v, err := positive(m[1], "bandwidth")
	if err != nil {
		return nil, err
	}
	return figures{goodput: 8 * v * map[string]float64{"bytes": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9}[string(m[2])]}, nil
}

// parseSockperf: its percentiles are of half a round trip, in us.
func parseSockperf(out []byte) (figures, error) {
	m := sockperfValid.FindSubmatch(out)
	if m == nil {
		return nil, errors.New("no valid duration")
	}
	t, err := positive(m[1], "run time")
	if err != nil {
		return nil, err
	}
	n, err := positive(m[2], "messages")
	if err != nil {
		return nil, err
	}
	f := figures{rate: n / t}
	if m := sockperfP999.FindSubmatch(out); m != nil {
		half, err := positive(m[1], "percentile")
		if err != nil {
			return nil, err
		}
		f[p999] = 2 * half * 1e3
	}
	return f, nil
}

// parseNetperf: with -v 0 a number alone, transactions per second or for a
// stream 10^6 bits per second. Of UDP_STREAM that is the sender's.
func parseNetperf(stream bool) func([]byte) (figures, error) {
	return func(out []byte) (figures, error) {
		m := netperfNumber.FindSubmatch(out)
		if m == nil {
			return nil, errors.New("no number")
		}
		v, err := positive(m[1], "number")
		if err != nil {
			return nil, err
		}
		if stream {
			return figures{goodput: v * 1e6}, nil
		}
		return figures{rate: v}, nil
	}
}

// parseNeper: NAME=VALUE lines; a stream's throughput is in 10^6 bits per
// second.
func parseNeper(f figure) func([]byte) (figures, error) {
	return func(out []byte) (figures, error) {
		m := neperNumber.FindSubmatch(out)
		if m == nil {
			return nil, errors.New("no throughput")
		}
		v, err := positive(m[2], "throughput")
		if err != nil {
			return nil, err
		}
		if f == goodput {
			v *= 1e6
		}
		return figures{f: v}, nil
	}
}

// parseIperf3 takes what the receiver got.
func parseIperf3(out []byte) (figures, error) {
	var doc struct {
		Error string `json:"error"`
		End   struct {
			Received struct {
				Seconds float64 `json:"seconds"`
				Bytes   float64 `json:"bytes"`
				Sender  bool    `json:"sender"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return nil, err
	}
	r := doc.End.Received
	switch {
	case doc.Error != "":
		return nil, fmt.Errorf("its error %q", doc.Error)
	case !(r.Seconds >= 1e-3) || !(r.Bytes > 0) || r.Bytes > 1e18:
		return nil, errors.New("no figures of the receiver")
	}
	return figures{goodput: 8 * r.Bytes / r.Seconds}, nil
}
