package traffic

import (
	"testing"

	"pgregory.net/rapid"
)

// naiveTracker remembers all that it has seen.
type naiveTracker struct {
	seen                          map[uint64]bool
	next                          uint64
	unique, duplicates, reordered int64
}

func (n *naiveTracker) add(seq uint64) {
	tooOld := n.next > trackerWindow && seq < n.next-trackerWindow
	switch {
	case n.seen[seq] || tooOld:
		n.duplicates++
		return
	case seq < n.next:
		n.reordered++
	}
	n.unique++
	n.seen[seq] = true
	n.next = max(n.next, seq+1)
}

func TestTrackerAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tr tracker
		naive := naiveTracker{seen: map[uint64]bool{}}
		step := rapid.OneOf(
			rapid.Int64Range(-3, 4),
			rapid.Int64Range(-100, 100),
			rapid.SampledFrom([]int64{-trackerWindow - 1, -trackerWindow, -trackerWindow + 1, -64, -63, 63, 64, 65,
				trackerWindow - 1, trackerWindow, trackerWindow + 1, 3 * trackerWindow}),
		)
		at := rapid.Int64Range(0, 2*trackerWindow).Draw(t, "first")
		for range rapid.IntRange(1, 300).Draw(t, "n") {
			inWindow := rapid.Bool().Draw(t, "of the window")
			before, window := tr.all, tr.window
			tr.add(uint64(at), inWindow)
			naive.add(uint64(at))
			if want := (arrivals{naive.unique, naive.duplicates, naive.reordered}); tr.all != want || tr.next != naive.next {
				t.Fatalf("after %d: %+v, want %+v", at, tr.all, want)
			}
			if inWindow {
				window.add(&arrivals{tr.all.unique - before.unique, tr.all.duplicates - before.duplicates, tr.all.reordered - before.reordered})
			}
			if tr.window != window {
				t.Fatalf("after %d, of the window %v: %+v, want %+v", at, inWindow, tr.window, window)
			}
			at = max(0, at+step.Draw(t, "step"))
		}
	})
}

// TestTrackerShuffled lets each datagram arrive at most a little out of place,
// and drops and doubles some.
func TestTrackerShuffled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var arrivals []uint64
		copies := map[uint64]int64{}
		for seq := range uint64(rapid.IntRange(1, 500).Draw(t, "sent")) {
			for range rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2}).Draw(t, "copies") {
				place := len(arrivals) - min(len(arrivals), rapid.SampledFrom([]int{0, 0, 0, 1, 5}).Draw(t, "early"))
				arrivals = append(arrivals, 0)
				copy(arrivals[place+1:], arrivals[place:])
				arrivals[place] = seq
				copies[seq]++
			}
		}
		var tr tracker
		for _, seq := range arrivals {
			tr.add(seq, true)
		}
		if all := tr.window; all.unique != int64(len(copies)) || all.unique+all.duplicates != int64(len(arrivals)) {
			t.Fatalf("%d unique of %d, want %d of %d", all.unique, all.unique+all.duplicates, len(copies), len(arrivals))
		}
	})
}

func BenchmarkTracker(b *testing.B) {
	var tr tracker
	seq := uint64(0)
	for b.Loop() {
		tr.add(seq, true)
		seq++
	}
	if b.Elapsed() > 0 && testing.AllocsPerRun(100, func() { tr.add(seq, true); seq += 3 }) != 0 {
		b.Error("the tracker allocates")
	}
}
