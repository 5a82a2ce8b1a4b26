package findings

import (
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// The CPU of the sender in percent that was posted of a patched kernel, by method,
// with checksums by the card and without.
var postedSend = map[string][2]float64{"read+write": {38.1, 39.2}, "sendfile": {18.2, 22.9}, "zerocopy": {30, 30}}

// zeroCopyPatch is that report as a run would have it, on a wire that is held to a
// rate where there is that factor.
func zeroCopyPatch(rates ...string) madeUp {
	by := spec.Factor{Name: sendBy, Levels: []string{"read+write", "sendfile", "zerocopy"}, Settings: map[string][]spec.Setting{}}
	for _, l := range by.Levels {
		by.Settings[l] = []spec.Setting{{End: spec.EndBoth, Knob: "param.send", Value: l}}
	}
	factors := []spec.Factor{by, {Name: transmit, Levels: []string{"csum+sg", "none"}}}
	if len(rates) > 0 {
		factors = append(factors, spec.Factor{Name: lineRate, Levels: rates, Condition: true})
	}
	return madeUp{factors: factors, tests: "tcp_stream", blocks: 8, fill: func(t *made, noise float64) {
		t.stream(94e6 * (1 + noise/10))
		side := 0
		if t.Variant[transmit] == "none" {
			side = 1
		}
		busy(&t.Local, postedSend[t.Variant[sendBy]][side]/100*(1+noise), true)
		busy(t.Remote, 0.2*(1+noise), true)
		reads(t.Remote, result.SourceDevice, map[string]int64{"rx_bytes": 12e6, "rx_packets": 12_000, "tx_packets": 0}, nil)
		t.path(map[string]int64{"wire.a_to_b.frames_in": 12_000, "wire.a_to_b.wakeups": 4500})
		if t.Variant[sendBy] == "zerocopy" {
			t.Local.Counts[result.CountZeroCopy], t.Local.Counts[result.CountZeroCopied] = 500, 500
		}
	}}
}

func TestSendPath(t *testing.T) {
	in := zeroCopyPatch().input(t)
	SendPath(in)
	// On the mean over both: sqrt(18.2 x 22.9 / (38.1 x 39.2)).
	says(t, in, "sendfile against read+write", "sender's CPU per byte (soak) -47%", "receiver's CPU", "cheaper for the sender, as reported")
	says(t, in, "none in place of csum+sg", "+26% ", "of sendfile's", "+2.9% ", "of read+write's", "sendfile harder")
	says(t, in, "zerocopy had 100% of its sends copied all the same")
	s := sectionOf(t, in, "send-tx")
	about(t, cellOf(t, s, "sendfile", "d none"), 25.8, 0.4)
	about(t, cellOf(t, s, "read+write", "d none"), 2.9, 0.4)
	about(t, cellOf(t, sectionOf(t, in, "send-packets"), "sendfile", "irq/p recv"), 0.375, 1e-9)
	about(t, cellOf(t, sectionOf(t, in, "send-packets"), "zerocopy", "copied"), 1, 0)
	about(t, cellOf(t, sectionOf(t, in, "send-change"), "sendfile", "sender soak"), -46.9, 0.5)
	if d := cellOf(t, sectionOf(t, in, "send-change"), "sendfile", "receiver"); d.Verdict != compare.Same {
		t.Errorf("%+v", d)
	}
}

// What the posts left unsaid is what the same arithmetic gives.
func TestSendPathArithmetic(t *testing.T) {
	for _, c := range []struct{ from, to, want float64 }{
		{34.5, 29.6, -14.2}, // sendfile on the plain kernel, said to be 10% cheaper
		{29.6, 18.2, -38.5}, // what the patch makes of it, said to be 40%
		{34.5, 38.1, 10.4},  // what it makes of read+write, unsaid
		{18.2, 22.9, 25.8},  // without checksums, said to be not much
		{38.1, 39.2, 2.9},
	} {
		m := madeUp{factors: []spec.Factor{{Name: sendBy, Levels: []string{"read+write", "sendfile"}}}, tests: "tcp_stream", blocks: 6,
			fill: func(t *made, noise float64) {
				t.stream(94e6)
				v := c.from
				if t.Variant[sendBy] == "sendfile" {
					v = c.to
				}
				busy(&t.Local, v/100*(1+noise/10), true)
			}}
		in := m.input(t)
		SendPath(in)
		about(t, cellOf(t, sectionOf(t, in, "send-change"), "sendfile", "sender"), c.want, 0.15)
		about(t, cellOf(t, sectionOf(t, in, "send-cpu"), "sendfile", "sender"), c.to, 0.1)
		if c.want > 0 {
			says(t, in, "dearer for the sender, the contrary of what was reported")
			says(t, in, "By the counters, sendfile against read+write: no counters that would tell why")
		}
	}
}

// Each rate is told by itself, by the rows that have it for their condition; at one that is held the CPU time is told as it is, and
// at full speed for each byte.
func TestSendPathByRate(t *testing.T) {
	in := zeroCopyPatch("100Mbit/s", "full").input(t)
	in.Report.Comparisons, in.Report.Effects = nil, nil
	for _, rate := range []string{"100Mbit/s", "full"} {
		one := zeroCopyPatch().input(t)
		for _, rows := range [][]compare.Comparison{one.Report.Comparisons, one.Report.Effects} {
			for i := range rows {
				rows[i].Under = lineRate + "=" + rate
			}
		}
		in.Report.Comparisons = append(in.Report.Comparisons, one.Report.Comparisons...)
		in.Report.Effects = append(in.Report.Effects, one.Report.Effects...)
	}
	SendPath(in)
	about(t, cellOf(t, sectionOf(t, in, "send-cpu-100Mbit/s"), "sendfile", "sender soak"), 20.5, 0.3)
	sectionOf(t, in, "send-tx-full")
	says(t, in, "sendfile against read+write at 100Mbit/s", "sender's CPU per byte (soak) -47%")
	says(t, in, "sendfile against read+write at full speed", "sender's CPU per byte (soak) -47%", "cheaper for the sender, as reported")
}

func TestSendPathWithoutCounters(t *testing.T) {
	m := zeroCopyPatch()
	right := m.fill
	m.fill = func(x *made, noise float64) {
		right(x, noise)
		x.Local.Counters, x.Remote.Counters = nil, nil
	}
	in := m.input(t)
	SendPath(in)
	says(t, in, "not known, since CPU time was not compared")
	if d := cellOf(t, sectionOf(t, in, "send-cpu"), "sendfile", "sender"); d.Value != nil {
		t.Errorf("a figure that was not measured: %+v", d)
	}
}
