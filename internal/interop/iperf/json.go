package iperf

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"sort"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

// document is what is read of iperf3's JSON. A number that is missing is nil.
type document struct {
	Start *struct {
		Version    string `json:"version"`
		Connecting struct {
			Host string `json:"host"`
		} `json:"connecting_to"`
		Test *struct {
			Protocol string  `json:"protocol"`
			Streams  int     `json:"num_streams"`
			Block    int     `json:"blksize"`
			Omit     float64 `json:"omit"`
			Reverse  int     `json:"reverse"`
			Target   float64 `json:"target_bitrate"`
		} `json:"test_start"`
	} `json:"start"`
	End struct {
		Streams []struct {
			Sender *struct {
				MinRTT  float64 `json:"min_rtt"`
				MeanRTT float64 `json:"mean_rtt"`
				MaxRTT  float64 `json:"max_rtt"`
			} `json:"sender"`
		} `json:"streams"`
		Sum          *sum `json:"sum"`
		Sent         *sum `json:"sum_sent"`
		Received     *sum `json:"sum_received"`
		SentBack     *sum `json:"sum_sent_bidir_reverse"`
		ReceivedBack *sum `json:"sum_received_bidir_reverse"`
		CPU          *struct {
			Host   *float64 `json:"host_total"`
			Remote *float64 `json:"remote_total"`
		} `json:"cpu_utilization_percent"`
		Congestion string `json:"sender_tcp_congestion"`
	} `json:"end"`
	Error string `json:"error"`
}

// sum is a total of a direction.
type sum struct {
	Seconds     *float64 `json:"seconds"`
	Bits        *float64 `json:"bits_per_second"`
	Retransmits *float64 `json:"retransmits"`
	Jitter      *float64 `json:"jitter_ms"`
	Lost        *float64 `json:"lost_packets"`
	Packets     *float64 `json:"packets"`
}

// json reads every object of iperf3's in the file.
func (r *reader) json() {
	var text strings.Builder
	var starts []int // where each line begins
	for _, l := range r.f.Lines {
		starts = append(starts, text.Len())
		text.WriteString(l.Text + "\n")
	}
	all := text.String()
	lineAt := func(at int) int {
		return sort.Search(len(starts), func(n int) bool { return starts[n] > at })
	}
	for at := 0; at < len(all); {
		i := strings.IndexByte(all[at:], '{')
		if i < 0 {
			return
		}
		begin := at + i
		if line := lineAt(begin); strings.TrimSpace(all[starts[line-1]:begin]) != "" {
			at = begin + 1
			continue // a brace within a line of something else
		}
		end, whole := closing(all, begin)
		object := all[begin:end]
		from, to := lineAt(begin), lineAt(end-1)
		if !isOurs(object) {
			at = end
			continue
		}
		at = end
		for n := from; n <= to && n < len(r.inside); n++ {
			r.inside[n] = true
		}
		r.claim(from, to)
		if !whole {
			r.problem(from, to, "iperf3's JSON is cut off: nothing is taken from it")
			continue
		}
		r.object(object, begin, from, to, lineAt)
	}
}

// isOurs says that an object is one of iperf3's.
func isOurs(object string) bool {
	return strings.Contains(object, `"start"`) && (strings.Contains(object, `"test_start"`) || strings.Contains(object, `"iperf `) || strings.Contains(object, `"error"`)) ||
		strings.Contains(object, `"error"`) && strings.Contains(object, "iperf")
}

// closing is the place behind the brace that closes the one at a place; false where
// there is none.
func closing(text string, begin int) (int, bool) {
	depth, quoted := 0, false
	for i := begin; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(text), false
}

var (
	// broken numbers have lost the sign of their exponent on a page, "1.2e 06".
	broken = regexp.MustCompile(`([0-9])([eE]) ([0-9])`)
	commas = regexp.MustCompile(`,(\s*[}\]])`)
	nans   = regexp.MustCompile(`(:\s*)-?(?:nan|NaN|inf|Infinity)(\s*[,}\]\n])`)
)

