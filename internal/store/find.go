package store

import (
	"context"
	"strings"

	"netdelta/internal/result"
)

// Index is how a backend looks runs up; Resolve makes Find of it. The ids
// that it is asked for are in the form that result.NormalRunID gives.
type Index interface {
	// ByIDPrefix returns at most limit runs whose id begins so.
	ByIDPrefix(ctx context.Context, prefix string, limit int) ([]result.Run, error)
	// ByLabel returns the runs of that label, newest first.
	ByLabel(ctx context.Context, label string) ([]result.Run, error)
	// ByBaseline returns the run that is the baseline of that name, if there is
	// one.
	ByBaseline(ctx context.Context, name string) ([]result.Run, error)
	// BaselineNames returns the names of all baselines.
	BaselineNames(ctx context.Context) ([]string, error)
	// Labels returns every label that a run has, once.
	Labels(ctx context.Context) ([]string, error)
}

// named is how many ids or labels an error names at most.
const named = 3

// Resolve finds the runs that a user means by ref; see Store.Find. A whole id
// comes before a label and a label before the beginning of an id, so that a
// script that names ids means the same run for ever. A baseline's mark is in no
// id, and comes before labels that begin so.
func Resolve(ctx context.Context, index Index, ref string) ([]result.Run, error) {
	if name, ok := strings.CutPrefix(ref, BaselineMark); ok {
		return resolveBaseline(ctx, index, name)
	}
	id, mayBeID := result.NormalRunID(ref)
	if mayBeID && len(id) == result.RunIDLength {
		if runs, err := index.ByIDPrefix(ctx, id, 1); err != nil || len(runs) > 0 {
			return runs, err
		}
	}
	if ref != "" {
		if runs, err := index.ByLabel(ctx, ref); err != nil || len(runs) > 0 {
			return runs, err
		}
	}
	if mayBeID && len(id) < result.RunIDLength {
		runs, err := index.ByIDPrefix(ctx, id, named)
		if err != nil {
			return nil, err
		}
		switch {
		case len(runs) == 1:
			return runs, nil
		case len(runs) > 1:
			ids := make([]string, len(runs))
			for i, r := range runs {
				ids[i] = r.ID
			}
			return nil, &AmbiguousError{Ref: ref, IDs: ids}
		}
	}
	labels, err := index.Labels(ctx)
	if err != nil {
		return nil, err
	}
	return nil, &NotFoundError{Ref: ref, Near: nearest(ref, labels, named)}
}
