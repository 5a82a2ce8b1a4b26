package spec

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const everything = `name: gro-and-threads
question: >
  Does threaded NAPI cost more
  where GRO is off?
hosts: {remote: 192.0.2.2:7117, cpu-local: 0, cpu-remote: "1,2", device-local: eth0.7}
factors:
  gro:     {set: gro@remote, levels: [on, off], baseline: off}
  threads: {set: threaded, levels: [off, on], slow: true}
  buffers:
    levels:
      small: {sysctl.net.ipv4.tcp_rmem: 4096 8192 8192, ring.rx@remote: 256}
      large: {ring.rx@remote: 4096, sysctl.net.ipv4.tcp_rmem: 4096 131072 6291456}
      small-again:
  patch:
    levels:
      old: {command@remote: {apply: ./load old, restore: ./load old, check: ./is old}}
      new: {command@remote: ./load new}
  queue:
    set: eth0.qdisc@local
    levels: {short: fq limit 100, long: fq limit 1000}
tests: [udp_rr size=1, tcp_stream size=1KiB, 2KiB, tcp_rr]
sizes: [1, 1KiB..4KiB*2]
blocks: 30
precision: 2%
limit: 10m
time: 800ms
interval: 100ms
seed: 7
margin: 5%
metrics: [rtt_p50, goodput]
counters: none
soak: true
`

