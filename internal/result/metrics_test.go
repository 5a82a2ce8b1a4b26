package result

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdelta/internal/hist"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// rtts is a histogram of n round trips of 1 to 100 ns, where each value has a
// bucket of its own, so that its quantiles are exact.
func rtts(n int) *hist.Hist {
	h := hist.New()
	for i := range n {
		h.Record(int64(i*100/n + 1))
	}
	return h
}

func mustTest(t testing.TB, name string) spec.Test {
	t.Helper()
	test, err := spec.NewTest(name, spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return test
}

func TestMetrics(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name  string
		trial Trial
		want  string // metric@end=value unit, in the table's order
		warns string // codes with their metrics
	}{
		{
			name: "udp_rr with loss",
			trial: Trial{Test: mustTest(t, "udp_rr"),
				Local: End{Role: Local, Elapsed: 500 * ms, Messages: 1000, RTT: rtts(1000),
					Counts: map[string]int64{"sent": 1010, "lost": 10}}},
			want: "rtt_p50@local=50 ns, rtt_p99@local=99 ns, rate@local=2000 1/s, loss@local=0.00990099 share, " +
				"rtt_min@local=1 ns, rtt_mean@local=50.5 ns, rtt_p90@local=90 ns, rtt_p999@local=100 ns, rtt_max@local=100 ns",
		},
		{
			name: "tcp_rr has no loss",
			trial: Trial{Test: mustTest(t, "tcp_rr"),
				Local: End{Role: Local, Elapsed: 500 * ms, Messages: 99, RTT: rtts(99)}},
			want: "rtt_p50@local=50 ns, rate@local=198 1/s, rtt_min@local=1 ns, rtt_mean@local=50 ns, " +
				"rtt_p90@local=90 ns, rtt_max@local=99 ns",
			warns: "few-samples:rtt_p99 few-samples:rtt_p999",
		},
		{
			name: "icmp_echo of which nothing came back",
			trial: Trial{Test: mustTest(t, "icmp_echo"),
				Local: End{Role: Local, Elapsed: 500 * ms, Counts: map[string]int64{"sent": 2, "lost": 2}}},
			want: "rate@local=0 1/s, loss@local=1 share",
			warns: "no-samples:rtt_p50 no-samples:rtt_p99 no-samples:rtt_min no-samples:rtt_mean " +
				"no-samples:rtt_p90 no-samples:rtt_p999 no-samples:rtt_max",
		},
		{
			name: "udp_stream, each end by its own clock",
			trial: Trial{Test: mustTest(t, "udp_stream"),
				Local: End{Role: Local, Elapsed: 1000 * ms, Messages: 1000, Bytes: 1024000,
					Counts: map[string]int64{"sent": 1000, "send_errors": 0}},
				Remote: &End{Role: Remote, Elapsed: 500 * ms, Messages: 400, Bytes: 409600,
					Counts: map[string]int64{"unique": 900, "duplicates": 100, "reordered": 50, "total": 1000}}},
			want: "goodput@remote=6.5536e+06 bit/s, packets@remote=800 1/s, loss@remote=0.1 share, " +
				"offered@local=8.192e+06 bit/s, duplicates@remote=0.1 share, reordered@remote=0.05 share",
		},
		{
			name: "udp_stream whose receiver counts more than was sent",
			trial: Trial{Test: mustTest(t, "udp_stream"),
				Local: End{Role: Local, Elapsed: 1000 * ms, Counts: map[string]int64{"sent": 100}},
				Remote: &End{Role: Remote, Elapsed: 1000 * ms,
					Counts: map[string]int64{"unique": 101, "duplicates": 0, "reordered": 0, "total": 101}}},
			want:  "goodput@remote=0 bit/s, packets@remote=0 1/s, offered@local=0 bit/s, duplicates@remote=0 share, reordered@remote=0 share",
			warns: "counts-disagree:loss",
		},
		{
			name: "udp_stream that was lost to the last datagram",
			trial: Trial{Test: mustTest(t, "udp_stream"),
				Local: End{Role: Local, Elapsed: 1000 * ms, Counts: map[string]int64{"sent": 100}},
				Remote: &End{Role: Remote,
					Counts: map[string]int64{"unique": 0, "duplicates": 0, "reordered": 0, "total": 0}}},
			want:  "loss@remote=1 share, offered@local=0 bit/s",
			warns: "no-window:goodput no-window:packets nothing-received:duplicates nothing-received:reordered",
		},
		{
			name: "udp_stream with no remote end",
			trial: Trial{Test: mustTest(t, "udp_stream"),
				Local: End{Role: Local, Elapsed: 1000 * ms, Bytes: 1000, Counts: map[string]int64{"sent": 1}}},
			want:  "offered@local=8000 bit/s",
			warns: "no-remote:goodput no-remote:packets no-remote:loss no-remote:duplicates no-remote:reordered",
		},
		{
			name: "tcp_stream",
			trial: Trial{Test: mustTest(t, "tcp_stream"),
				Local:  End{Role: Local, Elapsed: 500 * ms, Bytes: 1000, Counts: map[string]int64{"retransmits": 3}},
				Remote: &End{Role: Remote, Elapsed: 250 * ms, Bytes: 500}},
			want: "goodput@remote=16000 bit/s, retransmits@local=6 1/s, offered@local=16000 bit/s",
		},
		{
			name: "a counter that is not there is no zero",
			trial: Trial{Test: mustTest(t, "tcp_stream"),
				Local:  End{Role: Local, Elapsed: 500 * ms, Bytes: 1000},
				Remote: &End{Role: Remote, Elapsed: 250 * ms, Bytes: 500}},
			want:  "goodput@remote=16000 bit/s, offered@local=16000 bit/s",
			warns: "not-counted:retransmits",
		},
		{
			name:  "unknown test",
			trial: Trial{Test: spec.Test{Name: "x"}},
			warns: "unknown-test:",
		},
	} {
		metrics, missing := c.trial.Derive()
		checkDerived(t, metrics, missing)
		var got, warns []string
		for _, m := range metrics {
			got = append(got, fmt.Sprintf("%s@%s=%.6g %s", m.Name, m.End, m.Value, m.Unit))
		}
		for _, w := range missing {
			warns = append(warns, w.Code+":"+w.Metric)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, s, c.want)
		}
		if s := strings.Join(warns, " "); s != c.warns {
			t.Errorf("%s: warnings\n got %s\nwant %s", c.name, s, c.warns)
		}
	}
}

