package traffic

import (
	"slices"
	"testing"
	"time"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func eachConfig(n int) Config {
	return Config{Role: result.Local, Test: spec.Test{Name: "udp_rr", Params: spec.Params{Size: 1}}, Warmup: 10, Window: 20, Each: n}
}

// What is kept are the first of the window: those of the warm-up, of which the last
// opens the window, are none, and what no longer finds room is let go.
func TestEachIsOfTheWindow(t *testing.T) {
	m := meterOf(eachConfig(3))
	m.tick(100)
	for now := int64(104); m.phase != closed; now += 4 {
		m.each.add(now)
		m.event(1, 0, now)
	}
	if got, want := m.result(result.Local).Each, []int64{116, 120, 124}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
	if m = meterOf(eachConfig(0)); m.result(result.Local).Each != nil {
		t.Error("something was kept unasked")
	}
}

// Answers may come in another order, or not at all.
func TestEachInTheOrderOfRequests(t *testing.T) {
	k := newEach(eachConfig(4))
	if k.ask() != noAnswer || k.kept() != nil {
		t.Error("a request of the warm-up is kept")
	}
	k.begin()
	first, second, third := k.ask(), k.ask(), k.ask()
	k.set(third, 30)
	k.set(first, 10)
	if want := []int64{10, noAnswer, 30}; !slices.Equal(k.kept(), want) || second != 1 {
		t.Errorf("kept %v, want %v", k.kept(), want)
	}
	k.ask()
	if n := k.ask(); n != -1 {
		t.Errorf("number %d, and there is no room", n)
	}
	k.set(-1, 7)
	if len(k.kept()) != 4 {
		t.Errorf("kept %v", k.kept())
	}
}

func TestWhoKeepsNone(t *testing.T) {
	remote, load := eachConfig(3), eachConfig(3)
	remote.Role, load.valve = result.Remote, &valve{}
	for _, cfg := range []Config{remote, load} {
		if k := newEach(cfg); k.room != nil {
			t.Errorf("%+v keeps round trips", cfg)
		}
	}
}

func TestEachAllocatesNothing(t *testing.T) {
	k := newEach(eachConfig(1000))
	k.begin()
	if n := testing.AllocsPerRun(2000, func() { k.add(5) }); n != 0 {
		t.Errorf("%v objects for a round trip", n)
	}
}

// BenchmarkEach is what keeping costs for each round trip, beside the histogram and
// the meter, which are there anyway: where nothing is asked for, where it is all
// there, and where it is kept.
func BenchmarkEach(b *testing.B) {
	for _, c := range []struct {
		name    string
		n       int
		without bool
		rewind  bool
	}{{"without", 0, true, false}, {"none", 0, false, false}, {"full", 10, false, false}, {"kept", spec.MaxEach, false, true}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := eachConfig(c.n)
			cfg.Window = time.Hour
			m, h := meterOf(cfg), hist.New()
			m.tick(0)
			m.event(1, 2, 20)
			b.ReportAllocs()
			now := int64(100)
			for b.Loop() {
				now += 10
				h.Record(20_000 + now&0xfff)
				if !c.without {
					m.each.add(20_000)
				}
				m.event(1, 2, now)
				if c.rewind && m.each.n == len(m.each.list) {
					m.each.n = 0
				}
			}
		})
	}
}
