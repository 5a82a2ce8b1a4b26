package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"netdelta/internal/result"
)

// BaselineMark stands before the name of a baseline where a run is named.
const BaselineMark = "@"

// Baseline is a name that one run has, for others to be compared with.
type Baseline struct {
	Name string
	ID   string // the run's
}

// CheckBaseline reports what keeps a text from being a baseline's name: the
// same as of a label, being empty, and the mark at its beginning.
func CheckBaseline(name string) error {
	if name == "" {
		return errors.New("the name of a baseline is empty")
	}
	if strings.HasPrefix(name, BaselineMark) {
		return fmt.Errorf("the name of a baseline, %q, begins with %s, which only stands before it where a run is named", name, BaselineMark)
	}
	if err := result.CheckLabel(name); err != nil {
		return fmt.Errorf("the name of a baseline: %w", err)
	}
	return nil
}

// resolveBaseline finds the run of a baseline, or else those of a label that
// begins with the mark, which older programs allowed.
func resolveBaseline(ctx context.Context, index Index, name string) ([]result.Run, error) {
	if runs, err := index.ByBaseline(ctx, name); err != nil || len(runs) > 0 {
		return runs, err
	}
	if runs, err := index.ByLabel(ctx, BaselineMark+name); err != nil || len(runs) > 0 {
		return runs, err
	}
	names, err := index.BaselineNames(ctx)
	if err != nil {
		return nil, err
	}
	return nil, NoBaseline(name, names)
}

// NoBaseline is the error for a name that none of the baselines has.
func NoBaseline(name string, names []string) error {
	return &NoBaselineError{Name: name, Near: nearest(name, names, named)}
}

// IsBaseline is the error of removing a run that is a baseline.
func IsBaseline(id, name string) error {
	return fmt.Errorf("run %s: %w, %q: remove that name first (netdelta baseline --remove %[3]q)", id, ErrBaseline, name)
}