func TestParseDocument(t *testing.T) {
	d, err := ParseDocument([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	sized := func(name string, n int) Test { return Test{Name: name, Params: Params{Size: n}} }
	rmem := func(v string) Setting {
		return Setting{End: EndBoth, Knob: "sysctl.net.ipv4.tcp_rmem", Value: v}
	}
	ring := func(v string) Setting { return Setting{End: EndRemote, Knob: "ring.rx", Value: v} }
	one := func(end, device, knob, value string) []Setting {
		return []Setting{{End: end, Device: device, Knob: knob, Value: value}}
	}
	small := []Setting{rmem("4096 8192 8192"), ring("256")}
	want := Document{
		Hosts:     &Hosts{Remote: "192.0.2.2:7117", CPULocal: "0", CPURemote: "1,2", DeviceLocal: "eth0.7"},
		SeedGiven: true,
		Plan: Plan{
			Experiment: "gro-and-threads", Question: "Does threaded NAPI cost more where GRO is off?",
			Factors: []Factor{
				{Name: "gro", Levels: []string{"on", "off"}, Settings: map[string][]Setting{
					"on": one(EndRemote, "", "gro", "on"), "off": one(EndRemote, "", "gro", "off")}},
				{Name: "threads", Levels: []string{"off", "on"}, Slow: true, Settings: map[string][]Setting{
					"on": one(EndBoth, "", "threaded", "on"), "off": one(EndBoth, "", "threaded", "off")}},
				{Name: "buffers", Levels: []string{"small", "large", "small-again"}, Settings: map[string][]Setting{
					"small": small, "small-again": small, "large": {ring("4096"), rmem("4096 131072 6291456")}}},
				{Name: "patch", Levels: []string{"old", "new"}, Settings: map[string][]Setting{
					"old": {{End: EndRemote, Knob: "command", Value: "old", Command: &Command{"./load old", "./load old", "./is old"}}},
					"new": {{End: EndRemote, Knob: "command", Value: "new", Command: &Command{Apply: "./load new"}}}}},
				{Name: "queue", Levels: []string{"short", "long"}, Settings: map[string][]Setting{
					"short": one(EndLocal, "eth0", "qdisc", "fq limit 100"), "long": one(EndLocal, "eth0", "qdisc", "fq limit 1000")}},
			},
			Baseline: Variant{"gro": "off", "threads": "off", "buffers": "small", "patch": "old", "queue": "short"},
			Tests: []Test{sized("udp_rr", 1), sized("tcp_stream", 1024), sized("tcp_stream", 2048),
				sized("tcp_rr", 1), sized("tcp_rr", 1024), sized("tcp_rr", 2048), sized("tcp_rr", 4096)},
			Blocks: 30, Precision: 0.02, Limit: 10 * time.Minute, Metrics: []string{"rtt_p50", "goodput"},
			Window: 800 * time.Millisecond, Warmup: 200 * time.Millisecond, Interval: 100 * time.Millisecond,
			Counters: []string{"none"}, Soak: true, Seed: 7, Margin: 0.05,
		},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestDocumentDefaults(t *testing.T) {
	const factors = "factors: {gro: {set: gro, levels: [on, off]}}\n"
	d, err := ParseDocument([]byte("\ufeff" + factors))
	if err != nil {
		t.Fatal(err)
	}
	p := d.Plan
	if d.SeedGiven || d.Hosts != nil || d.Lab != nil || p.Experiment != "plan" || p.Blocks != 24 || p.Margin != 0.02 ||
		p.Window != 500*time.Millisecond || p.Warmup != 125*time.Millisecond || len(p.Tests) != len(UsualTests()) || p.Baseline["gro"] != "on" {
		t.Errorf("got %+v", d)
	}
	d, err = ParseDocument([]byte(strings.ReplaceAll(factors+"lab: {link: veth, mtu: 9000, cpu-wire: auto}\n", "\n", "\r\n")))
	if err != nil || d.Plan.Window != 200*time.Millisecond || d.Lab.Link != "veth" || d.Lab.MTU != 9000 || d.Lab.CPUWire != "auto" {
		t.Errorf("lab: got %+v, %v", d, err)
	}
	d, err = ParseDocument([]byte(factors + "time: 10s\nwarmup: 0s\n"))
	if err != nil || d.Plan.Warmup != 0 {
		t.Errorf("no warm-up: got %v, %v", d.Plan.Warmup, err)
	}
}

// Whatever a version of YAML takes words for, a level is called what is written.
func TestLevelsAreTheirText(t *testing.T) {
	d, err := ParseDocument([]byte("factors: {x: {set: sysctl.net.core.x, levels: [on, yes, true, True, null, ~, 1_000, 0x1F, 1e3, 010, '1.0', \"off\", .inf, -on-]}}"))
	if err == nil || !strings.Contains(err.Error(), "not nothing") {
		t.Errorf("null as a level: got %v", err)
	}
	d, err = ParseDocument([]byte("factors: {x: {set: sysctl.net.core.x, levels: [on, yes, true, True, 1_000, 0x1F, 1e3, 010, '1.0', \"off\", .inf, -on-]}}"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"on", "yes", "true", "True", "1_000", "0x1F", "1e3", "010", "1.0", "off", ".inf", "-on-"}
	if diff := cmp.Diff(want, d.Plan.Factors[0].Levels); diff != "" {
		t.Error(diff)
	}
}

// examples are the plans in the documentation.
func examples(t *testing.T) map[string]string {
	text, err := os.ReadFile("../../docs/plans.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{"everything": everything}
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		found[strings.SplitN(m[1], "\n", 2)[0]] = m[1]
	}
	if len(found) < 4 {
		t.Fatalf("only %d examples found", len(found))
	}
	return found
}

func TestExamplesParse(t *testing.T) {
	for name, text := range examples(t) {
		if _, err := ParseDocument([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlanSchema(t *testing.T) {
	raw, err := jsonschema.UnmarshalJSON(strings.NewReader(string(PlanSchema())))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.json", raw); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		doc, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		v, err = jsonschema.UnmarshalJSON(strings.NewReader(string(doc)))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	for name, text := range examples(t) {
		if err := validate(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, k := range Knobs() {
		if !strings.Contains(string(PlanSchema()), k.Written()) {
			t.Errorf("knob %s is not in the schema", k.Name)
		}
	}
	for _, text := range []string{
		"name: x",
		"factors: {}",
		"factors: {gro: {levels: [on, off]}}",
		"factors: {gro: {set: grow, levels: [on, off]}}",
		"factors: {gro: {set: gro@here, levels: [on, off]}}",
		"factors: {gro: {set: gro, levels: [on]}}",
		"factors: {gro: {set: gro, levels: [on], condition: false}}",
		"factors: {gro: {set: gro, levels: [on, off], condition: perhaps}}",
		"factors: {gro: {set: coalesce, levels: [a, b]}}",
		"factors: {gro: {set: gro, level: [on, off]}}",
		"factors: {gro: {levels: {a: {grow: on}, b: {grow: off}}}}",
		"factors: {gro: {set: gro, levels: [on, off]}}\nblocks: many",
		"factors: {gro: {set: gro, levels: [on, off]}}\nblock: 7",
		"factors: {gro: {set: gro, levels: [on, off]}}\ntime: 500",
		"factors: {gro: {set: gro, levels: [on, off]}}\nmargin: 0.02",
		"factors: {gro: {set: gro, levels: [on, off]}}\ntests: [udp_r]",
		"factors: {gro: {set: gro, levels: [on, off]}}\nlab: {link: wire}",
		"factors: {gro: {set: gro, levels: [on, off]}}\nlab: {}\nhosts: {remote: x}",
	} {
		if validate(text) == nil {
			t.Errorf("the schema accepts %q", text)
		}
		if _, err := ParseDocument([]byte(text)); err == nil {
			t.Errorf("the program accepts %q", text)
		}
	}
}
