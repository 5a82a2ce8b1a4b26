// Package netperf reads what netperf prints: the classic tables of every test, with and
// without CPU columns, and the omni tests' CSV, key=value and human forms.
//
// A stream's throughput is what the receiver got: at its end netperf shuts the
// connection down and waits for the peer to close it, so all bytes that it counts have
// arrived within the time that it divides by (nettest_bsd.c, nettest_omni.c). The two
// rows of UDP_STREAM are the sender's and the receiver's. KB is 1024 bytes, MBytes 2^20
// (netperf manual, "Global Options", -f).
package netperf

import (
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

// Read finds the outputs in a file.
func Read(f *scan.File) scan.Found {
	r := reader{f: f}
	for r.at < len(f.Lines) {
		if !r.failure() && !r.banner() && !r.warning() && !r.interim() && !r.csv() && !r.keyValue() && !r.omni() && !r.table() {
			r.at++
		}
	}
	r.drop()
	return r.found
}

// reader is a place in a file, and what stands before the next row of figures.
type reader struct {
	f     *scan.File
	at    int // of the next line
	found scan.Found
	next  head
}

// head is what is known of a test before its figures.
type head struct {
	name, peer, confidence string
	level                  float64
	// width are the widths that were reached, where netperf says that they are too wide.
	width map[string]float64
	from  int // line, 0 for none
	to    int
}

// line is the line at a distance from the current one; no text beyond the end.
func (r *reader) line(n int) scan.Line {
	if r.at+n < len(r.f.Lines) {
		return r.f.Lines[r.at+n]
	}
	return scan.Line{No: len(r.f.Lines)}
}

func (r *reader) claim(from, to int) {
	r.found.Claimed = append(r.found.Claimed, scan.Span{From: from, To: to})
}

func (r *reader) problem(from, to int, text string) {
	r.found.Problems = append(r.found.Problems, scan.Problem{Span: scan.Span{From: from, To: to}, Text: text})
	r.claim(from, to)
}

var (
	banners = regexp.MustCompile(`(?:MIGRATED )?\b((?:TCP|UDP|SCTP|DCCP|UDPLITE|OMNI)[A-Za-z|/ ]*?) TEST(?: from .*?)?\s+to\s+(\S+)`)
	begins  = regexp.MustCompile(`(?:MIGRATED )?\b(?:TCP|UDP|SCTP|OMNI)[A-Za-z|/ ]*? TEST\b`)
	conf    = regexp.MustCompile(`\+/-\s*([0-9.]+)%\s*@\s*([0-9.]+)%\s*conf`)
	refused = regexp.MustCompile(`are you sure there is a netserver|could not establish the control connection|netperf: remote error|send_\w+: data (send|recv) error|recv_response: partial response`)
	widths  = regexp.MustCompile(`(Throughput|Local CPU util|Remote CPU util)\s*:\s*([0-9.]+)%`)
	interim = regexp.MustCompile(`^\s*Interim result:`)
	prompt  = regexp.MustCompile(`^\s*\S*[$#>%].*\bnetperf\b`)
)

// names are netperf's own of tests that a banner writes in words.
var names = map[string]string{
	"TCP STREAM": "TCP_STREAM", "TCP MAERTS": "TCP_MAERTS", "TCP SENDFILE": "TCP_SENDFILE", "UDP STREAM": "UDP_STREAM",
	"UDP UNIDIRECTIONAL SEND": "UDP_STREAM", "TCP REQUEST/RESPONSE": "TCP_RR", "UDP REQUEST/RESPONSE": "UDP_RR",
	"TCP CONNECT/REQUEST/RESPONSE": "TCP_CRR", "TCP CONNECT/CLOSE": "TCP_CC", "SCTP STREAM": "SCTP_STREAM", "SCTP REQUEST/RESPONSE": "SCTP_RR",
}

// banner reads the line that says which test it is, which a mail may have broken over
// two or three.
func (r *reader) banner() bool {
	first := r.line(0)
	if prompt.MatchString(first.Text) && !begins.MatchString(first.Text) {
		r.claim(first.No, first.No)
		r.at++
		return true
	}
	if !begins.MatchString(first.Text) {
		return false
	}
	text, n := first.Text, 1
	for n < 3 && (!banners.MatchString(text) || strings.HasSuffix(strings.TrimSpace(text), ":")) && continues(r.line(n).Text) {
		text += " " + strings.TrimSpace(r.line(n).Text)
		n++
	}
	for n < 4 && continues(r.line(n).Text) {
		text += " " + strings.TrimSpace(r.line(n).Text)
		n++
	}
	m := banners.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	r.drop()
	words := strings.ToUpper(strings.Join(strings.Fields(m[1]), " "))
	r.next = head{name: names[words], peer: m[2], from: first.No, to: r.line(n - 1).No}
	if r.next.name == "" {
		r.next.name = strings.ReplaceAll(words, " ", "_")
	}
	if c := conf.FindStringSubmatch(text); c != nil {
		r.next.confidence = "+/-" + c[1] + "% @ " + c[2] + "%"
		r.next.level, _ = scan.Number(c[2])
	}
	r.at += n
	return true
}

// continues says that a line is the rest of a banner that was broken.
func continues(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, ":") || strings.HasPrefix(text, "AF_INET") || strings.HasPrefix(text, "port ") || strings.HasPrefix(text, "to ") ||
		strings.HasPrefix(text, "conf.") || strings.HasPrefix(text, "() port") || strings.HasPrefix(text, "(") && strings.Contains(text, "port ") ||
		strings.HasPrefix(text, "from ") || strings.HasPrefix(text, "histogram")
}

