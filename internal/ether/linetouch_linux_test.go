package ether

import (
	"testing"
	"time"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

func TestLineTouchesExactly(t *testing.T) {
	const frames = 400
	for _, c := range []struct {
		name string
		w    spec.Wire
		want map[Count]uint64
		// numbers are those that come out, in order.
		numbers func() []int
	}{
		{"loss", spec.Wire{Loss: spec.Share{Every: 50}}, map[Count]uint64{DropLoss: 8, FramesOut: frames - 8}, func() (all []int) {
			for i := range frames {
				if (i+1)%50 != 0 {
					all = append(all, i)
				}
			}
			return all
		}},
		{"duplicate", spec.Wire{Duplicate: spec.Share{Every: 100}}, map[Count]uint64{Duplicated: 4, FramesOut: frames + 4}, func() (all []int) {
			for i := range frames {
				if all = append(all, i); (i+1)%100 == 0 {
					all = append(all, i)
				}
			}
			return all
		}},
		{"reorder", spec.Wire{Reorder: spec.Share{Every: 30}}, map[Count]uint64{Reordered: 13, FramesOut: frames}, func() (all []int) {
			for i := range frames {
				all = append(all, i)
			}
			for i := 29; i+1 < frames; i += 30 {
				all[i], all[i+1] = all[i+1], all[i]
			}
			return all
		}},
		// Every 10th is lost. Of the 360 left every 7th is doubled, and every 9th
		// goes behind the next, the last one but for want of one: it comes late.
		{"all", spec.Wire{Loss: spec.Share{Every: 10}, Duplicate: spec.Share{Every: 7}, Reorder: spec.Share{Every: 9}, Delay: 50 * time.Microsecond},
			map[Count]uint64{DropLoss: 40, Duplicated: 51, Reordered: 39, FramesOut: 411}, nil},
	} {
		for _, handoff := range []bool{false, true} {
			l := newLined(t, c.w, settings{handoff: handoff})
			others := 0
			for i := range frames {
				if i%20 == 3 { // what is not known is neither touched nor counted
					send(t, l.a.outer, arp())
					send(t, l.a.outer, ip6(icmp6, 135))
					others += 2
				}
				send(t, l.a.outer, numbered(i))
				for counted(l.lane)[FramesIn] < uint64(i+1+others) {
					if e := l.line.step(); e != 0 {
						t.Fatal(e)
					}
				}
				for l.write != nil && l.write.ring.head.Load() != l.write.ring.tail.Load() {
					l.write.step()
				}
			}
			l.settle(t, frames+uint64(others))
			for l.write != nil && l.write.ring.head.Load() != l.write.ring.tail.Load() {
				l.write.step()
			}
			d := counted(l.lane)
			c.want[KnownFrames], c.want[FramesIn] = frames, frames+uint64(others)
			for count, n := range c.want {
				if count == FramesOut {
					n += uint64(others)
				}
				if d[count] != n {
					t.Errorf("%s, handoff %v: %v = %d, want %d", c.name, handoff, count, d[count], n)
				}
			}
			if d.InFlight() != 0 {
				t.Errorf("%s: %d frames in flight: %v", c.name, int64(d.InFlight()), d)
			}
			if c.numbers == nil {
				continue
			}
			var got []int
			for _, n := range l.out(t) {
				if n != 0 || len(got) == 0 { // the others have no number
					got = append(got, n)
				}
			}
			want := c.numbers()
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("%s, handoff %v: what came out at place %d is another", c.name, handoff, i)
				}
			}
		}
	}
}

// TestLineReordersNotForEver: where no next frame comes, the one that waits for it
// goes as it is.
func TestLineReordersNotForEver(t *testing.T) {
	l := newLined(t, spec.Wire{Reorder: spec.Share{Every: 2}}, settings{})
	for i := range 2 {
		send(t, l.a.outer, numbered(i))
	}
	start := sys.Nanotime()
	d := l.settle(t, 2)
	if took := time.Duration(sys.Nanotime() - start); took < asideTime || d[Reordered] != 0 || d[FramesOut] != 2 {
		t.Errorf("after %v: %v", took, d)
	}
}

// TestPickRandom: the share that was asked for, the same each time.
func TestPickRandom(t *testing.T) {
	for _, share := range []float64{0.001, 0.01, 0.3, 0.99} {
		const n = 200_000
		var hits [2]int
		for i := range hits {
			p := newPick(spec.Share{Random: share}, seedAToB)
			for range n {
				if p.hit() {
					hits[i]++
				}
			}
		}
		// Ten standard deviations.
		if d := float64(hits[0]) - n*share; d*d > 100*n*share*(1-share) || hits[0] != hits[1] {
			t.Errorf("of a share of %v: %v of %d", share, hits, n)
		}
	}
	if p := newPick(spec.Share{}, 1); p.hit() {
		t.Error("no share is a share")
	}
}
