package stats

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The functions here compute the same answers the long way: by trying every
// flip or every split, with whole numbers where equality matters.

func smallInts(lo, hi int) *rapid.Generator[float64] {
	return rapid.Map(rapid.IntRange(lo, hi), func(v int) float64 { return float64(v) })
}

func values(t *rapid.T, name string, least, most int) []float64 {
	return rapid.SliceOfN(rapid.OneOf(smallInts(-4, 4), rapid.Float64Range(-10, 10)), least, most).Draw(t, name)
}

func TestSignedRankPBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := values(t, "d", 1, 10)
		var sizes []float64
		up := 0.0
		for _, v := range d {
			if v != 0 {
				sizes = append(sizes, math.Abs(v))
			}
		}
		rank := func(v float64) (r float64) { // mean rank by counting
			for _, s := range sizes {
				if s < v {
					r++
				} else if s == v {
					r += 0.5
				}
			}
			return r + 0.5
		}
		for _, v := range d {
			if v > 0 {
				up += rank(v)
			}
		}
		n := len(sizes)
		centre := float64(n) * float64(n+1) / 4
		extreme := 0
		for flip := range 1 << n {
			sum := 0.0
			for i, s := range sizes {
				if flip>>i&1 == 1 {
					sum += rank(s)
				}
			}
			if math.Abs(sum-centre) >= math.Abs(up-centre) {
				extreme++
			}
		}
		want := math.Ldexp(float64(extreme), -n)
		if got := SignedRankP(d); math.Abs(got-want) > 1e-14 {
			t.Fatalf("p of %v = %v, want %v", d, got, want)
		}
	})
}

func TestMannWhitneyBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := values(t, "a", 1, 6), values(t, "b", 1, 6)
		pool := slices.Concat(a, b)
		twiceU := func(mask uint) (u int) {
			for i, x := range pool {
				for j, y := range pool {
					if mask>>i&1 == 1 && mask>>j&1 == 0 {
						if x > y {
							u += 2
						} else if x == y {
							u++
						}
					}
				}
			}
			return u
		}
		mean := len(a) * len(b)
		u := twiceU(1<<len(a) - 1)
		all, extreme := 0, 0
		for mask := range uint(1) << len(pool) {
			if bits.OnesCount(mask) == len(a) {
				all++
				if abs(twiceU(mask)-mean) >= abs(u-mean) {
					extreme++
				}
			}
		}
		gotU, gotP := MannWhitney(a, b)
		if want := float64(extreme) / float64(all); gotU != float64(u)/2 || math.Abs(gotP-want) > 1e-14 {
			t.Fatalf("%v against %v: U %v p %v, want %v and %v", a, b, gotU, gotP, float64(u)/2, want)
		}
	})
}

// everyInterval checks an interval against the sorted list of all pairwise
// values that it is said to come from.
func everyInterval(t *rapid.T, got Interval, all []float64, cum func(int) float64) {
	slices.Sort(all)
	m := len(all)
	if want := (all[(m-1)/2] + all[m/2]) / 2; math.Abs(got.Est-want) > 1e-12 {
		t.Fatalf("estimate %v, want %v of %v", got.Est, want, all)
	}
	k := 1
	for 2*(k+1) <= m+1 && 1-2*cum(k) >= 0.95-1e-12 {
		k++
	}
	if got.Lo != all[k-1] || got.Hi != all[m-k] {
		t.Fatalf("interval %+v, want the %d-th from each end of %v", got, k, all)
	}
	if !(got.Lo <= got.Est && got.Est <= got.Hi) {
		t.Fatalf("estimate outside of its interval: %+v", got)
	}
}

func TestIntervalsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := values(t, "d", 1, 15)
		var walsh []float64
		for i, x := range d {
			for _, y := range d[i:] {
				walsh = append(walsh, mean2(x, y))
			}
		}
		everyInterval(t, SignedRank(d, 0.95), walsh, signedRankCum(len(d)))

		b := values(t, "b", 1, 10)
		var diffs []float64
		for _, x := range d {
			for _, y := range b {
				diffs = append(diffs, y-x)
			}
		}
		everyInterval(t, Shift(d, b, 0.95), diffs, rankSumCum(len(d), len(b)))
	})
}

