package compare

import (
	"math/rand/v2"
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// What is said of several tests beside is said once, of the first of them by name.
func TestBesideWarningsAreFolded(t *testing.T) {
	tests, err := spec.ParseTests("wake at=same,wake at=other,wake by=pipe at=same,wake by=pipe at=other,wake by=cond at=same", nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		spoiled int // tests of which it is said, in two of three trials
		want    string
	}{
		{1, "wake at=same, 2 of 3 trials: busy for 9%"},
		{2, "wake at=same and wake at=other, 4 of 6 trials, such as: busy for 9%"},
		{3, "wake at=same, wake at=other and wake pipe at=same, 6 of 9 trials, such as: busy for 9%"},
		{5, "wake at=same, wake at=other, wake pipe at=same and 2 more, 10 of 15 trials, such as: busy for 9%"},
	} {
		var trials []result.Trial
		for i, test := range tests {
			for b := range 3 {
				x := wakeTrial(test, b, len(trials), 1, 4000, rng)
				if i < c.spoiled && b > 0 {
					text := []string{"busy for 9%", "busy for 12%"}[min(i, 1)]
					x.Warnings = []result.Warning{{Code: "busy-before", Text: text, Advice: "stop it"}}
				}
				trials = append(trials, x)
			}
		}
		_, warnings := besideOf(&spec.Plan{Beside: tests}, trials)
		if len(warnings) != 1 || warnings[0].Text != c.want || warnings[0].Code != "busy-before" || warnings[0].Advice != "stop it" {
			t.Errorf("%+v, want %s", warnings, c.want)
		}
	}
}
