package spec

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// setting is what a level of factor f sets in these tests.
func setting(knob, value string) []Setting {
	return []Setting{{End: EndBoth, Knob: knob, Value: value}}
}

// withSettings is a valid plan whose factors set things, for a test to spoil.
func withSettings() Plan {
	p := plan()
	p.Factors = []Factor{
		{Name: "gro", Levels: []string{"on", "off"}, Settings: map[string][]Setting{"on": setting("gro", "on"), "off": setting("gro", "off")}},
		{Name: "size", Levels: []string{"1", "64"}, Settings: map[string][]Setting{"1": setting("param.size", "1"), "64": setting("param.size", "64")}},
	}
	p.Baseline = Variant{"gro": "on", "size": "1"}
	return p
}

func TestValidateSettings(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func(*Plan)
		wantErr string // "" for a plan that is still valid
	}{
		{"as it is", func(*Plan) {}, ""},
		{"both ends one by one", func(p *Plan) {
			p.Factors[0].Settings["on"] = []Setting{{End: EndRemote, Knob: "gro", Value: "on"}, {End: EndLocal, Knob: "gro", Value: "on"}}
		}, ""},
		{"slow", func(p *Plan) { p.Factors[0].Slow = true }, ""},
		{"chosen", func(p *Plan) { p.Chosen = []Variant{{"gro": "on", "size": "1"}, {"gro": "off", "size": "64"}} }, ""},
		{"precision", func(p *Plan) { p.Precision, p.Limit, p.Metrics = 0.01, time.Minute, []string{"rtt_p50"} }, ""},
		{"unknown knob", func(p *Plan) { p.Factors[0].Settings["on"][0].Knob = "grow" }, `factor gro: level on: unknown knob "grow"`},
		{"bad value", func(p *Plan) { p.Factors[0].Settings["on"][0].Value = "1" }, `factor gro: level on: knob gro: "1" is none`},
		{"no end", func(p *Plan) { p.Factors[0].Settings["on"][0].End = "" }, "valid are local, remote, both"},
		{"a level without settings", func(p *Plan) { delete(p.Factors[0].Settings, "off") }, "level off does not say what gro@local is, which level on sets"},
		{"a level with more", func(p *Plan) {
			p.Factors[0].Settings["off"] = append(setting("tso", "on"), p.Factors[0].Settings["off"]...)
		}, "level on does not say what tso@local is, which level off sets"},
		{"at one end only", func(p *Plan) { p.Factors[0].Settings["off"][0].End = EndLocal }, "level off does not say what gro@remote is"},
		{"another device", func(p *Plan) { p.Factors[0].Settings["off"][0].Device = "eth0" }, "does not say what gro@local is"},
		{"settings of no level", func(p *Plan) { p.Factors[0].Settings["of"] = setting("gro", "on") }, `settings of "of", which is no level`},
		{"one thing twice", func(p *Plan) {
			p.Factors[0].Settings["on"] = append(setting("gro", "on"), Setting{End: EndLocal, Knob: "gro", Value: "off"})
		}, "level on sets gro@local twice"},
		{"nothing", func(p *Plan) { p.Factors[0].Settings = map[string][]Setting{"on": nil, "off": nil} }, "its levels set nothing"},
		{"two factors, one thing", func(p *Plan) {
			p.Factors[1].Settings = map[string][]Setting{"1": setting("gro", "on"), "64": setting("gro", "off")}
		}, "factors gro and size both set gro@local"},
		{"command of another knob", func(p *Plan) { p.Factors[0].Settings["on"][0].Command = &Command{Apply: "true"} }, "takes no command"},
		{"a parameter of no test", func(p *Plan) {
			p.Factors[1].Settings = map[string][]Setting{"1": setting("param.by", "futex"), "64": setting("param.by", "pipe")}
		}, "factor size: no test of the plan takes by"},
		{"a parameter that a test can't have", func(p *Plan) {
			p.Factors[1].Settings = map[string][]Setting{"1": setting("param.send", "gso"), "64": setting("param.send", "write")}
		}, `send "gso" is none`},
		{"parameters that do not go together", func(p *Plan) {
			p.Factors[1].Settings = map[string][]Setting{"1": setting("param.threads", "4"), "64": setting("param.threads", "1")}
		}, "4 threads have nothing to do with 1 flows"},
		{"two tests become one", func(p *Plan) {
			p.Tests = []Test{{Name: "udp_rr", Params: Params{Size: 1}}, {Name: "udp_rr", Params: Params{Size: 2}}}
		}, `tests "udp_rr size=1" and "udp_rr size=2" are the same, "udp_rr size=1", under size=1`},
		{"precision of all", func(p *Plan) { p.Precision = 1 }, "precision 1 is out of range"},
		{"negative precision", func(p *Plan) { p.Precision = -0.1 }, "precision -0.1 is out of range"},
		{"precision in few blocks", func(p *Plan) { p.Precision, p.Blocks = 0.1, 5 }, "give 6 or more"},
		{"negative limit", func(p *Plan) { p.Limit = -1 }, "limit -1ns is out of range"},
		{"metric that is no name", func(p *Plan) { p.Metrics = []string{"a b"} }, `metric "a b" is no name`},
		{"metric twice", func(p *Plan) { p.Metrics = []string{"a", "a"} }, "metric a is named twice"},
		{"one chosen", func(p *Plan) { p.Chosen = []Variant{{"gro": "on", "size": "1"}} }, "two variants or more are needed to compare, got 1"},
		{"none chosen", func(p *Plan) { p.Chosen = []Variant{} }, "got 0"},
		{"chosen twice", func(p *Plan) {
			p.Chosen = []Variant{{"gro": "on", "size": "1"}, {"gro": "on", "size": "1"}}
		}, `variant "gro=on size=1" is chosen twice`},
		{"chosen without a factor", func(p *Plan) { p.Chosen = []Variant{{"gro": "on", "size": "1"}, {"gro": "off"}} }, "variant 2 has no level of factor size"},
		{"chosen with another factor", func(p *Plan) {
			p.Chosen = []Variant{{"gro": "on", "size": "1", "x": "y"}, {"gro": "off", "size": "64"}}
		}, "variant 1 names a factor that the plan does not have"},
		{"chosen with another level", func(p *Plan) {
			p.Chosen = []Variant{{"gro": "on", "size": "1"}, {"gro": "off", "size": "65"}}
		}, `variant 2: "65" is no level of factor size: valid are 1, 64`},
		{"chosen without the baseline", func(p *Plan) {
			p.Chosen = []Variant{{"gro": "on", "size": "64"}, {"gro": "off", "size": "1"}}
		}, `the baseline, "gro=on size=1", is none of the chosen variants`},
		{"chosen without a level", func(p *Plan) {
			p.Chosen = []Variant{{"gro": "on", "size": "1"}, {"gro": "on", "size": "64"}}
		}, "no chosen variant has level off of factor gro"},
	} {
		p := withSettings()
		c.spoil(&p)
		err := p.Validate()
		if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.wantErr)
		}
	}
}