// An interval leaves zero out just when the test that it inverts rejects.
func TestIntervalAgreesWithTest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(6, 12).Draw(t, "n")
		// Distinct sizes, no zero: the null distribution without ties.
		d := make([]float64, n)
		for i, size := range rapid.Permutation([]float64{1, 2.1, 3.3, 4.7, 5.2, 6.9, 7.7, 8.1, 9.6, 10.2, 11.8, 12.5}).Draw(t, "sizes")[:n] {
			d[i] = size
			if rapid.IntRange(0, 4).Draw(t, "sign") == 0 {
				d[i] = -size
			}
		}
		in := SignedRank(d, 0.95)
		out, p := in.Lo > 0 || in.Hi < 0, SignedRankP(d)
		if out != (p <= 1-in.Level+1e-12) {
			t.Fatalf("%v: interval %+v, p %v", d, in, p)
		}
	})
}

func TestKthIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SliceOfN(rapid.Float64Range(-1e300, 1e300), 1, 12).Draw(t, "s")
		slices.Sort(s)
		var walsh []float64
		for i, x := range s {
			for _, y := range s[i:] {
				walsh = append(walsh, mean2(x, y))
			}
		}
		slices.Sort(walsh)
		for k, want := range walsh {
			if got := kthWalsh(s, k+1); got != want {
				t.Fatalf("Walsh average %d of %v = %v, want %v", k+1, s, got, want)
			}
		}
	})
}

func TestSymmetry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := values(t, "d", 1, 40)
		neg := make([]float64, len(d))
		for i, v := range d {
			neg[i] = -v
		}
		a, b := SignedRank(d, 0.9), SignedRank(neg, 0.9)
		if a.Est != -b.Est || a.Lo != -b.Hi || a.Hi != -b.Lo || a.Level != b.Level {
			t.Fatalf("%v: %+v, negated %+v", d, a, b)
		}
		if p, q := SignedRankP(d), SignedRankP(neg); p != q {
			t.Fatalf("%v: p %v, negated %v", d, p, q)
		}
	})
}

// Anything at all may come in; nothing panics, and what comes out makes sense.
func TestAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324}))
		a := rapid.SliceOfN(odd, 0, 30).Draw(t, "a")
		b := rapid.SliceOfN(odd, 0, 30).Draw(t, "b")
		level := odd.Draw(t, "level")
		keepA := slices.Clone(a)
		for _, in := range []Interval{MedianInterval(a, level), SignedRank(a, level), Shift(a, b, level)} {
			if !(in.Level >= 0 && in.Level <= 1) || in.Lo > in.Hi {
				t.Fatalf("interval %+v", in)
			}
		}
		_, p := MannWhitney(a, b)
		_, _, w := Welch(a, b)
		ps, adj := SignFlip([][]float64{a, b}, 1)
		for _, p := range slices.Concat([]float64{p, SignedRankP(a)}, ps, adj) {
			if p == p && !(p > 0 && p <= 1) {
				t.Fatalf("p = %v", p)
			}
		}
		if w == w && !(w >= 0 && w <= 1) {
			t.Fatalf("Welch p = %v", w)
		}
		if n := Needed(a, level, rapid.IntRange(-1, 50).Draw(t, "m"), 0.95); n != 0 && (n < 6 || n > MaxNeeded) {
			t.Fatalf("Needed = %d", n)
		}
		DetectableEffect(level, rapid.IntRange(-1, 40).Draw(t, "n"), odd.Draw(t, "l"), odd.Draw(t, "power"))
		if !slices.EqualFunc(a, keepA, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }) {
			t.Fatal("the input was changed")
		}
	})
}
