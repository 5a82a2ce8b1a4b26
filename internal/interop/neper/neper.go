// Package neper reads the key=value lines that neper's programs print: tcp_rr, tcp_crr,
// tcp_stream, udp_rr, udp_stream.
//
// Its output does not say which program it was, so a test is named by what it has: a
// throughput in transactions is an rr's. Latencies are in seconds. A stream's throughput
// is what the end that prints it read (neper's stream.c); of a client that may be
// another's, and it is then not said at which end it was taken.
package neper

import (
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

var (
	keyed    = regexp.MustCompile(`^\s*([a-z][A-Za-z0-9_]*)=(\S*)\s*$`)
	commands = regexp.MustCompile(`^\s*\S*[$#>%]?\s*(?:\./)?((?:tcp|udp)_(?:rr|crr|stream))\b`)
)

// Read finds the outputs in a file.
func Read(f *scan.File) scan.Found {
	var found scan.Found
	name := ""
	for at := 0; at < len(f.Lines); {
		if m := commands.FindStringSubmatch(f.Lines[at].Text); m != nil && !keyed.MatchString(f.Lines[at].Text) {
			name = m[1]
		}
		x := record{of: map[string]string{}, at: map[string]int{}, from: f.Lines[at].No}
		n := 0
		for at+n < len(f.Lines) {
			m := keyed.FindStringSubmatch(f.Lines[at+n].Text)
			if m == nil {
				break
			}
			if _, twice := x.of[m[1]]; twice {
				break // the next output
			}
			x.of[m[1]], x.at[m[1]], x.to = m[2], f.Lines[at+n].No, f.Lines[at+n].No
			n++
		}
		if !x.ours() {
			at += max(1, n)
			continue
		}
		x.test(&found, name)
		name = ""
		at += n
	}
	return found
}

// record is one output.
type record struct {
	of       map[string]string
	at       map[string]int
	from, to int
}

// ours says that the keys are neper's.
func (x *record) ours() bool {
	_, options := x.of["control_port"]
	_, samples := x.of["num_samples"]
	_, start := x.of["time_start"]
	_, count := x.of["num_transactions"]
	return options && x.has("num_flows") || samples && (start || count)
}

func (x *record) has(key string) bool { _, ok := x.of[key]; return ok }

func (x *record) number(key string) (float64, bool) {
	if !x.has(key) {
		return 0, false
	}
	return scan.Number(x.of[key])
}

// megabits are the units of a stream's throughput, in bits per second.
var megabits = map[string]float64{"Mbit/s": 1e6, "Gbit/s": 1e9, "Kbit/s": 1e3, "bit/s": 1, "Mbps": 1e6, "Gbps": 1e9, "MB/s": 8e6, "GB/s": 8e9}

func (x *record) test(found *scan.Found, name string) {
	span := scan.Span{From: x.from, To: x.to}
	found.Claimed = append(found.Claimed, span)
	problem := func(text string) {
		found.Problems = append(found.Problems, scan.Problem{Span: span, Text: text})
	}
	if !x.has("num_samples") {
		problem("neper's options are here, and no result of theirs")
		return
	}
	t := scan.Test{}
	t.Tool, t.Line, t.To = "neper", x.from, x.to
	stream := x.has("throughput_Mbps") || x.has("throughput_units")
	if t.Name = name; name == "" {
		t.Name = map[bool]string{true: "stream", false: "rr"}[stream]
	}
	for _, p := range []struct{ key, name, usual string }{{"num_flows", "flows", "1"}, {"num_threads", "threads", "1"}, {"request_size", "request", ""}, {"response_size", "response", ""}} {
		if v := x.of[p.key]; v != "" && v != p.usual && (p.usual != "" || !stream) {
			t.Params = append(t.Params, result.Fact{Name: p.name, Value: v})
		}
	}
	for _, key := range []string{"host", "test_length", "num_samples", "correlation_coefficient"} {
		if v := x.of[key]; v != "" {
			t.Facts = append(t.Facts, result.Fact{Name: strings.ReplaceAll(key, "_", " "), Value: v})
		}
	}
	own := result.Local
	if x.of["client"] == "0" {
		own = result.Remote
	}
	if !x.throughput(&t, stream, own) {
		problem("neper's throughput can't be, or is missing")
		return
	}
	x.latencies(&t, own)
	x.cpu(&t, own)
	found.Tests = append(found.Tests, t)
}

func (x *record) add(t *scan.Test, metric, end string, v float64, text, key string) {
	t.Figures = append(t.Figures, result.ImportedMetric(metric, end, v, text, x.at[key]))
}

func (x *record) throughput(t *scan.Test, stream bool, own string) bool {
	if !stream {
		v, ok := x.number("throughput")
		if ok {
			x.add(t, result.Rate, own, v, x.of["throughput"]+" transactions/s", "throughput")
		}
		return ok
	}
	key, times, unit := "throughput_Mbps", 1e6, "Mbps"
	if !x.has(key) {
		key, unit = "throughput", x.of["throughput_units"]
		times = megabits[unit]
	}
	v, ok := x.number(key)
	if !ok || times == 0 {
		return false
	}
	metric, end := result.Throughput, ""
	if own == result.Remote && x.of["enable_write"] != "1" {
		metric, end = result.Goodput, result.Remote
	}
	x.add(t, metric, end, v*times, x.of[key]+" "+unit, key)
	return true
}

// latencies are of the kind that neper prints where it is asked for percentiles.
func (x *record) latencies(t *scan.Test, own string) {
	for _, l := range []struct{ key, metric string }{
		{"latency_mean", result.RTTMean}, {"latency_min", result.RTTMin}, {"latency_p25", result.RTTP25}, {"latency_p50", result.RTTP50}, {"latency_p75", result.RTTP75},
		{"latency_p90", result.RTTP90}, {"latency_p99", result.RTTP99}, {"latency_p99.9", result.RTTP999}, {"latency_max", result.RTTMax}, {"latency_stddev", result.RTTStddev},
	} {
		if v, ok := x.number(l.key); ok && v > 0 {
			x.add(t, l.metric, own, v*1e9, x.of[l.key]+" s", l.key)
		}
	}
}

// cpu is what the process itself took, of one CPU.
func (x *record) cpu(t *scan.Test, own string) {
	var n [6]float64
	for i, key := range []string{"utime_start", "utime_end", "stime_start", "stime_end", "time_start", "time_end"} {
		v, ok := x.number(key)
		if !ok {
			return
		}
		n[i] = v
	}
	if took, used := n[5]-n[4], n[1]-n[0]+n[3]-n[2]; took > 0 && used >= 0 {
		x.add(t, result.CPUProcess, own, used/took, "utime and stime", "stime_end")
	}
}