func TestTestUnder(t *testing.T) {
	for _, c := range []struct{ test, knob, value, want string }{
		{"udp_rr", "param.size", "64", "udp_rr size=64"},
		{"udp_rr size=1KiB", "param.size", "default", "udp_rr size=1"},
		{"udp_rr", "param.send", "sendmmsg", "udp_rr size=1"}, // it takes none
		{"tcp_stream send=sendfile", "param.send", "write", "tcp_stream size=128KiB"},
		{"tcp_stream send=sendfile", "param.send", "default", "tcp_stream size=128KiB"},
		{"udp_rr rate=1000", "param.rate", "1Mbit/s", "udp_rr size=1 rate=1Mbit/s"},
		{"udp_rr rate=1Mbit/s", "param.rate", "default", "udp_rr size=1"},
		{"udp_rr response=9", "param.request", "7", "udp_rr request=7 response=9"},
		{"udp_rr response=7", "param.request", "7", "udp_rr size=7"},
		{"icmp_echo", "gro", "off", "icmp_echo size=56"},
		{"wake", "param.by", "pipe", "wake by=pipe"},
	} {
		tests, err := ParseTests(c.test, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := Plan{Factors: []Factor{{Name: "f", Levels: []string{"a", "b"}, Settings: map[string][]Setting{"a": setting(c.knob, c.value)}}}}
		got, err := p.TestUnder(Variant{"f": "a"}, tests[0])
		if err != nil || got.String() != c.want {
			t.Errorf("%s with %s=%s: got %q, %v, want %q", c.test, c.knob, c.value, got, err, c.want)
		}
		if same, err := p.TestUnder(Variant{"f": "b"}, tests[0]); err != nil || same != tests[0] {
			t.Errorf("%s with nothing set: got %v, %v", c.test, same, err)
		}
	}
	if _, err := new(Plan).TestUnder(nil, Test{Name: "x"}); err == nil {
		t.Error("an unknown test is run")
	}
}

// designGen draws valid plans with slow factors, and with chosen variants.
func designGen() *rapid.Generator[Plan] {
	return rapid.Custom(func(t *rapid.T) Plan {
		p := planGen().Draw(t, "plan")
		for i := range p.Factors {
			p.Factors[i].Slow = rapid.Bool().Draw(t, "slow")
		}
		if rapid.Bool().Draw(t, "choose") {
			all := rapid.Permutation(p.Variants()).Draw(t, "variants")
			q := p
			q.Chosen = all[:rapid.IntRange(2, len(all)).Draw(t, "chosen")]
			if q.Validate() == nil {
				p = q
			}
		}
		return p
	})
}

func TestScheduleOfDesigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := designGen().Draw(t, "plan")
		slots := p.Schedule()
		if again := p.Schedule(); !reflect.DeepEqual(slots, again) {
			t.Fatal("the same plan gives another schedule the second time")
		}
		slow := slices.DeleteFunc(slices.Clone(p.Factors), func(f Factor) bool { return !f.Slow })
		plots := map[string]bool{} // of one block, by the slow factors' levels
		variants := p.Variants()
		for _, v := range variants {
			plots[v.Key(slow)] = true
		}
		if len(slots) != p.Blocks*len(variants) || len(slots)*len(p.Tests) != p.Trials() {
			t.Fatalf("%d slots and %d trials for %d blocks of %d variants", len(slots), p.Trials(), p.Blocks, len(variants))
		}
		levels := map[int]string{} // of the slow factors, by plot
		seen := map[string]bool{}
		for i, s := range slots {
			if s.Order != i || s.Block != i/len(variants) || s.Plot/len(plots) != s.Block {
				t.Fatalf("slot %d says order %d, block %d, plot %d", i, s.Order, s.Block, s.Plot)
			}
			if i > 0 && s.Plot != slots[i-1].Plot && s.Plot != slots[i-1].Plot+1 {
				t.Fatalf("plot %d follows %d", s.Plot, slots[i-1].Plot)
			}
			key := s.Variant.Key(slow)
			if at, known := levels[s.Plot]; known && at != key {
				t.Fatalf("plot %d has %q and %q", s.Plot, at, key)
			}
			levels[s.Plot] = key
			once := fmt.Sprint(s.Block, s.Variant.Key(p.Factors))
			if seen[once] {
				t.Fatalf("block %d has %v twice", s.Block, s.Variant)
			}
			seen[once] = true
		}
		if len(levels) != p.Blocks*len(plots) {
			t.Fatalf("%d plots in %d blocks of %d", len(levels), p.Blocks, len(plots))
		}
		e := p.Takes(UsualCosts)
		if e.Slots != len(slots) || e.Trials != p.Trials() || e.Plots != len(levels) {
			t.Fatalf("the estimate is of %+v", e)
		}
	})
}

