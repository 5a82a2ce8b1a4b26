package netperf

import (
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

// selectors are the omni outputs that are figures, by their key and by the name that a
// CSV has over them. What is not here is a fact, or nothing.
var selectors = []struct {
	key, title  string
	metric, end string
	times       float64
	unit        string
}{
	{"LOCAL_CPU_UTIL", "Local CPU Util %", result.CPUUtil, result.Local, 0.01, "%"},
	{"REMOTE_CPU_UTIL", "Remote CPU Util %", result.CPUUtil, result.Remote, 0.01, "%"},
	{"MIN_LATENCY", "Minimum Latency Microseconds", result.RTTMin, result.Local, 1e3, "us"},
	{"MEAN_LATENCY", "Mean Latency Microseconds", result.RTTMean, result.Local, 1e3, "us"},
	{"P50_LATENCY", "50th Percentile Latency Microseconds", result.RTTP50, result.Local, 1e3, "us"},
	{"P90_LATENCY", "90th Percentile Latency Microseconds", result.RTTP90, result.Local, 1e3, "us"},
	{"P99_LATENCY", "99th Percentile Latency Microseconds", result.RTTP99, result.Local, 1e3, "us"},
	{"MAX_LATENCY", "Maximum Latency Microseconds", result.RTTMax, result.Local, 1e3, "us"},
	{"STDDEV_LATENCY", "Stddev Latency Microseconds", result.RTTStddev, result.Local, 1e3, "us"},
	{"LOCAL_TRANSPORT_RETRANS", "Local Transport Retransmissions", result.Retransmitted, result.Local, 1, ""},
}

// record is one omni result, by upper-case key; at says which line each is on.
type record struct {
	of       map[string]string
	at       map[string]int
	from, to int
}

func (x *record) get(key string) string { return strings.TrimSpace(x.of[key]) }

// keyOf is the selector that a title of a CSV stands for.
func keyOf(title string) string {
	title = strings.TrimSpace(title)
	for _, s := range selectors {
		if strings.EqualFold(s.title, title) {
			return s.key
		}
	}
	known := map[string]string{
		"throughput": "THROUGHPUT", "throughput units": "THROUGHPUT_UNITS", "elapsed time (sec)": "ELAPSED_TIME", "elapsed time": "ELAPSED_TIME",
		"local send size": "LOCAL_SEND_SIZE", "request size bytes": "REQUEST_SIZE", "response size bytes": "RESPONSE_SIZE",
		"local service demand": "LOCAL_SD", "remote service demand": "REMOTE_SD", "service demand units": "SD_UNITS",
		"throughput confidence width (%)": "THROUGHPUT_CONFID", "confidence iterations run": "CONFIDENCE_ITERATION",
		"protocol": "PROTOCOL", "direction": "DIRECTION",
	}
	if key, ok := known[strings.ToLower(title)]; ok {
		return key
	}
	return strings.ToUpper(strings.ReplaceAll(title, " ", "_"))
}

// csv reads omni's CSV: titles, and a row below them.
func (r *reader) csv() bool {
	l := r.line(0)
	titles := strings.Split(l.Text, ",")
	x := record{of: map[string]string{}, at: map[string]int{}, from: l.No}
	known := false
	for _, t := range titles {
		known = known || keyOf(t) == "THROUGHPUT"
	}
	if !known || len(titles) < 2 {
		return false
	}
	row := strings.Split(r.line(1).Text, ",")
	if _, ok := scan.Number(strings.TrimSpace(row[0])); len(row) != len(titles) || !ok && !strings.ContainsAny(r.line(1).Text, "0123456789") {
		r.problem(l.No, l.No, "netperf's CSV has no row of as many fields below its titles")
		r.at++
		return true
	}
	x.to = r.line(1).No
	for i, t := range titles {
		x.of[keyOf(t)], x.at[keyOf(t)] = row[i], x.to
	}
	r.omniTest(&x)
	r.at += 2
	return true
}

var keyed = regexp.MustCompile(`^\s*([A-Z][A-Z0-9_]+)=(.*)$`)

// keyValue reads omni's -k output, a line a selector.
func (r *reader) keyValue() bool {
	x := record{of: map[string]string{}, at: map[string]int{}, from: r.line(0).No}
	n := 0
	for {
		m := keyed.FindStringSubmatch(r.line(n).Text)
		if m == nil || r.at+n >= len(r.f.Lines) {
			break
		}
		if _, twice := x.of[m[1]]; twice {
			break // the next result
		}
		x.of[m[1]], x.at[m[1]], x.to = m[2], r.line(n).No, r.line(n).No
		n++
	}
	if _, ok := x.of["THROUGHPUT"]; !ok || x.of["THROUGHPUT_UNITS"] == "" {
		return false
	}
	r.omniTest(&x)
	r.at += n
	return true
}

// human is a row of omni's own table: it ends in throughput and its units.
var human = regexp.MustCompile(`^\s*(?:-?[0-9]+\s+)+([0-9.]+)\s+([0-9.]+)\s+(10\^[369]bits/s|[KMG]Bytes/s|Trans/s)\s*$`)

// omni reads omni's table for people.
func (r *reader) omni() bool {
	l := r.line(0)
	m := human.FindStringSubmatch(l.Text)
	if m == nil || r.next.from == 0 {
		return false
	}
	x := record{of: map[string]string{"ELAPSED_TIME": m[1], "THROUGHPUT": m[2], "THROUGHPUT_UNITS": m[3]}, at: map[string]int{"THROUGHPUT": l.No}, from: l.No, to: l.No}
	r.omniTest(&x)
	r.at++
	return true
}

// omniTest makes a test of a record.
func (r *reader) omniTest(x *record) {
	t := scan.Test{}
	t.Name = x.name()
	if strings.HasPrefix(r.next.name, "OMNI") {
		r.next.name = ""
	}
	rr := x.get("THROUGHPUT_UNITS") == "Trans/s"
	for _, p := range []struct{ key, name string }{{"REQUEST_SIZE", "request"}, {"RESPONSE_SIZE", "response"}, {"LOCAL_SEND_SIZE", "message"}} {
		if v, ok := scan.Number(x.get(p.key)); ok && v > 0 && rr == (p.key != "LOCAL_SEND_SIZE") {
			t.Params = append(t.Params, fact(p.name, x.get(p.key)))
		}
	}
	if e := x.get("ELAPSED_TIME"); e != "" {
		t.Facts = append(t.Facts, fact("elapsed", e+" s"))
	}
	line := x.at["THROUGHPUT"]
	value := cell{text: x.get("THROUGHPUT")}
	value.v, value.ok = scan.Number(value.text)
	units := x.get("THROUGHPUT_UNITS")
	bits, known := throughputUnit(units)
	switch {
	case rr:
		r.figure(&t, result.Rate, result.Local, value, 1, units, line)
	case !known:
		r.found.Problems = append(r.found.Problems, scan.Problem{Span: scan.Span{From: line, To: line}, Text: "netperf's throughput of " + value.text + " has no unit that is known: " + units})
	default:
		metric, end := x.streamEnd(t.Name)
		r.figure(&t, metric, end, value, bits, units, line)
	}
	if w, ok := scan.Number(x.get("THROUGHPUT_CONFID")); ok && w > 0 && len(t.Figures) > 0 {
		t.Figures[0].WidthPct, t.Figures[0].LevelPct = w, r.next.level
		t.Facts = append(t.Facts, fact("iterations", x.get("CONFIDENCE_ITERATION")))
		if want, _, ok := strings.Cut(strings.TrimPrefix(r.next.confidence, "+/-"), "%"); ok {
			if half, ok := scan.Number(want); ok && w > 2*half {
				if r.next.width == nil {
					r.next.width = map[string]float64{}
				}
				r.next.width["Throughput"] = w
			}
		}
	}
	for _, s := range selectors {
		c := cell{text: x.get(s.key)}
		c.v, c.ok = scan.Number(c.text)
		if c.text != "" && !(c.v == 0 && strings.HasSuffix(s.key, "_LATENCY")) {
			r.figure(&t, s.metric, s.end, c, s.times, s.unit, x.at[s.key])
		}
	}
	r.demand(&t, x, rr)
	r.add(t, x.from, x.to)
}

// demand adds the service demand, in us for each KB or transaction.
func (r *reader) demand(t *scan.Test, x *record, rr bool) {
	metric, times, unit := result.CPUPerByte, 1e-6/1024, "us/KB"
	if rr {
		metric, times, unit = result.CPUPerOp, 1e-6, "us/Tr"
	}
	for _, d := range []struct{ key, end string }{{"LOCAL_SD", result.Local}, {"REMOTE_SD", result.Remote}} {
		c := cell{text: x.get(d.key)}
		c.v, c.ok = scan.Number(c.text)
		if c.text != "" {
			r.figure(t, metric, d.end, c, times, unit, x.at[d.key])
		}
	}
}

// name is netperf's name of the test that the record is of, as far as it says so.
func (x *record) name() string {
	protocol := strings.ToUpper(x.get("PROTOCOL"))
	if protocol == "" {
		protocol = "OMNI"
	}
	switch d := strings.ToUpper(x.get("DIRECTION")); {
	case x.get("THROUGHPUT_UNITS") == "Trans/s":
		return protocol + "_RR"
	case d == "RECEIVE" || d == "RECV":
		return protocol + "_MAERTS"
	default:
		return protocol + "_STREAM"
	}
}

// streamEnd is where a stream's throughput was counted: what arrived for TCP. Of UDP
// omni prints one figure and does not say of which end.
func (x *record) streamEnd(name string) (metric, end string) {
	switch {
	case strings.HasPrefix(name, "UDP"):
		return result.Throughput, ""
	case strings.HasSuffix(name, "_MAERTS"):
		return result.Goodput, result.Local
	}
	return result.Goodput, result.Remote
}
