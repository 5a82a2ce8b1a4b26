package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/hist"
	"netdelta/internal/spec"
)

var equal = cmp.Options{cmp.Comparer((*hist.Hist).Equal), cmp.Comparer(time.Time.Equal)}

func drawCounts(t *rapid.T, label string) map[string]int64 {
	names := rapid.StringMatching(`[a-z_]{1,12}`)
	m := rapid.MapOfN(names, rapid.Int64Min(0), 0, 6).Draw(t, label)
	if len(m) == 0 {
		return nil // an empty map is not written
	}
	return m
}

func warnings(t *rapid.T, label string) []Warning {
	var ws []Warning
	for range rapid.IntRange(0, 2).Draw(t, label) {
		ws = append(ws, Warning{Code: "code", Text: rapid.String().Draw(t, "text"), Advice: "do so", Metric: Rate})
	}
	return ws
}

func endOf(t *rapid.T, role string) End {
	e := End{
		Role:     role,
		Elapsed:  time.Duration(rapid.Int64Min(0).Draw(t, "elapsed")),
		Messages: rapid.Int64Min(0).Draw(t, "messages"),
		Bytes:    rapid.Int64Min(0).Draw(t, "bytes"),
		Counts:   drawCounts(t, "counts"),
		Warnings: warnings(t, "warnings of an end"),
	}
	if rapid.Bool().Draw(t, "has round trips") {
		e.RTT = hist.New()
		for _, ns := range rapid.SliceOfN(rapid.Int64Range(1, 1e11), 0, 50).Draw(t, "rtt") {
			e.RTT.Record(ns)
		}
	}
	e.Intervals = intervals(t)
	if rapid.Bool().Draw(t, "has counters") {
		e.Counters = anyCounters(t)
	}
	return e
}

func trialGen() *rapid.Generator[Trial] {
	return rapid.Custom(func(t *rapid.T) Trial {
		kind := rapid.SampledFrom(spec.Kinds()).Draw(t, "kind")
		test, err := spec.NewTest(kind.Name, spec.Params{Size: rapid.IntRange(0, min(kind.MaxSize, spec.MaxDatagram)).Draw(t, "size")})
		if err != nil {
			t.Fatal(err)
		}
		x := Trial{
			Schema:   Schema,
			Block:    rapid.IntRange(0, 1e6).Draw(t, "block"),
			Order:    rapid.IntRange(0, 1e6).Draw(t, "order"),
			Attempt:  rapid.IntRange(0, 3).Draw(t, "attempt"),
			Variant:  spec.Variant{"rx": rapid.StringMatching(`[a-z]{1,9}`).Draw(t, "level")},
			Test:     test,
			Start:    time.Unix(0, rapid.Int64Range(0, 4e18).Draw(t, "start")).UTC(),
			Warmup:   time.Duration(rapid.Int64Range(0, int64(spec.MaxWindow)).Draw(t, "warm-up")),
			Window:   time.Duration(rapid.Int64Range(0, int64(spec.MaxWindow)).Draw(t, "window")),
			Local:    endOf(t, Local),
			Path:     Path{Counts: drawCounts(t, "path")},
			Warnings: warnings(t, "warnings"),
		}
		if rapid.Bool().Draw(t, "has remote") {
			r := endOf(t, Remote)
			x.Remote = &r
		}
		if rapid.Bool().Draw(t, "has a wire") {
			x.Path.Counts = map[string]int64{}
			for _, name := range []string{"a.tx_packets", "a.tx_dropped", "wire.a_to_b.frames_in", "wire.a_to_b.wakeups", "wire.a_to_b.drop_other", "b.rx_dropped"} {
				x.Path.Counts[name] = rapid.Int64Range(0, 50).Draw(t, name)
			}
		}
		return x
	})
}

func TestTrialIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := trialGen().Draw(t, "trial")
		data, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(data, "\r\n") {
			t.Fatalf("more than a line: %q", data)
		}
		got, err := Decode(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if d := cmp.Diff(want, got, equal); d != "" {
			t.Fatalf("read back with a difference (-written +read):\n%s", d)
		}
		again, err := Encode(got)
		if err != nil || !bytes.Equal(data, again) {
			t.Fatalf("written again it differs (%v):\n%s\n%s", err, data, again)
		}
	})
}

