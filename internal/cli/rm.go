package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

func newRm() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "rm REF...",
		Short: "Remove runs that are kept",
		Long: `Removes runs with all their trials, at once and for good, and says which. REF
is an id, the first four characters of one or more, or a label, which stands for all its runs. A
run that is still being measured is refused, and one that is a baseline; then
nothing is removed.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("rm takes runs, each an id or a label, got none")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return remove(cmd.Context(), file, args, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&file, "store", "", storeHelp)
	return cmd
}

// minPrefix is how much of an id must be typed to remove a run: a mistyped
// label must not be taken for the beginning of one.
const minPrefix = 4

func remove(ctx context.Context, file string, refs []string, stdout io.Writer) error {
	s, err := openKept(ctx, file)
	if err != nil {
		return err
	}
	defer s.Close()
	var runs []result.Run
	var ids []string
	for _, ref := range refs {
		found, err := s.Find(ctx, ref)
		if id, ok := result.NormalRunID(ref); ok && len(id) == result.RunIDLength && errors.Is(err, store.ErrCorrupt) {
			// Its record can't be read; that is no reason to keep it.
			found, err = []result.Run{{ID: id}}, nil
		}
		if err != nil {
			return storeFailed(err)
		}
		for _, r := range found {
			if r.Label != ref && len(ref) < minPrefix && !strings.HasPrefix(ref, store.BaselineMark) {
				return usageError("rm %s: the beginning of an id must have %d characters or more, since what is removed is gone", ref, minPrefix)
			}
			if !slices.Contains(ids, r.ID) {
				runs, ids = append(runs, r), append(ids, r.ID)
			}
		}
	}
	if err := s.Remove(ctx, ids...); err != nil {
		return storeFailed(err)
	}
	for _, r := range runs {
		name := r.ID
		if r.Label != "" {
			name += fmt.Sprintf(" (%s)", r.Label)
		}
		when := "a time that its damaged record doesn't tell"
		if !r.Start.IsZero() {
			when = r.Start.UTC().Format("2006-01-02 15:04:05 UTC")
		}
		if err := printed(fmt.Fprintf(stdout, "removed %s of %s\n", name, when)); err != nil {
			return err
		}
	}
	return nil
}
