package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tol)
	}
}

// critical returns the largest value whose lower tail is at most 2.5%, or -1.
func critical(cum func(int) float64) int {
	c := -1
	for cum(c+1) <= 0.025 {
		c++
	}
	return c
}

func TestSignedRankTable(t *testing.T) {
	// Two-sided 5% points of T, as in McCornack (1965) and most textbooks.
	table := map[int]int{5: -1, 6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21,
		15: 25, 16: 29, 17: 34, 18: 40, 19: 46, 20: 52, 25: 89, 30: 137, 40: 264, 50: 434}
	for n, want := range table {
		if got := critical(signedRankCum(n)); got != want {
			t.Errorf("signed-rank 5%% point for n = %d is %d, want %d", n, got, want)
		}
	}
}

func TestRankSumTable(t *testing.T) {
	// Two-sided 5% points of U, as in Milton (1964) and most textbooks.
	for _, r := range []struct{ na, nb, u int }{
		{3, 4, -1}, {3, 5, 0}, {4, 4, 0}, {5, 5, 2}, {6, 6, 5}, {7, 7, 8}, {8, 8, 13}, {9, 9, 17},
		{10, 10, 23}, {5, 8, 6}, {8, 5, 6}, {10, 15, 39}, {12, 20, 69}, {20, 20, 127},
	} {
		if got := critical(rankSumCum(r.na, r.nb)); got != r.u {
			t.Errorf("U 5%% point for %d and %d is %d, want %d", r.na, r.nb, got, r.u)
		}
	}
}

func TestStudentTable(t *testing.T) {
	for _, r := range []struct{ p, df, want float64 }{
		{0.975, 1, 12.706204736}, {0.975, 2, 4.302652730}, {0.975, 5, 2.570581836}, {0.975, 10, 2.228138852},
		{0.975, 30, 2.042272456}, {0.975, 9999, 1.960201264}, {0.95, 7, 1.894578605}, {0.8, 5, 0.919543780},
		{0.9995, 5, 6.868826626}, {0.5, 3, 0}, {0.025, 5, -2.570581836},
	} {
		near(t, fmt.Sprintf("tQuantile(%v, %v)", r.p, r.df), tQuantile(r.p, r.df), r.want, 1e-8)
	}
	near(t, "normalQuantile(0.975)", normalQuantile(0.975), 1.959963985, 1e-9)
	near(t, "normalTail(3)", normalTail(3), 0.001349898032, 1e-12)
	// With one degree of freedom t is Cauchy's distribution: a far tail in
	// closed form.
	near(t, "tTail(1e6, 1) relative", tTail(1e6, 1)/(math.Atan(1e-6)/math.Pi), 1, 1e-9)
	near(t, "tTail(6, 1e9) relative", tTail(6, 1e9)/normalTail(6), 1, 1e-5)
}

func TestIntervalLevels(t *testing.T) {
	d := []float64{3, 1, 4, -1, 5, -9, 2, 6}
	for _, r := range []struct {
		n           int
		asked, want float64
	}{
		{1, 0.95, 0}, {2, 0.95, 0.5}, {4, 0.95, 0.875}, {5, 0.95, 0.9375}, {6, 0.95, 0.96875},
		{7, 0.95, 1 - 6.0/128}, {8, 0.95, 1 - 10.0/256},
		{5, 0.9375, 0.9375}, // asked exactly: not missed by rounding
		{8, 1, 1 - 2.0/256}, {8, math.NaN(), 1 - 2.0/256},
	} {
		if got := SignedRank(d[:r.n], r.asked); got.Level != r.want {
			t.Errorf("SignedRank of %d at %v attains %v, want %v", r.n, r.asked, got.Level, r.want)
		}
	}
	if got := MedianInterval(d[:6], 0.95); got != (Interval{2, -9, 5, 0.96875}) {
		t.Errorf("MedianInterval of 6 = %+v", got)
	}
	if got := MedianInterval(d[:5], 0.95); got != (Interval{3, -1, 5, 0.9375}) {
		t.Errorf("MedianInterval of 5 = %+v", got)
	}
	// Published: 9 values use their 2nd and 8th at 96.1%, 20 their 6th and
	// 15th at 95.9%.
	nine, twenty := make([]float64, 9), make([]float64, 20)
	for i := range twenty {
		twenty[i] = float64(i + 1)
	}
	copy(nine, twenty)
	for _, r := range []struct {
		x           []float64
		lo, hi, lev float64
	}{{nine, 2, 8, 0.9609375}, {twenty, 6, 15, 0.958610534668}} {
		got := MedianInterval(r.x, 0.95)
		if got.Lo != r.lo || got.Hi != r.hi {
			t.Errorf("MedianInterval of %d = %+v", len(r.x), got)
		}
		near(t, "level", got.Level, r.lev, 1e-9)
	}
	// Thousands of values: by logarithms, and close to the normal value.
	big := make([]float64, 10000)
	for i := range big {
		big[i] = float64(i)
	}
	got := MedianInterval(big, 0.95)
	near(t, "Lo of 10000", got.Lo, 5000-0.98*100, 2)
	near(t, "Level of 10000", got.Level, 0.9511, 0.0012)
}