// warning reads the block that says which confidence was not reached.
func (r *reader) warning() bool {
	l := r.line(0)
	if !strings.HasPrefix(strings.TrimSpace(l.Text), "!!!") {
		return false
	}
	if r.next.from == 0 {
		r.next.from = l.No
	}
	r.next.to = l.No
	if m := widths.FindStringSubmatch(l.Text); m != nil {
		if r.next.width == nil {
			r.next.width = map[string]float64{}
		}
		if v, ok := scan.Number(m[2]); ok {
			r.next.width[m[1]] = v
		}
	}
	r.at++
	return true
}

// interim reads a line of a running test, which is no result.
func (r *reader) interim() bool {
	l := r.line(0)
	if !interim.MatchString(l.Text) {
		return false
	}
	r.claim(l.No, l.No)
	r.at++
	return true
}

// failure reads what netperf says when it has no result.
func (r *reader) failure() bool {
	l := r.line(0)
	if !refused.MatchString(l.Text) {
		return false
	}
	from, to := l.No, l.No
	if r.next.from > 0 {
		from = r.next.from
	}
	for refused.MatchString(r.line(1).Text) {
		r.at++
		to = r.line(0).No
	}
	r.problem(from, to, "netperf failed and has no result: "+strings.TrimSpace(l.Text))
	r.next = head{}
	r.at++
	return true
}

// drop says of a test that has begun that it has no figures.
func (r *reader) drop() {
	if r.next.from > 0 {
		r.problem(r.next.from, r.next.to, "netperf's "+r.next.title()+" has no row of figures here")
	}
	r.next = head{}
}

func (h *head) title() string {
	if h.name == "" {
		return "test"
	}
	return h.name
}

// add adds a test that ends in a line, and begins where its head does.
func (r *reader) add(t scan.Test, first, last int) {
	h := r.next
	r.next = head{}
	t.Tool = "netperf"
	if h.name != "" {
		t.Name = h.name
	}
	if h.from > 0 {
		first = min(first, h.from)
	}
	t.Line, t.To = first, last
	fact := func(name, value string) {
		if value != "" {
			t.Facts = append(t.Facts, result.Fact{Name: name, Value: value})
		}
	}
	fact("target", h.peer)
	fact("confidence", h.confidence)
	h.apply(&t)
	r.claim(first, last)
	if len(t.Figures) == 0 {
		r.problem(first, last, "netperf's "+t.Name+" has no figure that can be")
		return
	}
	r.found.Tests = append(r.found.Tests, t)
}
