package traffic

import (
	"testing"

	"pgregory.net/rapid"
)

func TestInflight(t *testing.T) {
	f := newInflight(1000, 1)
	if len(f.ring) != 256 {
		t.Fatalf("room for %d with numbers of one byte", len(f.ring))
	}
	for seq := uint64(1); seq <= 3; seq++ {
		f.add(seq, int64(10*seq), int64(10*seq+1), -1)
	}
	if sent, ok := f.eldest(); !ok || sent != 11 {
		t.Errorf("the eldest was sent at %d, %v", sent, ok)
	}
	f.giveUp(21)
	for _, c := range []struct {
		what string
		low  uint64
		to   answerTo
		due  int64
	}{
		{"one that was never sent", 4, toNone, 0},
		{"one that waits", 3, toWaiting, 30},
		{"the same once more", 3, toNone, 0},
		{"one that was given up", 2, toGivenUp, 20},
		{"the same once more", 2, toNone, 0},
	} {
		if to, due := f.take(c.low); to != c.to || due != c.due {
			t.Errorf("%s: %d, due at %d; want %d, %d", c.what, to, due, c.to, c.due)
		}
	}
	if _, ok := f.eldest(); ok || f.waiting != 0 {
		t.Errorf("%d wait", f.waiting)
	}
	// Number 257 looks like 1 in one byte, which was given up and is forgotten.
	f.add(257, 70, 71, -1)
	if to, due := f.take(1); to != toWaiting || due != 70 {
		t.Errorf("257: %d, due at %d", to, due)
	}
}

func TestInflightSizes(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		width int
		want  int
	}{{1, 8, 256}, {1e8, 1, 256}, {1000, 2, 1024}, {1e8, 2, 1 << 16}, {1e8, 8, mostInFlight}} {
		if f := newInflight(c.rate, c.width); len(f.ring) != c.want {
			t.Errorf("%v per second, %d bytes: room for %d, want %d", c.rate, c.width, len(f.ring), c.want)
		}
	}
}

// TestInflightKeepsBooks compares it with a plain list of what was sent.
func TestInflightKeepsBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newInflight(1, rapid.IntRange(1, 2).Draw(t, "width"))
		state := map[uint64]requestState{}
		seq, now, waiting := uint64(0), int64(0), 0
		for range rapid.IntRange(1, 600).Draw(t, "steps") {
			now++
			switch op := rapid.IntRange(0, 9).Draw(t, "step"); {
			case op < 6 && !f.full():
				for seq++; !f.free(seq); seq++ {
				}
				f.add(seq, now, now, -1)
				state[seq] = waits
				waiting++
			case op < 9 && seq > 0: // an answer to one of the latest
				s := seq - rapid.Uint64Range(0, min(seq-1, 200)).Draw(t, "back")
				want := map[requestState]answerTo{waits: toWaiting, gaveUp: toGivenUp, answered: toNone}[state[s]]
				if _, sent := state[s]; !sent {
					want = toNone // a number that was left out
				}
				if _, sent := state[s]; sent || f.place(s).seq&f.bits != s&f.bits {
					if to, _ := f.take(s & f.bits); to != want {
						t.Fatalf("an answer to %d of %d is to %d, want %d", s, seq, to, want)
					}
					if want == toWaiting {
						waiting--
					}
					state[s] = answered
				}
			default:
				until := now - rapid.Int64Range(0, 300).Draw(t, "age")
				for s := range state {
					if r := f.place(s); state[s] == waits && r.sent <= until {
						state[s] = gaveUp
						waiting--
					}
				}
				f.giveUp(until)
			}
			if f.waiting != waiting {
				t.Fatalf("%d wait, want %d", f.waiting, waiting)
			}
		}
	})
}

func TestDueQueue(t *testing.T) {
	q := newDueQueue()
	for round := range int64(3) {
		for i := range int64(queueSize) {
			if q.full() {
				t.Fatalf("full with %d", i)
			}
			q.put(round + i)
		}
		if !q.full() || q.len() != queueSize {
			t.Fatalf("%d of %d, full %v", q.len(), queueSize, q.full())
		}
		for i := range int64(queueSize) {
			if got := q.get(); got != round+i {
				t.Fatalf("number %d is %d", i, got)
			}
		}
		if !q.empty() {
			t.Fatal("not empty")
		}
		q.put(1)
		q.get() // and the next round begins elsewhere
	}
}

func TestAlarm(t *testing.T) {
	var a alarm
	for range 100 {
		a.rang(40_000)
	}
	if a.lead < 39_000 || a.lead > 40_000 {
		t.Errorf("a lead of %d after waking 40 us late a hundred times", a.lead)
	}
	for range 100 {
		a.rang(1e9)
	}
	if a.lead > maxLead {
		t.Errorf("a lead of %d, at most %d", a.lead, int64(maxLead))
	}
	for range 100 {
		a.rang(-5)
	}
	if a.lead < 0 || a.lead > 10 {
		t.Errorf("a lead of %d after waking in time", a.lead)
	}
	for _, wait := range []int64{1, fineNap, fineNap + 1, 1e9, 1e12} {
		if n := nap(wait); n > wait || n < wait*63/64-1 || n+n/200 > wait && wait > fineNap {
			t.Errorf("a nap of %d before %d", n, wait)
		}
	}
}

// Slots are numbered as the pacer counts them.
func TestPacerFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPacer(rapid.Float64Range(1, 1e8).Draw(t, "rate"), false)
		p.begin(rapid.Int64Range(0, 1e15).Draw(t, "begin"))
		at := p.start + rapid.Int64Range(-10, 1e12).Draw(t, "at")
		n := p.first(at)
		if n < 0 || p.at(n) < at || n > 0 && p.at(n-1) >= at {
			t.Fatalf("slot %d, due at %d, is the first from %d on", n, p.at(n), at)
		}
	})
}