// checkDerived holds what is true of every trial's metrics: figures that can
// be believed as numbers, each once, and a reason for each that is missing.
func checkDerived(t interface{ Fatalf(string, ...any) }, metrics []Metric, missing []Warning) {
	var names []string
	for _, m := range metrics {
		if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) || m.Value < 0 {
			t.Fatalf("%s is %v", m.Name, m.Value)
		}
		if m.Unit == unit.Share && m.Value > 1 {
			t.Fatalf("%s is a share of %v", m.Name, m.Value)
		}
		names = append(names, m.Name+" "+m.End)
	}
	for _, w := range missing {
		if w.Code == "" || w.Text == "" {
			t.Fatalf("a warning that says nothing: %+v", w)
		}
		// Of a metric that is taken at both ends the text says which.
		names = append(names, w.Metric+" "+w.End+" "+w.Code+" "+w.Text)
	}
	slices.Sort(names)
	if n := len(slices.Compact(names)); n != len(metrics)+len(missing) {
		t.Fatalf("a metric twice: %v and %v", metrics, missing)
	}
}

func TestEveryMetricIsThereOrMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := trialGen().Draw(t, "trial")
		for _, name := range []string{"sent", "lost", "unique", "total", "duplicates", "reordered", "retransmits"} {
			for _, e := range []*End{&x.Local, x.Remote} {
				if e != nil && rapid.Bool().Draw(t, "has "+name) {
					if e.Counts == nil {
						e.Counts = map[string]int64{}
					}
					e.Counts[name] = rapid.Int64Range(0, 10).Draw(t, name)
				}
			}
		}
		metrics, missing := x.Derive()
		checkDerived(t, metrics, missing)
		told, uncounted := x.Tells()
		if defs := Definitions(x.Test); len(metrics)+len(missing)+len(uncounted) != len(defs) || len(metrics)+len(missing) != len(told) {
			t.Fatalf("%s has %d metrics: %d are there and %d missing, of %d told; %d uncounted", x.Test, len(defs), len(metrics), len(missing), len(told), len(uncounted))
		}
		if all := x.AllWarnings(); len(all) < len(missing) {
			t.Fatalf("%d warnings in all, %d from missing figures", len(all), len(missing))
		}
	})
}