// Hamilton depression scale of nine patients before and after: the worked
// example of Hollander and Wolfe, 3.1 to 3.3.
var (
	before = []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	after  = []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
)

func TestSignedRankTextbook(t *testing.T) {
	d := make([]float64, len(before))
	for i := range d {
		d[i] = after[i] - before[i]
	}
	got := SignedRank(d, 0.95)
	near(t, "estimate", got.Est, -0.46, 1e-9)
	near(t, "lower bound", got.Lo, -0.786, 1e-9)
	near(t, "upper bound", got.Hi, -0.010, 1e-9)
	near(t, "level", got.Level, 1-20.0/512, 1e-15)
	near(t, "p", SignedRankP(d), 20.0/512, 1e-15)

	// Student's sleep data: one zero and a tie.
	sleep := []float64{1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4}
	near(t, "p of the sleep data", SignedRankP(sleep), 2.0/512, 0)
}

func TestSmallestP(t *testing.T) {
	for n := 1; n <= 8; n++ {
		d := make([]float64, n)
		for i := range d {
			d[i] = 1 + float64(i)/8
		}
		want := math.Min(1, 2/math.Exp2(float64(n)))
		if got := SignedRankP(d); got != want {
			t.Errorf("smallest signed-rank p of %d is %v, want %v", n, got, want)
		}
		p, adj := SignFlip([][]float64{d}, 1)
		if p[0] != want || adj[0] != want {
			t.Errorf("smallest sign-flip p of %d is %v (adjusted %v), want %v", n, p[0], adj[0], want)
		}
	}
}

func TestMannWhitneyTextbook(t *testing.T) {
	// Permeability of membranes at term and at 12 to 26 weeks: Hollander and
	// Wolfe, 4.1. U is 35, and the one-sided p 0.1272.
	term := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	u, p := MannWhitney(term, early)
	near(t, "U", u, 35, 0)
	near(t, "p", p, 0.2544, 5e-5)
	back, q := MannWhitney(early, term)
	near(t, "U the other way", back, 15, 0)
	near(t, "p the other way", q, p, 1e-15)
	s := Shift(early, term, 0.95)
	near(t, "shift", s.Est, 0.305, 1e-9) // early - term is -0.305 in the book
	near(t, "level", s.Level, 1-2*rankSumCum(5, 10)(8), 1e-15)
	if !(s.Lo < 0 && s.Hi > 0) {
		t.Errorf("the interval %+v leaves zero out at p = %v", s, p)
	}
}

func TestWelchTextbook(t *testing.T) {
	// Student's sleep data, as two groups.
	a := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2}
	b := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	stat, df, p := Welch(a, b)
	near(t, "t", stat, 1.8608, 5e-5)
	near(t, "df", df, 17.776, 5e-4)
	near(t, "p", p, 0.07939, 5e-6)
	stat, df, p = Welch([]float64{0.1, 0.1, 0.1}, []float64{0.1, 0.1})
	if stat != 0 || df != 3 || p != 1 {
		t.Errorf("equal constants: t %v, df %v, p %v", stat, df, p)
	}
	stat, _, p = Welch([]float64{0.3, 0.3, 0.3}, []float64{0.1, 0.1})
	if !math.IsInf(stat, -1) || p != 0 {
		t.Errorf("different constants: t %v, p %v", stat, p)
	}
	if stat, df, p = Welch(a[:1], b); !math.IsNaN(stat) || !math.IsNaN(df) || !math.IsNaN(p) {
		t.Errorf("one value: t %v, df %v, p %v", stat, df, p)
	}
}