// sample is one small valid record.
func sample(t testing.TB) Trial {
	t.Helper()
	test, err := spec.NewTest("udp_rr", spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	rtt := hist.New()
	rtt.Record(20_000)
	rtt.Record(40_000)
	return Trial{
		Variant: spec.Variant{"rx": "softirq"},
		Test:    test,
		Start:   time.Date(2001, 10, 1, 12, 0, 0, 0, time.UTC),
		Local: End{Role: Local, Elapsed: 200 * time.Millisecond, Messages: 2, Bytes: 4, RTT: rtt,
			Counts: map[string]int64{"sent": 3, "lost": 1}},
		Remote: &End{Role: Remote, Elapsed: 200 * time.Millisecond, Messages: 2, Bytes: 2},
	}
}

func TestEncodeRefusesWhatDecodeWould(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func(*Trial)
		wantErr string
	}{
		{"negative block", func(x *Trial) { x.Block = -1 }, "block -1 is negative"},
		{"negative order", func(x *Trial) { x.Order = -1 }, "order -1"},
		{"negative attempt", func(x *Trial) { x.Attempt = -1 }, "attempt -1"},
		{"unknown test", func(x *Trial) { x.Test.Name = "x" }, `unknown test "x"`},
		{"test without defaults", func(x *Trial) { x.Test.Params = spec.Params{} }, "lacks its defaults"},
		{"bad size", func(x *Trial) { x.Test.Params.Size = 1 << 20 }, "out of range"},
		{"roles", func(x *Trial) { x.Local.Role = Remote }, `role "remote" where the local end`},
		{"no role", func(x *Trial) { x.Remote.Role = "" }, `role "" where the remote end`},
		{"negative window", func(x *Trial) { x.Local.Elapsed = -1 }, "window of -1ns is negative"},
		{"negative messages", func(x *Trial) { x.Remote.Messages = -1 }, "remote end: -1 messages"},
		{"negative bytes", func(x *Trial) { x.Remote.Bytes = -1 }, "can't be"},
		{"negative count", func(x *Trial) { x.Local.Counts["lost"] = -1 }, `local end: count "lost" is -1`},
		{"negative path count", func(x *Trial) { x.Path.Counts = map[string]int64{"drops": -1} }, `path: count "drops"`},
		{"negative warm-up", func(x *Trial) { x.Warmup = -1 }, "warm-up of -1ns"},
		{"negative time of a reading", func(x *Trial) {
			x.Local.Counters = &Counters{Readings: []Reading{{Source: SourceCPU, Elapsed: -1}}}
		}, "local end: counters of the window: source \"cpu\": a time of -1ns"},
		{"negative count of a host", func(x *Trial) {
			x.Remote.Counters = &Counters{Whole: []Reading{{Source: SourceQdisc, Counts: map[string]int64{"drops": -1}}}}
		}, `remote end: counters of the trial: source "qdisc": count "drops" is -1`},
		{"reading of nothing", func(x *Trial) { x.Local.Counters = &Counters{Baseline: []Reading{{}}} }, "without a source"},
		{"negative CPU", func(x *Trial) { x.Local.Counters = &Counters{CPUs: []int{-1}} }, "CPU -1"},
		{"window of years", func(x *Trial) { x.Window = 1 << 60 }, "can't be"},
		{"year", func(x *Trial) { x.Start = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "year 10000"},
	} {
		x := sample(t)
		c.spoil(&x)
		data, err := Encode(x)
		if err == nil || !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %s, %v; want an error with %q", c.name, data, err, c.wantErr)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	good, err := Encode(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, new string) string {
		if !strings.Contains(string(good), old) {
			t.Fatalf("the record has no %q: %s", old, good)
		}
		return strings.Replace(string(good), old, new, 1)
	}
	for _, c := range []struct{ name, data, wantErr string }{
		{"empty", "", "unexpected end"},
		{"no JSON", "RTT 5", "invalid character"},
		{"null", "null", "no schema named"},
		{"array", "[]", "cannot unmarshal array"},
		{"no schema", replace(`"schema":"netdelta.trial/2",`, ""), "no schema named: netdelta.trial/2 is needed"},
		{"newer", replace("trial/2", "trial/3"), "its schema is netdelta.trial/3 and this program reads netdelta.trial/2: use a newer"},
		{"newer and different", `{"schema":"netdelta.trial/3","all":"new"}`, "netdelta.trial/3"},
		{"older", replace("trial/2", "trial/0"), "reads only netdelta.trial/1 and netdelta.trial/2"},
		{"a report", replace("netdelta.trial/2", "netdelta.report/1"), `"netdelta.report/1" is no trial's schema`},
		{"long schema", replace("netdelta.trial/2", strings.Repeat("x", 1000)), `..." is no trial's schema`},
		{"unknown field", replace(`"block"`, `"blocc"`), `unknown field "blocc"`},
		{"two objects", string(good) + string(good), "after top-level value"},
		{"text after it", string(good) + " x", "after top-level value"},
		{"unknown test", replace("udp_rr", "udp_xx"), `unknown test "udp_xx"`},
		{"negative window", replace(`"elapsed_ns":2`, `"elapsed_ns":-2`), "is negative"},
		{"not a number", replace(`"messages":2`, `"messages":NaN`), "invalid character"},
		{"fraction", replace(`"messages":2`, `"messages":2.5`), "cannot unmarshal"},
		{"spoiled histogram", replace(`"rtt":"`, `"rtt":"!`), "latency histogram"},
		{"histogram of another version", replace(`"rtt":"A`, `"rtt":"B`), "latency histogram"},
		{"start", replace("2001-10-01T12", "2001-13-01T12"), "parsing time"},
	} {
		got, err := Decode([]byte(c.data))
		if err == nil || !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %+v, %v; want an error with %q", c.name, got, err, c.wantErr)
		} else if len(err.Error()) > 300 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is too long: %v", c.name, err)
		}
	}
}

