package result

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"netdelta/internal/spec"
)

// guarded is a trial of one second of a test, as it is written for the command
// line, of which both ends have counters that no guard minds: two CPUs that are
// a little busy, and an interface of 1 Gbit/s.
func guarded(t testing.TB, test string) *Trial {
	t.Helper()
	tests, err := spec.ParseTests(test, nil)
	if err != nil || len(tests) != 1 {
		t.Fatalf("%s: %v", test, err)
	}
	end := func(role string) End {
		e := End{Role: role, Elapsed: time.Second, Messages: 1000, Bytes: 10_000_000, Counts: map[string]int64{}}
		e.Counters = &Counters{CPUs: []int{0, 1}, Device: "eth0"}
		for _, r := range []Reading{
			{Source: SourceCPU, Counts: map[string]int64{"cpu0.user": 100e6, "cpu0.idle": 900e6, "cpu1.idle": 1000e6},
				Levels: map[string]int64{"resolution_ns": 10e6}},
			{Source: SourceIdle, Counts: map[string]int64{"cpu0.idle": 900e6, "cpu1.idle": 1000e6}},
			{Source: SourceThreads, Counts: map[string]int64{"traffic0.run_ns": 100e6}, Levels: map[string]int64{"traffic0.cpu": 0}},
			{Source: SourceSoftnet, Counts: map[string]int64{"processed": 100_000}},
			{Source: SourceDevice, Counts: map[string]int64{"rx_packets": 100_000, "tx_packets": 100_000, "rx_bytes": 10_600_000, "tx_bytes": 10_600_000},
				Levels: map[string]int64{"speed_bps": 1e9, "mtu": 1500, "up": 1, "feature.gro": 1}},
			{Source: SourceQdisc, Counts: map[string]int64{"packets": 100_000}},
			{Source: SourceSNMP, Counts: map[string]int64{"Ip.InReceives": 100_000}},
			{Source: SourceTCPInfo, Counts: map[string]int64{"busy_ns": 1000e6}},
			{Source: SourceFrequency, Levels: map[string]int64{"cpu0.khz": 2_000_000, "cpu1.khz": 2_000_000}},
			{Source: SourceClock},
		} {
			r.Elapsed = time.Second
			for _, m := range []*map[string]int64{&r.Counts, &r.Levels, &r.Was} {
				if *m == nil {
					*m = map[string]int64{}
				}
			}
			e.Counters.Readings = append(e.Counters.Readings, r)
		}
		return e
	}
	x := &Trial{Test: tests[0], Window: time.Second, Local: end(Local)}
	if x.Test.Kind().HasRemote() {
		remote := end(Remote)
		x.Remote = &remote
	}
	return x
}

// of is one of an end's readings, to be changed.
func of(e *End, source string) *Reading { return e.Counters.Reading(source) }

// guardCase is a trial and what its guards say: codes with the beginning of the
// text, or a part of it after "...".
type guardCase struct {
	name string
	test string
	with func(*Trial)
	want []string
}

func checkGuards(t *testing.T, cases []guardCase) {
	t.Helper()
	for _, c := range cases {
		x := guarded(t, c.test)
		c.with(x)
		got := x.guards()
		ok := len(got) == len(c.want)
		for i := 0; ok && i < len(got); i++ {
			code, text, _ := strings.Cut(c.want[i], ": ")
			ok = got[i].Code == code && strings.Contains(got[i].Text, text) && got[i].Advice != ""
		}
		if !ok {
			t.Errorf("%s: got\n%+v\nwant\n%q", c.name, got, c.want)
		}
	}
}

// A trial without anything odd has no warning, whatever the test, and neither
// has one without counters or one that could not be carried out.
func TestGuardsAreSilent(t *testing.T) {
	for _, k := range spec.Kinds() {
		x := guarded(t, k.Name)
		if w := x.guards(); len(w) > 0 {
			t.Errorf("%s: got %+v", k.Name, w)
		}
		x.Local.Counters = nil
		if x.Remote != nil {
			x.Remote.Counters = nil
		}
		if w := x.guards(); len(w) > 0 {
			t.Errorf("%s without counters: got %+v", k.Name, w)
		}
	}
	x := guarded(t, "tcp_stream")
	of(&x.Local, SourceDevice).Counts["carrier_changes"] = 1
	x.Warnings = []Warning{{Code: Unavailable, Text: "no"}}
	if w := x.guards(); w != nil {
		t.Errorf("an unavailable trial: got %+v", w)
	}
	x.Warnings = nil
	if w := x.AllWarnings(); !slices.ContainsFunc(w, func(w Warning) bool { return w.Code == GuardLinkFlap }) {
		t.Errorf("all warnings of the trial lack the guards': %+v", w)
	}
}

// One thing at both ends is one warning with both figures; what is worded
// otherwise is told apart.
func TestGuardsOfBothEnds(t *testing.T) {
	checkGuards(t, []guardCase{
		{"both", "tcp_stream", func(x *Trial) {
			of(&x.Local, SourceDevice).Counts["carrier_changes"] = 2
			of(x.Remote, SourceDevice).Counts["carrier_changes"] = 4
		}, []string{"link-flap: at both ends the interface lost or found its carrier during the trial (changes: 2 and 4)"}},
		{"one each", "tcp_stream", func(x *Trial) {
			of(&x.Local, SourceDevice).Was["feature.gro"] = 0
			of(x.Remote, SourceDevice).Was["mtu"] = 9000
		}, []string{"offload-changed: at the local end the interface's settings changed during the trial: gro",
			"offload-changed: at the remote end the interface's settings changed during the trial: mtu"}},
	})
}

// Every guard has advice, and every code a case that provokes it.
func TestGuardTable(t *testing.T) {
	provoked := map[string]bool{}
	for _, c := range slices.Concat(cpuCases, pathCases, flowCases, speedCases) {
		for _, w := range c.want {
			code, _, _ := strings.Cut(w, ":")
			provoked[code] = true
		}
	}
	codes := map[string]bool{GuardLinkSaturated: true, GuardAboveLineRate: true, GuardRateHeld: true, GuardOneMachine: true}
	for _, g := range guardTable {
		codes[g.code] = true
		if g.advice == "" || strings.HasSuffix(g.advice, ".") {
			t.Errorf("guard %s: advice %q", g.code, g.advice)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if !provoked[code] {
			t.Errorf("guard %s: no case provokes it", code)
		}
	}
}