func TestHolm(t *testing.T) {
	nan := math.NaN()
	got := Holm([]float64{0.04, nan, 0.01, 0.03, 0.01, 0.9})
	want := []float64{0.09, nan, 0.05, 0.09, 0.05, 0.9}
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 || a != a && b != b }) {
		t.Errorf("Holm = %v, want %v", got, want)
	}
	if got := Holm([]float64{0.6, 0.7}); got[0] != 1 || got[1] != 1 {
		t.Errorf("Holm above 1: %v", got)
	}
	if got := Holm(nil); len(got) != 0 {
		t.Errorf("Holm of nothing = %v", got)
	}
}

func TestNoData(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range [][]float64{nil, {}, {nan, inf, -inf}} {
		for name, got := range map[string]Interval{
			"MedianInterval": MedianInterval(x, 0.95),
			"SignedRank":     SignedRank(x, 0.95),
			"Shift a":        Shift(x, []float64{1}, 0.95),
			"Shift b":        Shift([]float64{1}, x, 0.95),
		} {
			if got.Est == got.Est || got.Lo == got.Lo || got.Hi == got.Hi || got.Level != 0 {
				t.Errorf("%s of %v = %+v", name, x, got)
			}
		}
		u, p := MannWhitney(x, []float64{1})
		for name, got := range map[string]float64{"Median": Median(x), "SignedRankP": SignedRankP(x), "U": u, "p": p} {
			if got == got {
				t.Errorf("%s of %v = %v", name, x, got)
			}
		}
		if got := Needed(x, 0.02, 1, 0.95); got != 0 {
			t.Errorf("Needed of %v = %d", x, got)
		}
	}
	if got := SignedRankP([]float64{0, 0}); got != 1 {
		t.Errorf("SignedRankP of zeros = %v", got)
	}
	if _, p := MannWhitney([]float64{2, 2}, []float64{2, 2, 2}); p != 1 {
		t.Errorf("MannWhitney of equal values: p = %v", p)
	}
}

// Where the exact distributions end the normal approximations must already
// be as good: beside each other at the sizes where they take over.
func TestNormalTakesOver(t *testing.T) {
	ranks := make([]int, signedRankExact+1)
	for i := range ranks {
		ranks[i] = i + 1
	}
	exact, normal := cumulative(signSums(ranks)), signedRankCum(len(ranks))
	for _, k := range []int{7500, 8000, 8500, 9500} {
		near(t, fmt.Sprintf("signed-rank P(T <= %d)", k), normal(k), exact(k), 5e-4)
	}
	d := make([]float64, len(ranks))
	up := 0
	for i, r := range ranks {
		d[i] = float64(r)
		if r%5 < 2 {
			d[i] = -d[i]
			up += r
		}
	}
	near(t, "p of 201", SignedRankP(d), 2*exact(up), 5e-4)

	const na, nb = 39, 39
	if rankSumExact(na, nb) || !rankSumExact(38, 38) || !rankSumExact(3, 600) {
		t.Error("the exact rank sum ends elsewhere than documented")
	}
	pool := make([]int, na+nb)
	a, b := make([]float64, 0, na), make([]float64, 0, nb)
	for i := range pool {
		pool[i] = i + 1
		if (i*7)%13 < 5 && len(a) < na || len(b) == nb {
			a = append(a, float64(i))
		} else {
			b = append(b, float64(i))
		}
	}
	exact, normal = cumulative(subsetSums(pool, na)[na*(na+1)/2:]), rankSumCum(na, nb)
	for _, k := range []int{500, 560, 600, 700} {
		near(t, fmt.Sprintf("P(U <= %d)", k), normal(k), exact(k), 1.2e-3)
	}
	u, p := MannWhitney(a, b)
	near(t, "p of 39 and 39", p, 2*exact(int(min(u, na*nb-u))), 1.2e-3)
}