// The JSON names are what other programs read: a renamed field is a new
// schema.
func TestFieldNames(t *testing.T) {
	x := sample(t)
	x.Warnings = []Warning{{Code: "c", Text: "t", Advice: "a", Metric: "m"}}
	x.Path.Counts = map[string]int64{"frames": 1}
	data, err := Encode(x)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"schema", "block", "order", "attempt", "variant.rx", "test.test", "test.params.size", "start",
		"local.role", "local.elapsed_ns", "local.messages", "local.bytes", "local.counts.sent", "local.rtt",
		"remote.role", "path.counts.frames",
	} {
		var at any = fields
		for _, name := range strings.Split(path, ".") {
			m, _ := at.(map[string]any)
			at = m[name]
		}
		if at == nil {
			t.Errorf("%s is not in %s", path, data)
		}
	}
	if w := fmt.Sprint(fields["warnings"]); w != "[map[advice:a code:c metric:m text:t]]" {
		t.Errorf("warnings are %s", w)
	}
}

func FuzzDecode(f *testing.F) {
	good, err := Encode(sample(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	x := sample(f)
	x.Test.Name = "udp_stream"
	x.Remote.Counters = &Counters{CPUs: []int{1}, Device: "eth0", OneMachine: true,
		Readings: []Reading{{Source: SourceCPU, Elapsed: 1, Counts: map[string]int64{"cpu1.user": 1 << 62}, Levels: map[string]int64{"resolution_ns": 1}}},
		Whole:    []Reading{{Source: SourceDevice, Elapsed: 1, Counts: map[string]int64{"rx_missed": 5}, Was: map[string]int64{"mtu": 1500}}},
		Baseline: []Reading{{Source: SourceIdle, Elapsed: 1}}, Missing: []Fact{{Name: SourceDriver, Value: "no"}}}
	counting, err := Encode(x)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(counting)
	f.Add([]byte(`{"schema":"netdelta.trial/2"}`))
	f.Add([]byte(`{"schema":"netdelta.trial/1","test":{"test":"icmp_echo","params":{"size":56}},"local":{"role":"local"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := Decode(data)
		if err != nil {
			return
		}
		if err := x.Validate(); err != nil {
			t.Fatalf("accepted, yet not valid: %v", err)
		}
		// No record that is accepted may break what is made of it.
		metrics, missing := x.Derive()
		checkDerived(t, metrics, missing)
		x.AllWarnings()
		again, err := Encode(x)
		if err != nil {
			t.Fatalf("can't be written again: %v", err)
		}
		y, err := Decode(again)
		if err != nil {
			t.Fatalf("can't be read again: %v", err)
		}
		if d := cmp.Diff(x, y, equal, cmp.Comparer(sameCounts), cmp.Comparer(sameWarnings)); d != "" {
			t.Fatalf("read again with a difference:\n%s", d)
		}
	})
}

// An empty list or map is left out of the form, so it comes back as nil.
func sameCounts(a, b map[string]int64) bool {
	return len(a) == 0 && len(b) == 0 || cmp.Equal(a, b)
}

func sameWarnings(a, b []Warning) bool {
	return len(a) == 0 && len(b) == 0 || cmp.Equal(a, b)
}
