// Package iperf reads what iperf3 prints, as text and as JSON, and iperf2's text and
// CSV.
//
// Bits per second are in powers of 1000, bytes in powers of 1024 (iperf3's units.c). A
// [SUM] stands for its streams, and a total for its intervals; intervals that were
// omitted count for nothing. iperf3 before 3.2 prints a rate of the sender's over UDP.
// iperf2's TCP figure is counted by who prints it: the client, which sends, or the
// server; its figure over UDP is the server's where it has sent its report. The local
// end is always the client.
package iperf

import (
	"strings"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

// Read finds the outputs in a file.
func Read(f *scan.File) scan.Found {
	r := &reader{f: f, inside: make([]bool, len(f.Lines)+2)}
	r.json()
	r.texts()
	r.csv()
	return r.found
}

type reader struct {
	f     *scan.File
	found scan.Found
	// inside are lines of JSON, by their number.
	inside []bool
}

func (r *reader) claim(from, to int) {
	r.found.Claimed = append(r.found.Claimed, scan.Span{From: from, To: to})
}

func (r *reader) problem(from, to int, text string) {
	r.found.Problems = append(r.found.Problems, scan.Problem{Span: scan.Span{From: from, To: to}, Text: text})
}

func fact(name, value string) result.Fact { return result.Fact{Name: name, Value: value} }

// ends are where the data of a direction were sent and received.
func ends(reverse bool) (sender, receiver string) {
	if reverse {
		return result.Remote, result.Local
	}
	return result.Local, result.Remote
}

// maxCPU is the largest share of a CPU that is taken for one, in percent: a thousand
// threads.
const maxCPU = 100_000

// maxRate is the largest rate that is taken for one, in bit/s: a petabit.
const maxRate = 1e15

// atSender warns that a rate says nothing of what came through.
func atSender(t *scan.Test, of string) {
	t.Warnings = append(t.Warnings, result.Warning{Code: "udp-at-sender",
		Text:   of + " prints a rate that the sender counted, whatever was lost",
		Advice: "take the loss beside it, or a version that prints the receiver's"})
}

// lossOf adds a loss that is counted from datagrams, if the counts can be.
func (r *reader) lossOf(t *scan.Test, end string, lost, total float64, text string, line int) {
	if total <= 0 || lost < 0 || lost > total {
		r.problem(line, line, "iperf: a loss of "+text+" can't be")
		return
	}
	t.Figures = append(t.Figures, result.ImportedMetric(result.Loss, end, lost/total, text, line))
}

// maxJitter is the longest that a jitter can be taken for one, in ns: a minute.
const maxJitter = 60e9

func (r *reader) jitterOf(t *scan.Test, end string, ms float64, text string, line int) {
	if ms < 0 || ms*1e6 > maxJitter {
		r.problem(line, line, "iperf: a jitter of "+text+" can't be")
		return
	}
	t.Figures = append(t.Figures, result.ImportedMetric(result.Jitter, end, ms*1e6, text, line))
}

// bits and bytes are the powers of the units' prefixes.
var (
	powers = map[string]float64{"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
	binary = map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
)

// rateOf is a rate in bits per second, of a number and a unit as in "Gbits/sec" or
// "MBytes/sec".
func rateOf(number, unit string) (float64, bool) {
	v, ok := scan.Number(number)
	if !ok {
		return 0, false
	}
	if p, is := strings.CutSuffix(unit, "bits/sec"); is {
		times, known := powers[p]
		return v * times, known && v*times <= maxRate
	}
	if p, is := strings.CutSuffix(unit, "Bytes/sec"); is {
		times, known := binary[p]
		return v * 8 * times, known && v*8*times <= maxRate
	}
	return 0, false
}
