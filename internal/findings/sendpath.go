package findings

import (
	"fmt"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// The factors of the ways to send: the method, what the interface does for it, and
// the rate that the wire is held to.
const (
	sendBy   = "send"
	transmit = "tx"
	lineRate = "rate"
)

// sending is what an experiment on ways to send has at one rate.
type sending struct {
	in      *Input
	test    spec.Test
	under   spec.Variant // the rate, if there is that factor
	text    string       // the same as Comparison.Under has it
	rate    string       // for people; empty for no such factor
	tx      string       // what the interface does; empty for no such factor
	first   bool         // of the offloads of its rate, the baseline's
	held    bool         // the wire holds it
	methods []string     // the baseline first
	pairs   []pair
}

// SendPath tells what each way to send costs at each rate, against read+write.
func SendPath(in *Input) {
	if !in.usable() {
		return
	}
	f := in.factor(sendBy)
	tests := in.testsOf(tcpStream)
	if f == nil || len(tests) == 0 {
		return
	}
	methods := []string{in.base(f)}
	for _, level := range f.Levels {
		if level != methods[0] {
			methods = append(methods, level)
		}
	}
	var all []sending
	pairs := in.pairs()
	for _, under := range in.conditions() {
		rate := under[lineRate]
		_, err := unit.ParseBitRate(spec.BaseLevel(rate))
		s := sending{in: in, test: tests[0], under: under, text: in.conditionText(under), rate: rate, tx: under[transmit], held: err == nil, methods: methods, pairs: pairs}
		tx := in.factor(transmit)
		s.first = s.tx == "" || s.tx == in.base(tx)
		all = append(all, s)
	}
	r := in.Report
	for i := range all {
		s := &all[i]
		r.Sections = append(r.Sections, s.cpuTable(), s.changeTable())
		if !s.first {
			continue
		}
		r.Sections = append(r.Sections, s.packetTable())
		if t := s.transmitTable(); len(t.Rows) > 0 {
			r.Sections = append(r.Sections, t)
		}
	}
	r.Findings = append(r.Findings, together(all)...)
	r.Findings = append(r.Findings, transmitted(all)...)
	if text := copies(all); text != "" {
		r.Findings = append(r.Findings, text)
	}
}

// at is the rate in a sentence or a title: " at 100Mbit/s".
func (s *sending) at() string {
	text := s.atRate()
	if s.tx != "" {
		text += " with tx " + s.tx
	}
	return text
}

// atRate is that without what the interface does.
func (s *sending) atRate() string {
	switch {
	case s.rate == "":
		return ""
	case s.held:
		return " at " + s.rate
	}
	return " at " + s.rate + " speed"
}

// name is a section's there: "send-cpu-full-tso".
func (s *sending) name(what string) string {
	for _, part := range []string{s.rate, s.tx} {
		if part != "" {
			what += "-" + part
		}
	}
	return what
}

// variants are those of a method at the rate.
func (s *sending) variants(method string) []spec.Variant {
	return s.in.having(with(s.under, sendBy, method))
}

// figure is the median of a method's figures over blocks, as the mean over what else
// varies.
func (s *sending) figure(method string, of result.Taken) float64 {
	return s.in.median(s.in.averaged(s.test, s.variants(method), of)).Est
}

// change is the comparison of a method with the baseline; nil for none.
func (s *sending) change(method string, of result.Taken) *compare.Comparison {
	p := against(s.pairs, sendBy, method, s.text)
	if p == nil {
		return nil
	}
	return s.in.comparison(*p, s.test, of)
}

// processing are the figures of CPU time at both ends: of the end's CPUs by accounting
// and by what a loop of idle priority lacks, and of its own threads, as a share of one
// CPU and for each byte.
var processing = []struct {
	name           string
	share, perByte result.Taken
}{
	{"sender", local(result.CPU), local(result.CPUPerByte)},
	{"sender soak", local(result.CPUSoak), local(result.CPUSoakPerByte)},
	{"sender thread", local(result.CPUThreads), local(result.CPUThreadsPerByte)},
	{"receiver", remote(result.CPU), remote(result.CPUPerByte)},
	{"recv soak", remote(result.CPUSoak), remote(result.CPUSoakPerByte)},
	{"recv thread", remote(result.CPUThreads), remote(result.CPUThreadsPerByte)},
}

// cpuTable has a row a method: what came, and the CPU time of both ends in percent of
// one CPU.
func (s *sending) cpuTable() compare.Section {
	t := compare.Section{Name: s.name("send-cpu"), Title: "goodput, and CPU time in percent of one CPU" + s.at(),
		Columns: []compare.Column{{Name: "goodput", Unit: unit.BitsPerSecond}}}
	for _, p := range processing {
		t.Columns = append(t.Columns, compare.Column{Name: p.name, Percent: true})
	}
	for _, m := range s.methods {
		line := compare.Line{Label: m, Cells: []compare.Datum{number(s.figure(m, remote(result.Goodput)), "no figure")}}
		for _, p := range processing {
			line.Cells = append(line.Cells, number(100*s.figure(m, p.share), "not measured"))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// costOf is the figure of CPU time by which methods are compared: for each byte, since
// what carries more may take more.
func (s *sending) costOf(i int) result.Taken { return processing[i].perByte }

// changeTable has what each method changes of that.
func (s *sending) changeTable() compare.Section {
	t := compare.Section{Name: s.name("send-change"), Title: fmt.Sprintf("change of goodput, and of CPU time for each byte, against %s%s", s.methods[0], s.at()),
		Columns: []compare.Column{{Name: "goodput", Percent: true}}}
	for _, p := range processing {
		t.Columns = append(t.Columns, compare.Column{Name: p.name, Percent: true})
	}
	for _, m := range s.methods[1:] {
		line := compare.Line{Label: m, Cells: []compare.Datum{changed(s.change(m, remote(result.Goodput)))}}
		for i := range processing {
			line.Cells = append(line.Cells, changed(s.change(m, s.costOf(i))))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// passing are the figures of packets and interrupts.
var passing = []struct {
	column compare.Column
	of     result.Taken
}{
	{compare.Column{Name: "packets", Unit: unit.PerSecond}, remote(result.Packets)},
	{compare.Column{Name: "B/packet", Unit: unit.BytesPerPacket}, remote(result.BytesPerPacket)},
	{compare.Column{Name: "irq send", Unit: unit.PerSecond}, local(result.Interrupts)},
	{compare.Column{Name: "irq recv", Unit: unit.PerSecond}, remote(result.Interrupts)},
	{compare.Column{Name: "irq/p send", Unit: unit.PerPacket}, local(result.InterruptsPerPacket)},
	{compare.Column{Name: "irq/p recv", Unit: unit.PerPacket}, remote(result.InterruptsPerPacket)},
	{compare.Column{Name: "copied", Unit: unit.Share}, local(result.ZeroCopied)},
}

// packetTable has what the methods do to packets and interrupts.
func (s *sending) packetTable() compare.Section {
	t := compare.Section{Name: s.name("send-packets"), Title: "packets and interrupts" + s.at(),
		Notes: []string{"copied is the share of sends without copying that the kernel copied all the same."}}
	for _, p := range passing {
		t.Columns = append(t.Columns, p.column)
	}
	for _, m := range s.methods {
		line := compare.Line{Label: m}
		for _, p := range passing {
			why := "not counted"
			if p.of.Name == result.ZeroCopied {
				why = "copies always"
				if isZeroCopy(m) {
					why = "not counted"
				} else if name := spec.BaseLevel(m); name == sendfile || name == "splice" {
					why = "not told"
				}
			}
			line.Cells = append(line.Cells, number(s.figure(m, p.of), why))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// Places of the two ends in the table processing, each with three figures.
const (
	sender   = 0
	receiver = 3
)

// hows are those figures as sentences call them, the sharpest first.
var hows = []struct {
	at   int
	name string
}{{2, "threads' CPU per byte"}, {1, "CPU per byte (soak)"}, {0, "CPU per byte"}}