// object reads one object.
func (r *reader) object(object string, begin, from, to int, lineAt func(int) int) {
	written := object
	object = broken.ReplaceAllString(object, "$1$2+$3")
	object = commas.ReplaceAllString(object, "$1")
	object = nans.ReplaceAllString(object, "${1}null$2")
	var d document
	if err := json.Unmarshal([]byte(object), &d); err != nil {
		r.problem(from, to, "iperf3's JSON can't be read: "+oneLine(err.Error()))
		return
	}
	if d.Error != "" {
		r.problem(from, to, "iperf3 failed: "+oneLine(d.Error))
	}
	if d.Start == nil || d.Start.Test == nil {
		if d.Error == "" {
			r.problem(from, to, "iperf3's JSON does not say which test it was")
		}
		return
	}
	if d.Error != "" && d.End.Sent == nil && d.End.Sum == nil {
		return
	}
	// at is the line of a key, for figures to point at.
	at := func(key string) int {
		if i := strings.LastIndex(written, `"`+key+`"`); i >= 0 {
			if n := lineAt(begin + i); n <= to {
				return n
			}
		}
		return from
	}
	r.test(&d, from, to, at)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// test makes a test of an object.
func (r *reader) test(d *document, from, to int, at func(string) int) {
	t := scan.Test{}
	t.Tool, t.Line, t.To, t.Version = "iperf3", from, to, strings.TrimPrefix(d.Start.Version, "iperf ")
	s := d.Start.Test
	udp := strings.EqualFold(s.Protocol, "UDP")
	t.Name = strings.ToLower(s.Protocol)
	if t.Name == "" {
		t.Name = "tcp"
	}
	switch {
	case d.End.ReceivedBack != nil:
		t.Name += " bidir"
	case s.Reverse == 1:
		t.Name += " reverse"
	}
	if s.Streams > 1 {
		t.Params = append(t.Params, fact("streams", word(s.Streams)))
	}
	if udp && s.Block > 0 {
		t.Facts = append(t.Facts, fact("message", word(s.Block)+" B"))
	}
	for _, f := range []result.Fact{fact("target", d.Start.Connecting.Host), fact("congestion", d.End.Congestion)} {
		if f.Value != "" {
			t.Facts = append(t.Facts, f)
		}
	}
	if s.Omit > 0 {
		t.Facts = append(t.Facts, fact("omitted", word2(s.Omit)+" s"))
	}
	if s.Target > 0 {
		t.Facts = append(t.Facts, fact("rate asked for", word2(s.Target)+" bit/s"))
	}
	sender, receiver := ends(s.Reverse == 1)
	e := &d.End
	if e.Sent != nil && e.Sent.Seconds != nil {
		t.Facts = append(t.Facts, fact("elapsed", word2(math.Round(*e.Sent.Seconds*1000)/1000)+" s"))
	}
	switch {
	case e.Sent == nil && e.Received == nil && e.Sum != nil: // before 3.2, of UDP
		r.sum(&t, e.Sum, result.Offered, sender, at("sum"))
		r.lost(&t, e.Sum, receiver, at("sum"))
		if udp {
			atSender(&t, "iperf3 "+t.Version)
		}
	default:
		r.sum(&t, e.Sent, result.Offered, sender, at("sum_sent"))
		r.sum(&t, e.Received, result.Goodput, receiver, at("sum_received"))
		if udp {
			r.lost(&t, e.Received, receiver, at("sum_received"))
		}
		r.sum(&t, e.SentBack, result.Offered, result.Remote, at("sum_sent_bidir_reverse"))
		r.sum(&t, e.ReceivedBack, result.Goodput, result.Local, at("sum_received_bidir_reverse"))
		if udp && e.ReceivedBack != nil {
			r.lost(&t, e.ReceivedBack, result.Local, at("sum_received_bidir_reverse"))
		}
	}
	r.extras(&t, d, sender, at)
	if len(t.Figures) == 0 {
		r.problem(from, to, "iperf3's JSON has no totals")
		return
	}
	r.found.Tests = append(r.found.Tests, t)
}

// sum adds a direction's rate, and what it sent again.
func (r *reader) sum(t *scan.Test, s *sum, metric, end string, line int) {
	if s == nil || s.Bits == nil {
		return
	}
	if !can(*s.Bits) {
		r.problem(line, line, fmt.Sprintf("iperf3's rate of %v bit/s can't be", *s.Bits))
		return
	}
	t.Figures = append(t.Figures, result.ImportedMetric(metric, end, *s.Bits, fmt.Sprintf("%.3f bits/sec", *s.Bits), line))
	if s.Retransmits != nil && can(*s.Retransmits) && metric == result.Offered {
		t.Figures = append(t.Figures, result.ImportedMetric(result.Retransmitted, end, *s.Retransmits, word2(*s.Retransmits), line))
	}
}

func can(v float64) bool { return v >= 0 && !math.IsInf(v, 0) && !math.IsNaN(v) }

// lost adds loss and jitter of datagrams.
func (r *reader) lost(t *scan.Test, s *sum, end string, line int) {
	if s == nil {
		return
	}
	if s.Jitter != nil {
		r.jitterOf(t, end, *s.Jitter, fmt.Sprintf("%.3f ms", *s.Jitter), line)
	}
	if s.Lost != nil && s.Packets != nil {
		r.lossOf(t, end, *s.Lost, *s.Packets, word2(*s.Lost)+" of "+word2(*s.Packets)+" datagrams", line)
	}
}

// extras are the CPU time of the two processes, and TCP's own round trips under the
// stream, where one stream has them.
func (r *reader) extras(t *scan.Test, d *document, sender string, at func(string) int) {
	if c := d.End.CPU; c != nil {
		for _, x := range []struct {
			v   *float64
			end string
			key string
		}{{c.Host, result.Local, "host_total"}, {c.Remote, result.Remote, "remote_total"}} {
			if x.v != nil && can(*x.v) && *x.v > 0 {
				t.Figures = append(t.Figures, result.ImportedMetric(result.CPUProcess, x.end, *x.v/100, fmt.Sprintf("%.2f%%", *x.v), at(x.key)))
			}
		}
	}
	if s := d.End.Streams; len(s) == 1 && s[0].Sender != nil && s[0].Sender.MeanRTT > 0 && d.End.ReceivedBack == nil {
		x := s[0].Sender
		if x.MinRTT <= x.MeanRTT && x.MeanRTT <= x.MaxRTT {
			for _, f := range []struct {
				metric, key string
				us          float64
			}{{result.RTTMean, "mean_rtt", x.MeanRTT}, {result.RTTMin, "min_rtt", x.MinRTT}, {result.RTTMax, "max_rtt", x.MaxRTT}} {
				t.Figures = append(t.Figures, result.ImportedMetric(f.metric, sender, f.us*1e3, word2(f.us)+" us", at(f.key)))
			}
		}
	}
}
