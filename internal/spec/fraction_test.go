package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func twoLevels(k int) ([]Factor, Variant) {
	var factors []Factor
	base := Variant{}
	for i := range k {
		f := Factor{Name: string(rune('a' + i)), Levels: []string{"off", "on"}}
		factors = append(factors, f)
		base[f.Name] = f.Levels[i%2] // any level may be the baseline
	}
	return factors, base
}

// The word lengths are those of the tables of minimum aberration designs (Wu and
// Hamada, Experiments, appendix 5A; Montgomery, table 8.14): the number of words
// of three, four, five ... factors.
func TestFractionsHaveLeastAberration(t *testing.T) {
	for _, c := range []struct {
		k, p int
		want []uint // from three factors on
	}{
		{3, 1, []uint{1}}, {4, 1, []uint{0, 1}}, {5, 1, []uint{0, 0, 1}}, {5, 2, []uint{2, 1}},
		{6, 1, []uint{0, 0, 0, 1}}, {6, 2, []uint{0, 3}}, {6, 3, []uint{4, 3}},
		{7, 2, []uint{0, 1, 2}}, {7, 3, []uint{0, 7}}, {7, 4, []uint{7, 7, 0, 0, 1}},
		{8, 2, []uint{0, 0, 2, 1}}, {8, 3, []uint{0, 3, 4}}, {8, 4, []uint{0, 14, 0, 0, 0, 1}},
		{9, 4, []uint{0, 6, 8, 0, 0, 1}}, {9, 3, []uint{0, 1, 4, 2}}, {10, 3, []uint{0, 0, 3, 3, 1}},
	} {
		words, ok := generators(c.k, c.p)
		if !ok {
			t.Errorf("2^(%d-%d): none", c.k, c.p)
			continue
		}
		got := wordLengths(c.k, words)[3:]
		want := slices.Concat(c.want, make([]uint, max(0, len(got)-len(c.want))))
		// What stands behind the first three lengths depends on the table's choice.
		if !slices.Equal(got[:min(3, len(got))], want[:min(3, len(got))]) {
			t.Errorf("2^(%d-%d): got word lengths %v, want %v", c.k, c.p, got, want)
		}
	}
}

func TestFractionOf(t *testing.T) {
	for k := 3; k <= MaxFractionFactors; k++ {
		factors, base := twoLevels(k)
		for p := 1; k-p >= 2; p++ {
			share := fmt.Sprintf("1/%d", 1<<p)
			chosen, err := FractionOf(factors, base, share)
			if small := 1<<(k-p)-1 < k; small != (err != nil) {
				t.Errorf("%s of %d: %v", share, k, err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), "the smallest is 1/") && k > 2 {
					t.Errorf("%s of %d: %v", share, k, err)
				}
				break
			}
			plan := plan()
			plan.Factors, plan.Baseline, plan.Chosen = factors, base, chosen
			if err := plan.Validate(); err != nil || len(chosen) != 1<<(k-p) {
				t.Fatalf("%s of %d: %d variants, %v", share, k, len(chosen), err)
			}
			for _, f := range factors { // each level equally often
				n := 0
				for _, v := range chosen {
					if v[f.Name] == "on" {
						n++
					}
				}
				if 2*n != len(chosen) {
					t.Errorf("%s of %d: factor %s is on in %d of %d", share, k, f.Name, n, len(chosen))
				}
			}
			for i, f := range factors { // and no two factors together in all
				for _, g := range factors[:i] {
					n := 0
					for _, v := range chosen {
						if v[f.Name] == v[g.Name] {
							n++
						}
					}
					if 2*n != len(chosen) {
						t.Errorf("%s of %d: %s and %s are alike in %d of %d", share, k, f.Name, g.Name, n, len(chosen))
					}
				}
			}
		}
	}
	factors, base := twoLevels(4)
	for _, share := range []string{"", "1", "1/1", "1/3", "1/0", "2/4", "1/-2", "1/02", "1/99999999999", "1/", "0.5", "1/2 "} {
		if _, err := FractionOf(factors, base, share); err == nil || !strings.Contains(err.Error(), "is no fraction") {
			t.Errorf("%q: got %v", share, err)
		}
	}
	factors[0].Levels = append(factors[0].Levels, "auto")
	if _, err := FractionOf(factors, base, "1/2"); err == nil || !strings.Contains(err.Error(), "factor a has 3 levels") {
		t.Errorf("three levels: got %v", err)
	}
	many, base := twoLevels(11)
	if _, err := FractionOf(many, base, "1/2"); err == nil || !strings.Contains(err.Error(), "list the variants") {
		t.Errorf("eleven factors: got %v", err)
	}
}