func TestAllWarningsSaysEachThingOnce(t *testing.T) {
	lock := Warning{Code: "mlockall", Text: "mlockall was refused"}
	slow := Warning{Code: "steal", Text: "the hypervisor took CPU time"}
	x := Trial{Test: mustTest(t, "tcp_stream"), Warnings: []Warning{slow},
		Local:  End{Role: Local, Elapsed: time.Second, Warnings: []Warning{lock}},
		Remote: &End{Role: Remote, Elapsed: time.Second, Warnings: []Warning{lock}}}
	var codes []string
	for _, w := range x.AllWarnings() {
		codes = append(codes, w.Code)
	}
	if want := []string{"steal", "mlockall", "not-counted"}; !slices.Equal(codes, want) {
		t.Errorf("got %v, want %v", codes, want)
	}
}

// The table must keep its own rules.
func TestDefinitionsHold(t *testing.T) {
	for _, k := range spec.Kinds() {
		headlines := 0
		seen := map[string]bool{}
		for _, d := range Definitions(spec.Test{Name: k.Name, Params: k.Default}) {
			if seen[d.Name+" "+d.End] {
				t.Errorf("%s has %s of the %s end twice", k.Name, d.Name, d.End)
			}
			seen[d.Name+" "+d.End] = true
			if d.End != Local && d.End != Remote {
				t.Errorf("%s %s is taken at %q", k.Name, d.Name, d.End)
			}
			if !k.HasRemote() && d.End == Remote {
				t.Errorf("%s %s is taken at a remote end, which has no worker", k.Name, d.Name)
			}
			if d.Scale == Percent && d.Unit == unit.Share {
				t.Errorf("%s %s can be zero and is compared in percent", k.Name, d.Name)
			}
			if d.Rank == Headline {
				headlines++
			}
			if got, ok := DefinitionOf(spec.Test{Name: k.Name, Params: k.Default}, d.Name, d.End); !ok || got.End != d.End || got.About != d.About {
				t.Errorf("DefinitionOf(%s, %s) is %+v, %v", k.Name, d.Name, got, ok)
			}
		}
		if headlines != 1 {
			t.Errorf("%s has %d headline metrics, want 1", k.Name, headlines)
		}
	}
	if _, ok := DefinitionOf(spec.Test{Name: "tcp_rr"}, Loss, Local); ok {
		t.Error("TCP round trips have no loss, but DefinitionOf finds it")
	}
}

// No metric of a round trip is taken in the remote end's window, so it does
// not matter that it was cut short; for what a stream's receiver got it does.
func TestShortWindowOfTheRemoteEnd(t *testing.T) {
	short := func(end string) Warning {
		return Warning{Code: "short-window", Text: "the traffic ended early at the " + end + " end"}
	}
	other := Warning{Code: "mlock", Text: "refused"}
	for _, kind := range spec.Kinds() {
		x := Trial{Test: mustTest(t, kind.Name), Local: End{Role: Local, Warnings: []Warning{short(Local)}},
			Remote: &End{Role: Remote, Warnings: []Warning{short(Remote), other}}}
		var ends []string
		others := 0
		for _, w := range x.AllWarnings() {
			switch w {
			case short(Local):
				ends = append(ends, Local)
			case short(Remote):
				ends = append(ends, Remote)
			case other:
				others++
			}
		}
		want := []string{Local, Remote}
		if kind.Pattern == spec.RoundTrip || kind.Pattern == spec.Connect {
			want = want[:1]
		}
		if !slices.Equal(ends, want) || others != 1 {
			t.Errorf("%s: the warning stands for %v, want %v; %d others", kind.Name, ends, want, others)
		}
		if len(x.Remote.Warnings) != 2 {
			t.Errorf("%s: the record itself has lost a warning", kind.Name)
		}
	}
}
