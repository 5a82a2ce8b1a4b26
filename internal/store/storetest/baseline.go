package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// finished makes a run that has ended.
func finished(t *testing.T, s store.Store, label string, minutes int) result.Run {
	t.Helper()
	run := Begin(t, s, label, minutes)
	must(t, s.Append(t.Context(), run.ID, NewTrial(0)))
	run.State, run.End = result.Complete, run.Start
	must(t, s.Finish(t.Context(), run.ID, run.State, run.End, nil))
	return run
}

// checkBaselines fails the test unless those are all, as NAME ID.
func checkBaselines(t *testing.T, s store.Store, want ...store.Baseline) {
	t.Helper()
	got, err := s.Baselines(t.Context())
	must(t, err)
	if d := cmp.Diff(want, got, Same); d != "" {
		t.Errorf("the baselines differ (-want +got):\n%s", d)
	}
	for _, b := range want {
		runs, err := s.Find(t.Context(), "@"+b.Name)
		if err != nil || len(runs) != 1 || runs[0].ID != b.ID {
			t.Errorf("@%s is %d runs, %v; want %s", b.Name, len(runs), err, b.ID)
		}
	}
}

func baselines(t *testing.T, s store.Store) {
	checkBaselines(t, s)
	a, b := finished(t, s, "a", 0), finished(t, s, "a", 1)
	must(t, s.SetBaseline(t.Context(), "good", a.ID))
	must(t, s.SetBaseline(t.Context(), "a", b.ID)) // a label is no obstacle
	must(t, s.SetBaseline(t.Context(), "as it was, ü", a.ID))
	checkBaselines(t, s, store.Baseline{Name: "a", ID: b.ID}, store.Baseline{Name: "as it was, ü", ID: a.ID}, store.Baseline{Name: "good", ID: a.ID})
	if runs, err := s.Find(t.Context(), "a"); err != nil || len(runs) != 2 {
		t.Errorf("the label a is %d runs, %v; want both", len(runs), err)
	}

	must(t, s.SetBaseline(t.Context(), "good", b.ID)) // moves
	must(t, s.SetBaseline(t.Context(), "good", b.ID)) // again is no error
	must(t, s.RemoveBaseline(t.Context(), "as it was, ü"))
	checkBaselines(t, s, store.Baseline{Name: "a", ID: b.ID}, store.Baseline{Name: "good", ID: b.ID})
	checkRun(t, s, a)

	_, err := s.Find(t.Context(), "@goood")
	wantErr(t, err, store.ErrNotFound)
	if none := (*store.NoBaselineError)(nil); !errors.As(err, &none) || len(none.Near) != 1 || none.Near[0] != "good" {
		t.Errorf("%v does not name the baseline that is near", err)
	}
	odd := finished(t, s, "@odd", 2)
	if runs, err := s.Find(t.Context(), "@odd"); err != nil || len(runs) != 1 || runs[0].ID != odd.ID {
		t.Errorf("a label that begins with the mark is %d runs, %v", len(runs), err)
	}
	must(t, s.SetBaseline(t.Context(), "odd", a.ID))
	checkBaselines(t, s, store.Baseline{Name: "a", ID: b.ID}, store.Baseline{Name: "good", ID: b.ID}, store.Baseline{Name: "odd", ID: a.ID})
}

func baselineStays(t *testing.T, s store.Store) {
	a, b := finished(t, s, "a", 0), finished(t, s, "b", 1)
	must(t, s.SetBaseline(t.Context(), "good", a.ID))
	err := s.Remove(t.Context(), b.ID, a.ID)
	wantErr(t, err, store.ErrBaseline)
	if !strings.Contains(err.Error(), `baseline --remove "good"`) {
		t.Errorf("%v does not say which baseline, and what to do", err)
	}
	checkRun(t, s, a)
	checkRun(t, s, b)
	CheckTrials(t, s, a.ID, NewTrials(0, 1))
	must(t, s.RemoveBaseline(t.Context(), "good"))
	must(t, s.Remove(t.Context(), b.ID, a.ID))
	checkBaselines(t, s)
}

func baselinesRefused(t *testing.T, s store.Store) {
	run := finished(t, s, "a", 0)
	for _, name := range []string{"", "@good", " good", "two\nlines", strings.Repeat("x", result.MaxLabel+1), "\xff"} {
		if err := s.SetBaseline(t.Context(), name, run.ID); err == nil {
			t.Errorf("a baseline called %q was taken", name)
		}
	}
	wantErr(t, s.SetBaseline(t.Context(), "good", Begin(t, s, "a", 1).ID), store.ErrRunning)
	checkBaselines(t, s)
}
