package spec

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wakes are some tests that can run beside a plan.
func wakes() []Test {
	var all []Test
	for _, by := range WakeMethods() {
		for _, at := range []string{"", WakeSame, WakeOther} {
			all = append(all, Test{Name: "wake", Params: Params{By: by, At: at}})
		}
	}
	return all
}

func TestValidateBeside(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func(*Plan)
		wantErr string // "" for a plan that is valid
	}{
		{"some", func(p *Plan) { p.Beside = wakes() }, ""},
		{"defaults are filled in", func(p *Plan) { p.Beside = []Test{{Name: "wake"}} }, ""},
		{"with a path", func(p *Plan) { p.Beside = []Test{{Name: "udp_rr"}} }, `test "udp_rr size=1" can't run beside a plan`},
		{"twice", func(p *Plan) { p.Beside = []Test{{Name: "wake"}, {Name: "wake", Params: Params{By: "futex"}}} }, "named twice beside the plan"},
		{"a test of the plan", func(p *Plan) {
			p.Tests = append(p.Tests, Test{Name: "wake"})
			p.Beside = []Test{{Name: "wake"}}
		}, "one of the plan's tests and beside them too"},
		{"wrong parameter", func(p *Plan) { p.Beside = []Test{{Name: "wake", Params: Params{At: "both"}}} }, `at "both" is none: valid are same, other`},
		{"wrong load", func(p *Plan) { p.Beside = []Test{{Name: "wake", Params: Params{Busy: "full"}}} }, `busy "full" is none: valid are awake, loaded`},
		{"each", func(p *Plan) { p.Each = 9 }, ""},
		{"each out of range", func(p *Plan) { p.Each = MaxEach + 1 }, "each 100001 is out of range: 0 (none) to 100000"},
		{"each below 0", func(p *Plan) { p.Each = -1 }, "out of range"},
		{"each of many flows", func(p *Plan) {
			p.Each = 1
			p.Tests = []Test{{Name: "udp_rr", Params: Params{Flows: 2}}}
		}, "each keeps those of one flow"},
		{"each of bursts", func(p *Plan) {
			p.Each = 1
			p.Tests = []Test{{Name: "tcp_rr", Params: Params{Burst: 4}}}
		}, "each keeps those of one flow"},
		{"each of a rate", func(p *Plan) {
			p.Each = 1
			p.Tests = []Test{{Name: "udp_rr", Params: Params{Rate: 100}}, {Name: "tcp_stream"}}
		}, ""},
		{"each of streams alone", func(p *Plan) {
			p.Each = 1
			p.Tests = []Test{{Name: "tcp_stream"}}
		}, "no test of the plan has round trips"},
	} {
		for _, p := range []Plan{plan(), single()} {
			c.spoil(&p)
			err := p.Validate()
			if p.Single() {
				err = p.ValidateSingle()
			}
			if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.wantErr)
			}
			if err == nil && len(p.Beside) > 0 && p.Beside[0].Params.By != "futex" {
				t.Errorf("%s: %v lacks its defaults", c.name, p.Beside[0])
			}
		}
	}
}

// A factor that makes a test one of many flows is found out too.
func TestEachUnderAVariant(t *testing.T) {
	p := plan()
	p.Each, p.Tests = 3, []Test{{Name: "udp_rr"}}
	p.Factors = []Factor{{Name: "flows", Levels: []string{"1", "4"},
		Settings: map[string][]Setting{"1": setting("param.flows", "1"), "4": setting("param.flows", "4")}}}
	p.Baseline = Variant{"flows": "1"}
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), `test "udp_rr size=1 flows=4" has many round trips`) {
		t.Errorf("got %v", err)
	}
	if p.Each = 0; p.Validate() != nil {
		t.Errorf("without each: %v", p.Validate())
	}
}

