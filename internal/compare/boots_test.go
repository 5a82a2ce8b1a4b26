package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"netdelta/internal/result"
)

// onBoot makes a run one that stands for a boot of both ends.
func onBoot(k Kept, boot string) Kept {
	k.Run.PerBoot = true
	k.Run.Environments = []result.Environment{
		{End: result.Local, Facts: []Fact{{Name: result.FactBoot, Value: "local"}}},
		{End: result.Remote, Facts: []Fact{{Name: result.FactBoot, Value: boot}}},
	}
	return k
}

// booted makes one run on each of n boots.
func (b *boots) booted(n int, label string, trials int, effect float64) []Kept {
	all := b.runs(n, label, trials, effect)
	for i := range all {
		all[i] = onBoot(all[i], fmt.Sprintf("%s %d", label, i))
	}
	return all
}

// With what differs from boot to boot as large as here, nothing being changed, a
// row's own p is below 5% in about 5% of the reports with boots as the unit, and in
// some two fifths with trials as the unit. The seeds are fixed; the bound is four
// standard deviations above 5%.
func TestFalseAlarmsBetweenBoots(t *testing.T) {
	const reports, most = 200, 22
	for _, c := range []struct {
		boots int
		boot  float64
	}{{3, 0.03}, {3, 0.1}, {5, 0.03}} {
		t.Run(fmt.Sprintf("%d boots, %g", c.boots, c.boot), func(t *testing.T) {
			t.Parallel()
			var rows, families [2]int
			for i := range reports {
				b := newBoots(t, uint64(5000+i), "tcp_stream")
				b.noise, b.boot = 0.01, c.boot
				old, new := b.booted(c.boots, "old", 4, 1), b.booted(c.boots, "new", 4, 1)
				for unit, want := range []Pairing{ByBoot, Unpaired} {
					for _, side := range [][]Kept{old, new} {
						for i := range side {
							side[i].Run.PerBoot = want == ByBoot
						}
					}
					r := compareRuns(t, old, new, RunsOptions{})
					if r.Pairing != want {
						t.Fatalf("pairing %s, want %s", r.Pairing, want)
					}
					if *find(t, r.Comparisons, "new", "tcp_stream", "goodput").P < 0.05 {
						rows[unit]++
					}
					if alarmed(&r) {
						families[unit]++
					}
				}
			}
			percent := func(n int) float64 { return 100 * float64(n) / reports }
			t.Logf("%d boots of 4 trials a side, %.0f%% from boot to boot and 1%% within: goodput's own p below 5%% in %.1f%% by boot and %.1f%% by trial, false alarms in %.1f%% and %.1f%% of the reports",
				c.boots, 100*c.boot, percent(rows[0]), percent(rows[1]), percent(families[0]), percent(families[1]))
			if rows[0] > most || rows[0] == 0 || families[0] > most {
				t.Errorf("by boot, %d rows and %d reports of %d cry a difference between boots that are alike; at most %d, and some rows, are right", rows[0], families[0], reports, most)
			}
			if rows[1] < reports/4 || families[1] < reports/5 {
				t.Errorf("by trial, only %d rows and %d reports of %d: this does not show what boots are for", rows[1], families[1], reports)
			}
		})
	}
}

// A change beyond what boots differ by is found.
func TestTrueChangesAreFoundBetweenBoots(t *testing.T) {
	const reports = 100
	found := 0
	for i := range reports {
		b := newBoots(t, uint64(6000+i), "tcp_stream")
		b.noise, b.boot = 0.01, 0.02
		r := compareRuns(t, b.booted(4, "old", 6, 1), b.booted(4, "new", 6, 1.3), RunsOptions{})
		switch c := find(t, r.Comparisons, "new", "tcp_stream", "goodput"); c.Verdict {
		case Better:
			found++
		case Worse, Same:
			t.Errorf("30%% more is called %s: %s", c.Verdict, c.Change(1))
		}
	}
	if t.Logf("found in %d of %d", found, reports); found < reports*8/10 {
		t.Errorf("30%% more goodput is found in %d of %d reports", found, reports)
	}
}

