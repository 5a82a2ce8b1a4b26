package traffic

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPacer(t *testing.T) {
	const ms = 1_000_000
	p := newPacer(1000, false)
	p.begin(5 * ms)
	for i := range int64(3) {
		if due := p.due(5*ms + i*ms); due != 5*ms+i*ms {
			t.Errorf("slot %d is due at %d", i, due)
		}
		p.take()
	}
	// Slot 3 was due at 8 ms; up to one interval late it is used.
	if due := p.due(9 * ms); due != 8*ms || p.missed != 0 {
		t.Errorf("at 9 ms: due %d, missed %d", due, p.missed)
	}
	// 10.5 ms late: slots 3 to 12 are gone, 13 was due at 18 ms.
	if due := p.due(8*ms + 10*ms + ms/2); due != 18*ms || p.missed != 10 || p.passed() != 13 {
		t.Errorf("after a stall: due %d, missed %d, passed %d", due, p.missed, p.passed())
	}
	p.take()
	if due := p.due(18*ms + ms/2); due != 19*ms {
		t.Errorf("and then %d", due)
	}
}

func TestPacerCatchesUp(t *testing.T) {
	p := newPacer(1000, true)
	p.begin(0)
	for i := range int64(1000) {
		if due := p.due(999_000_000); due != i*1_000_000 {
			t.Fatalf("slot %d is due at %d", i, due)
		}
		p.take()
	}
	if p.missed != 0 {
		t.Errorf("%d were missed", p.missed)
	}
}

// Whatever the stalls, slots and clock agree: the slots used and missed are
// those that have fallen due, and without catching up none is used later than
// the tolerance.
func TestPacerKeepsTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond := rapid.Float64Range(1, 1e7).Draw(t, "rate")
		p := newPacer(perSecond, false)
		begin := rapid.Int64Range(0, 1e15).Draw(t, "begin")
		p.begin(begin)
		now := begin
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			now += rapid.Int64Range(0, 20_000_000).Draw(t, "passes")
			used := 0
			for {
				due := p.due(now)
				if due > now {
					break
				}
				if now-due > p.tolerance {
					t.Fatalf("a slot is used %d ns late, the tolerance is %d", now-due, p.tolerance)
				}
				p.take()
				if used++; float64(used) > float64(p.tolerance)/p.interval+2 {
					t.Fatalf("%d slots at once at %v per second", used, perSecond)
				}
			}
			if want := float64(now-begin)*perSecond/1e9 + 1; float64(p.passed()) > want+1 || float64(p.passed()) < want-2 {
				t.Fatalf("%d slots after %d ns at %v per second, want %v", p.passed(), now-begin, perSecond, want)
			}
		}
	})
}