// Each test beside runs in six blocks or more where there are as many, evenly
// spread, once in a block at most; the slot stands anywhere in its block but within
// a plot; and the others' order is as without.
func TestScheduleBeside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := designGen().Draw(t, "plan")
		p.Seed = rapid.Uint64().Draw(t, "seed")
		plain := p.Schedule()
		p.Beside = wakes()[:rapid.IntRange(1, len(wakes())).Draw(t, "beside")]
		slots := p.Schedule()
		if !reflect.DeepEqual(slots, p.Schedule()) {
			t.Fatal("the same plan gives another schedule the second time")
		}
		slow := slices.ContainsFunc(p.Factors, func(f Factor) bool { return f.Slow })
		var others []Slot
		ran := map[Test][]int{} // blocks
		in := map[int]int{}     // slots beside, by block
		trials := 0
		for i, s := range slots {
			trials += len(s.Tests)
			if s.Order != i {
				t.Fatalf("slot %d says order %d", i, s.Order)
			}
			if !s.Beside {
				s.Order = len(others)
				others = append(others, s)
				continue
			}
			in[s.Block]++
			if s.Variant != nil || s.Plot != NoPlot || len(s.Tests) != (&p).besideEach() {
				t.Fatalf("a slot beside: %+v", s)
			}
			if i > 0 && slots[i-1].Block > s.Block || i+1 < len(slots) && slots[i+1].Block < s.Block {
				t.Fatalf("slot %d of block %d is not in it", i, s.Block)
			}
			if slow && i > 0 && i+1 < len(slots) && slots[i-1].Plot == slots[i+1].Plot {
				t.Fatalf("slot %d breaks plot %d", i, slots[i-1].Plot)
			}
			for _, x := range s.Tests {
				if b := ran[x]; len(b) > 0 && b[len(b)-1] == s.Block {
					t.Fatalf("%s twice in block %d", x, s.Block)
				}
				ran[x] = append(ran[x], s.Block)
			}
		}
		if !reflect.DeepEqual(others, plain) {
			t.Fatal("tests beside change the order of the others")
		}
		if trials != p.Trials() || p.Takes(UsualCosts).Trials != trials {
			t.Fatalf("%d trials, Trials says %d", trials, p.Trials())
		}
		for b := range p.Blocks {
			if in[b] != 1 {
				t.Fatalf("block %d has %d slots beside", b, in[b])
			}
		}
		for _, x := range p.Beside {
			blocks := ran[x]
			if len(blocks) < min(p.Blocks, MinBlocks) {
				t.Fatalf("%s runs in blocks %v of %d", x, blocks, p.Blocks)
			}
			far := (len(p.Beside) + (&p).besideEach() - 1) / (&p).besideEach()
			for i := 1; i < len(blocks); i++ {
				if gap := blocks[i] - blocks[i-1]; gap > far || gap < far-1 {
					t.Fatalf("%s runs in blocks %v, a test comes again after %d", x, blocks, far)
				}
			}
		}
	})
}

// The slot beside is not always at the same place.
func TestBesidePlaceVaries(t *testing.T) {
	p := plan()
	p.Blocks, p.Beside = 40, wakes()[:1]
	places := map[int]bool{}
	at := 0
	for _, s := range p.Schedule() {
		switch {
		case s.Beside:
			places[at] = true
		case at+1 == len(p.Variants()):
			at = 0
			continue
		}
		if !s.Beside {
			at++
		}
	}
	if len(places) < 2 {
		t.Errorf("places within a block: %v", slices.Collect(maps.Keys(places)))
	}
}

func TestDocumentBeside(t *testing.T) {
	d, err := ParseDocument([]byte(`
factors: {gro: {set: gro, levels: [on, off]}}
tests: [udp_rr, icmp_echo]
beside: [wake by=pipe at=other, wake at=same busy=loaded]
each: 20
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Test{{"wake", Params{By: "pipe", At: WakeOther}}, {"wake", Params{By: "futex", At: WakeSame, Busy: WakeLoaded}}}
	if !slices.Equal(d.Plan.Beside, want) || d.Plan.Each != 20 {
		t.Errorf("beside %v, each %d", d.Plan.Beside, d.Plan.Each)
	}
	for _, c := range []struct{ text, want string }{
		{"beside: [wake, udp_rr]\n", "line 2, column 16"},
		{"each: 200000\n", "line 2, column 7"},
		{"tests: [udp_rr flows=3]\neach: 2\n", "line 2, column 9"},
	} {
		_, err := ParseDocument([]byte("factors: {gro: {set: gro, levels: [on, off]}}\n" + c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}
