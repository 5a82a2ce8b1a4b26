package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
	"netdelta/internal/unit"
)

// costRows are a stream's costs at both ends, by accounting and by an idle loop.
func costRows() []compare.Comparison {
	num := func(v float64) *float64 { return &v }
	var rows []compare.Comparison
	for _, metric := range []string{result.CPUPerByte, result.CPUSoakPerByte} {
		for _, end := range []string{result.Local, result.Remote} {
			rows = append(rows, compare.Comparison{Test: "tcp_stream", Params: spec.Params{Size: 131072}, Metric: metric, End: end, Unit: unit.SecondsPerByte,
				Baseline: "write", Variant: "sendfile", Scale: compare.Percent, N: 6,
				A: compare.Summary{Median: num(1e-9)}, B: compare.Summary{Median: num(2.5e-10)}, DeltaPct: num(-75)})
		}
	}
	return rows
}

// Costs of both ends are told apart by the end, since they go in no direction.
func TestCostsAreNamedByEnd(t *testing.T) {
	rows := costRows()
	var got []string
	for i := range rows {
		got = append(got, label(&rows[i], rows))
	}
	want := []string{"cpu local", "cpu remote", "cpu_soak local", "cpu_soak remote"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := label(&rows[0], rows[:1]); got != "cpu" {
		t.Errorf("with one end: %q", got)
	}
	for _, c := range []struct{ metric, end, want string }{
		{result.BytesPerPacket, result.Remote, "bytes_per_packet ->"}, {result.BytesPerPacket, result.Local, "bytes_per_packet <-"},
		{result.Retransmits, result.Local, "retransmits ->"}, {result.Offered, result.Remote, "offered <-"}, {result.Goodput, result.Local, "goodput <-"},
	} {
		one, other := compare.Comparison{Test: "tcp_bidir", Metric: c.metric, End: c.end}, compare.Comparison{Test: "tcp_bidir", Metric: c.metric, End: result.Local}
		if c.end == result.Local {
			other.End = result.Remote
		}
		if got := label(&one, []compare.Comparison{one, other}); got != c.want {
			t.Errorf("%s %s is %q, want %q", c.metric, c.end, got, c.want)
		}
	}
}

// So are warnings about one of them.
func TestWarningsOfCostsNameTheEnd(t *testing.T) {
	rows := costRows()
	rows[1].Warnings = []result.Warning{{Code: "zero-figure", Metric: result.CPUPerByte, Text: "1 of 12 trials measured 0"}}
	r := compare.Report{Comparisons: rows}
	want := []string{"Warnings", "! tcp_stream cpu_per_byte remote: 1 of 12 trials measured 0."}
	if d := cmp.Diff(want, lay(warnings(&r))); d != "" {
		t.Error(d)
	}
}

// Where there is no room for a label, what tells it from others stays.
func TestLabelsAreCutBeforeTheirEnd(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"! cpu_soak_per_byte remote", 18, "! cpu_soak~ remote"}, {"  cpu_per_byte local", 18, "  cpu_per_b~ local"},
		{"  cpu_per_byte local", 20, "  cpu_per_byte local"}, {"  load_goodput ->", 12, "  load_g~ ->"}, {"  a remote", 7, "  a remote"}, {"  rtt_p50", 4, "  rtt_p50"},
	} {
		if got := clipLabel(c.text, c.width); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// A cost for each byte is told as netperf has it, too.
func TestServiceDemand(t *testing.T) {
	const want = "Service demand as netperf writes it, us/KB (KB = 1024 bytes): " +
		"tcp_stream local write 1.02, sendfile 0.256; tcp_stream remote write 1.02, sendfile 0.256."
	if got := serviceDemand(costRows()); got != want {
		t.Errorf("got %q", got)
	}
	if got := serviceDemand(costRows()[2:]); got != "" {
		t.Errorf("of an idle loop alone: %q", got)
	}
	r := compare.Report{Comparisons: costRows(), Factors: []spec.Factor{{Name: "send", Levels: []string{"write", "sendfile"}}}, Blocks: 6, Planned: 6, MarginPct: 2}
	flat := strings.Join(strings.Fields(render(t, r)), " ")
	for _, part := range []string{want, "cpu local", "cpu_soak remote", "ns/B"} {
		if !strings.Contains(flat, part) {
			t.Errorf("%q is not on the page:\n%s", part, render(t, r))
		}
	}
	v := 1e-9
	run := summary.Report{Figures: []summary.Figure{{Test: "tcp_stream", Under: "rx=napi", Metric: result.CPUPerByte, End: result.Remote, Unit: unit.SecondsPerByte, N: 1, Of: 1, Median: &v}}}
	if got := runDemand(&run); !strings.HasSuffix(got, ": tcp_stream (rx=napi) remote 1.02.") {
		t.Errorf("of a run: %q", got)
	}
	if got := runDemand(&summary.Report{}); got != "" {
		t.Errorf("of no run: %q", got)
	}
}

// Between two hosts a loss names the host and what counted it.
func TestLossesAtHosts(t *testing.T) {
	for _, c := range []struct{ end, name, want string }{
		{result.Local, "qdisc.drops", "in the sender's queueing discipline (drops)"},
		{result.Local, "device.tx_dropped", "at the sender's interface (tx_dropped)"},
		{result.Remote, "device.rx_missed", "at the receiver's interface (rx_missed)"},
		{result.Remote, "softnet.dropped", "in the receiver's backlog (softnet dropped)"},
		{result.Remote, "snmp.Ip.InDiscards", "by the receiver's network stack (Ip.InDiscards)"},
		{result.Remote, "socket_drops", "at the receiver's socket"},
		{compare.PathEnd, "a.tx_dropped", "at a's interface (tx_dropped)"},
		{compare.PathEnd, "wire.a_to_b.drop_ring_full", "in the wire (drop_ring_full)"},
	} {
		p := compare.Place{End: c.end, Name: c.name, Share: 0.1}
		if got := placeText(p, false); got != c.want {
			t.Errorf("%s %s is %q, want %q", c.end, c.name, got, c.want)
		}
		if got := namesHost(compare.Loss{Places: []compare.Place{p}}); got != (c.name == "a.tx_dropped") {
			t.Errorf("%s %s names a host of a lab: %v", c.end, c.name, got)
		}
	}
	rr := compare.Loss{Test: "udp_rr", Lost: 0.5, Places: []compare.Place{{End: result.Local, Name: "qdisc.drops", Share: 0.1},
		{End: compare.PathEnd, Name: "wire.b_to_a.drop_ring_full", Share: 0.2}, {End: result.Local, Name: "socket_drops", Share: 0.2}}}
	if got, want := lossText(&rr), "lost 50%: 10% in the local end's queueing discipline (drops), 20% in the wire back (drop_ring_full), 20% at the local end's socket"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	parts := compare.Loss{Lost: 0.5, Frames: true, Places: []compare.Place{{End: result.Local, Name: "qdisc.drops", Share: 0.1}, {End: result.Remote, Name: "socket_drops", Share: 0.2}}}
	if got, want := lossText(&parts), "lost 50%: 10%, counted in packets, in the sender's queueing discipline (drops), 20% at the receiver's socket"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
