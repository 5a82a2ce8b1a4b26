package cli

import (
	"context"
	"errors"

	"netdelta/internal/store"
	"netdelta/internal/store/sqlite"
)

// storeHelp is the help of --store, the same in every command.
const storeHelp = "file in which runs are kept (default: netdelta/netdelta.db in the user's data directory)"

// openKept opens the store of a command that only makes sense with what is
// kept in it.
func openKept(ctx context.Context, path string) (*sqlite.Store, error) {
	s, err := sqlite.Open(ctx, path, sqlite.Options{MustExist: true})
	if err != nil {
		return nil, storeFailed(err)
	}
	return s, nil
}

// storeFailed gives an error of a store its exit status: a name or a file
// that the user gave is the command line's fault, anything else the store's.
func storeFailed(err error) error {
	for _, usage := range []error{store.ErrNotFound, store.ErrAmbiguous, store.ErrMissing, store.ErrNotStore, store.ErrRunning, store.ErrBaseline} {
		if errors.Is(err, usage) {
			return &exitError{ExitUsage, err}
		}
	}
	if errors.Is(err, context.Canceled) {
		return &exitError{ExitInterrupted, errors.New("interrupted")}
	}
	return &exitError{ExitUnmeasured, err}
}
