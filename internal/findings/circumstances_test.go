package findings

import (
	"math"
	"strings"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// What is compared with a level that mitigates itself waits longer by the difference.
func TestWaitsAgainstABaselineThatWaits(t *testing.T) {
	m := card(func(int) float64 { return 1 })
	m.factors[0].Levels = []string{"4/20us", "16/50us", "off", "1/90us"}
	in := m.input(t)
	Knee(in)
	for level, want := range map[string]float64{"16/50us": 60_000, "off": -40_000, "1/90us": -40_000} {
		if c := checkOf(t, in, level); !c.Pass || c.Wanted != want {
			t.Errorf("%s: %+v, want %v", level, c, want)
		}
	}
}

// Requests that are under way together wait for one another: nothing is checked.
func TestWaitsOfRequestsThatAreNotAlone(t *testing.T) {
	m := card(func(int) float64 { return 1 })
	m.tests = "udp_rr rate=6000"
	in := m.input(t)
	Knee(in)
	if c := checkOf(t, in, "64/200us"); c.Found != nil || !strings.Contains(c.Text, "every 167 us") {
		t.Errorf("%+v", c)
	}
	if c := checkOf(t, in, "16/50us"); !c.Pass {
		t.Errorf("%+v", c)
	}
	m.tests = "udp_rr burst=16"
	if in = m.input(t); len(in.Report.Checks) != 0 {
		t.Fatalf("%+v", in.Report.Checks)
	}
	if Knee(in); len(in.Report.Checks) != 0 {
		t.Errorf("%+v", in.Report.Checks)
	}
}

// A delay is not looked for in requests that wait for one another.
func TestDelayOfRequestsThatAreNotAlone(t *testing.T) {
	m := trueWire()
	m.tests = "udp_rr burst=8"
	in := m.input(t)
	Truth(in)
	if c := checkOf(t, in, "delay-10us"); c.Found != nil || c.Pass || !strings.Contains(c.Text, "no test that would show it") {
		t.Errorf("%+v", c)
	}
}

// What was reported is that sendfile costs less than read+write, and of no other pair
// is it said to be so.
func TestWhatWasReported(t *testing.T) {
	for _, c := range []struct {
		levels   []string
		want     string
		reported bool
	}{
		{[]string{"read+write", "sendfile"}, "sendfile against read+write: ", true},
		{[]string{"read+write-again", "sendfile-again"}, "sendfile-again against read+write-again: ", true},
		{[]string{"read+write", "zerocopy"}, "zerocopy against read+write: ", false},
		{[]string{"read+write", "zerocopy", "splice"}, "zerocopy against read+write: ", false},
		{[]string{"sendfile", "read+write"}, "read+write against sendfile: ", false},
		{[]string{"sendfile", "read+write", "zerocopy"}, "read+write against sendfile: ", false},
	} {
		m := zeroCopyPatch()
		m.factors = []spec.Factor{{Name: sendBy, Levels: c.levels}}
		m.fill = func(x *made, noise float64) {
			x.stream(94e6 * (1 + noise/10))
			share := postedSend[spec.BaseLevel(x.Variant[sendBy])][0]
			if share == 0 {
				share = 20
			}
			busy(&x.Local, share/100*(1+noise), true)
		}
		in := m.input(t)
		SendPath(in)
		says(t, in, c.want, "er for the sender")
		all := strings.Join(in.Report.Findings, "\n")
		if strings.Contains(all, "reported") != c.reported {
			t.Errorf("%v: reported %v, and the findings are\n%s", c.levels, c.reported, all)
		}
		for _, l := range c.levels {
			if strings.Contains(all, l+" against "+l+":") || strings.Contains(all, l+" against "+l+" ") {
				t.Errorf("%v: one is compared with itself:\n%s", c.levels, all)
			}
		}
	}
}

// A level that is compared with itself is the same method.
func TestZeroCopyAgain(t *testing.T) {
	set := []spec.Setting{{End: spec.EndBoth, Knob: "param.send", Value: "zerocopy"}}
	by := spec.Factor{Name: sendBy, Levels: []string{"zerocopy", "zerocopy-again"}, Settings: map[string][]spec.Setting{"zerocopy": set, "zerocopy-again": set}}
	in := madeUp{factors: []spec.Factor{by}, tests: "tcp_stream", blocks: 6,
		fill: func(x *made, noise float64) {
			x.stream(94e6)
			x.Local.Counts[result.CountZeroCopy], x.Local.Counts[result.CountZeroCopied] = 500, 500
		}}.input(t)
	SendPath(in)
	says(t, in, "zerocopy-again had 100% of its sends copied")
}

// Direct against direct says nothing of what is deferred.
func TestLengthsOfDirectAlone(t *testing.T) {
	m := tunDriver()
	m.factors[0].Levels = []string{direct + spec.Again, direct}
	in := m.input(t)
	Lengths(in)
	if len(in.Report.Findings) > 0 {
		t.Errorf("%q", in.Report.Findings)
	}
}

// Of two protocols each is told by itself.
func TestSmallPacketsByProtocol(t *testing.T) {
	for words, factor := range map[string]float64{"faster for UDP, as reported; no difference that matters for TCP.": 1,
		"faster for UDP, as reported; slower for TCP, the contrary of what was reported.": 1.2} {
		m := tunDriver()
		right := m.fill
		m.fill = func(x *made, noise float64) {
			if right(x, noise); x.Test.Name == "tcp_rr" {
				x.roundTrips(40_000 * (1 + noise))
				if x.Variant[receive] == direct {
					x.roundTrips(40_000 * factor * (1 + noise))
				}
			}
			x.Remote.Counters = nil
		}
		in := m.input(t)
		Lengths(in)
		says(t, in, words)
	}
}

// Where packets were not counted nothing is said of them.
func TestThroughputWithoutPackets(t *testing.T) {
	m := tunDriver()
	right := m.fill
	m.fill = func(x *made, noise float64) { right(x, noise); x.Remote.Counters = nil }
	in := m.input(t)
	Lengths(in)
	says(t, in, "TCP's throughput differs, and packets were not counted: 64 B: goodput -9.9% (worse)")
}

// Of few blocks nothing is sure, whatever their interval.
func TestFewBlocksAreNotSure(t *testing.T) {
	w := contexts(t, map[string]time.Duration{futexOther: 9600 * time.Nanosecond},
		map[string]time.Duration{"softirq": 20 * time.Microsecond, "kthread": 36 * time.Microsecond}, "softirq", "kthread")
	w.plan.Blocks = 2
	w.plan.Beside = nil
	if r := w.look(t, Wake); len(r.Findings) != 1 || strings.Contains(r.Findings[0], "of it") {
		t.Errorf("%q", r.Findings)
	}
	w.plan.Blocks = spec.MinBlocks - 1
	w.plan.Beside = []spec.Test{testOf(t, futexOther)}
	trials := w.trials()
	w.plan.Blocks = spec.MinBlocks
	if r := w.of(t, trials, Wake); len(r.Findings) != 1 || !strings.Contains(r.Findings[0], "not sure") {
		t.Errorf("%q", r.Findings)
	}

	d := driver(t, 3500, ofAWire)
	d.plan.Blocks = spec.MinBlocks - 1
	trials = d.trials()
	d.plan.Blocks = spec.MinBlocks
	if r := d.of(t, trials, Floor); len(r.Findings) != 0 {
		t.Errorf("%q", r.Findings)
	}
}

// A wire that holds frames takes more than its wake-ups.
func TestFloorOfAWireThatDelays(t *testing.T) {
	r := driver(t, 3500, map[string]int64{"wire.a_to_b.frames_in": 1000, "wire.a_to_b.held_frames": 1000, "wire.a_to_b.held_ns": 1e8}).look(t, Floor)
	got := cell(t, section(t, r, "floor"), "handler=filter release=tiger", "without")
	if got.Value != nil || got.Text != "n/a (the wire holds frames for a time of its own)" {
		t.Errorf("%+v", got)
	}
}

func TestApart(t *testing.T) {
	if got := apart(testOf(t, "udp_rr rate=2000")); got != 500_000 {
		t.Error(got)
	}
	if got := apart(testOf(t, "udp_rr")); !math.IsInf(got, 1) {
		t.Error(got)
	}
}

// Where all CPUs are kept awake the tests beside are of CPUs that are.
func TestWakeCostOfCPUsKeptAwake(t *testing.T) {
	rounds := map[string]time.Duration{"softirq": 20 * time.Microsecond, "kthread": 36 * time.Microsecond}
	awake := map[string]time.Duration{"wake by=futex at=other busy=awake": 8 * time.Microsecond, "wake by=futex at=other busy=loaded": 90 * time.Microsecond}
	r := contexts(t, awake, rounds, "softirq", "kthread").look(t, Wake)
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0], "two cost 8.00 us (7.98 to 8.01) by futex on another CPU kept awake, 50% of it") {
		t.Errorf("%q", r.Findings)
	}
}