// By hand: boots' medians of goodput are 100, 110, 121 against 200, 220, 242;
// the first old boot is of two runs, whose trials are put together.
func TestBootsByHand(t *testing.T) {
	none := []int64{0, 0, 0}
	made := uint64(0)
	run := func(label, boot string, mbits ...int64) Kept {
		made++
		return onBoot(streamed(t, made, label, 2e9, mbits, none[:len(mbits)]), boot)
	}
	old := []Kept{run("old", "1", 90, 100), run("old", "1", 120), run("old", "2", 110, 110, 500), run("old", "3", 121)}
	new := []Kept{run("new", "4", 200), run("new", "5", 100, 220, 300), run("new", "6", 242)}
	r := compareRuns(t, old, new, RunsOptions{})
	c := find(t, r.Comparisons, "new", "tcp_stream", "goodput")
	if r.Pairing != ByBoot || r.BootsA != 3 || r.BootsB != 3 || c.NA != 3 || c.NB != 3 || c.Spread != nil || hasCode(r.Warnings, "too-few-boots") {
		t.Fatalf("%s of %d and %d boots, n %d and %d: %+v", r.Pairing, r.BootsA, r.BootsB, c.NA, c.NB, r.Warnings)
	}
	// Both sides have steps of ln 1.1: a variance of that squared, 4 df, t = ln 2 /
	// (ln 1.1 * sqrt(2/3)), and the quantile of t at 97.5% is 2.776.
	half := 2.776445 * math.Log(1.1) * math.Sqrt(2./3)
	for what, pair := range map[string][2]float64{
		"delta": {*c.DeltaPct, 100}, "lo": {*c.LoPct, 100 * (2*math.Exp(-half) - 1)}, "hi": {*c.HiPct, 100 * (2*math.Exp(half) - 1)},
		"median": {*c.A.Median, 110e6},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-3*math.Abs(pair[1]) {
			t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
		}
	}
	if c.Verdict != Better || *c.PAdj >= 0.05 || c.Confidence != 0.95 {
		t.Errorf("%s with p_adj %v", c.Verdict, *c.PAdj)
	}
	if a := r.Answer()[0]; !strings.Contains(a, "goodput +100%") {
		t.Error(a)
	}
}

func TestTooFewBoots(t *testing.T) {
	b := newBoots(t, 7, "tcp_stream")
	b.noise = 0.01
	plain := b.runs(1, "old", 6, 1)
	unknown := b.booted(1, "old", 6, 1)
	unknown[0].Run.Environments = nil
	same := append(b.booted(2, "new", 6, 1), onBoot(b.run("new", 6, 1), "new 1"))
	for _, c := range []struct {
		name     string
		old, new []Kept
		want     []string
	}{
		{"two of one side", b.booted(2, "old", 6, 1), b.booted(3, "new", 6, 1), []string{"2 boots of old and 3 of new", "trials are compared instead", "1 more of old,"}},
		{"one of each", b.booted(1, "old", 6, 1), b.booted(1, "new", 6, 1), []string{"1 boot of old and 1 of new", "2 more of old and 2 more of new,"}},
		{"a boot twice", b.booted(3, "old", 6, 1), same, []string{"3 boots of old and 2 of new", "1 more of new,"}},
		{"one run of no boot", append(plain, b.booted(3, "old", 6, 1)...), b.booted(3, "new", 6, 1), []string{"one run stands for no boot (" + plain[0].Run.ID + ")"}},
		{"a boot that is not known", append(unknown, b.booted(3, "old", 6, 1)...), b.booted(3, "new", 6, 1), []string{"the boot of 1 run is not known (" + unknown[0].Run.ID + ")"}},
		{"no run of a boot", plain, b.runs(1, "new", 6, 1), nil},
	} {
		r := compareRuns(t, c.old, c.new, RunsOptions{})
		if r.Pairing != Unpaired || r.BootsA != 0 {
			t.Errorf("%s: pairing %s", c.name, r.Pairing)
		}
		var told string
		for _, w := range r.Warnings {
			if w.Code == "too-few-boots" {
				told += w.Text + ": " + w.Advice
			}
		}
		for _, want := range c.want {
			if !strings.Contains(told, want) {
				t.Errorf("%s: %q has no %q", c.name, told, want)
			}
		}
		if c.want == nil && told != "" {
			t.Errorf("%s: %q", c.name, told)
		}
	}
}