// Plots must hold each place of a block equally often, and so must the variants
// within a plot.
// The first blocks are the same ones however many follow: a run can be made
// longer.
func TestLongerScheduleBeginsAlike(t *testing.T) {
	for _, slow := range []bool{false, true} {
		p := Plan{Seed: 9, Blocks: 3, Tests: []Test{{}, {}}, Factors: []Factor{
			{Name: "a", Levels: []string{"x", "y"}, Slow: slow}, {Name: "b", Levels: []string{"x", "y", "z"}},
		}}
		short := p.Schedule()
		p.Blocks = 48
		long := p.Schedule()
		if len(short) != 18 || len(long) != 288 || !reflect.DeepEqual(short, long[:len(short)]) {
			t.Errorf("slow %v: %d slots are not the first of %d", slow, len(short), len(long))
		}
	}
}

func TestSlowOrderVaries(t *testing.T) {
	p := withSettings()
	p.Factors[0].Slow = true
	p.Blocks = 4000
	counts := map[string]int{}
	for i, s := range p.Schedule() {
		counts[fmt.Sprint(s.Variant.Key(p.Factors), i%4)]++
	}
	if len(counts) != 16 {
		t.Errorf("only %d of 16 places were ever held: %v", len(counts), counts)
	}
	for place, n := range counts {
		if n < 840 || n > 1160 { // five standard deviations of 4000/4
			t.Errorf("%s: %d times, want about 1000", place, n)
		}
	}
}

func TestVariantsAreCopies(t *testing.T) {
	p := withSettings()
	p.Chosen = []Variant{maps.Clone(p.Baseline), {"gro": "off", "size": "64"}}
	p.Variants()[0]["gro"] = "x"
	if p.Chosen[0]["gro"] != "on" {
		t.Error("a variant that was returned is the plan's own")
	}
}

func TestTakes(t *testing.T) {
	p := withSettings()
	p.Blocks, p.Warmup, p.Window = 10, 100*time.Millisecond, 400*time.Millisecond
	got := p.Takes(Costs{Trial: 50 * time.Millisecond, Slot: time.Second})
	// 4 variants of 2 tests: 4 s and 8 times 0.55 s.
	want := Estimate{Trials: 80, Slots: 40, Plots: 10, Block: 8400 * time.Millisecond, Total: 84 * time.Second}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	p.Limit = 20 * time.Second
	if got := p.Takes(Costs{Trial: 50 * time.Millisecond, Slot: time.Second}).Total; got != p.Limit+want.Block {
		t.Errorf("with a limit: got %v", got)
	}
	p.Limit, p.Blocks, p.Window = 0, MaxBlocks, MaxWindow
	if got := p.Takes(Costs{Trial: 1 << 62, Slot: 1 << 62}); got.Block != 1<<63-1 || got.Total != 1<<63-1 {
		t.Errorf("a plan beyond counting takes %v", got.Total)
	}
}
