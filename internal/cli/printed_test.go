package cli

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// full is an output that nothing can be written to, as /dev/full is.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A list that can't be written is no wrong command line.
func TestListsThatCannotBeWritten(t *testing.T) {
	for _, args := range []string{"counters", "counters --format json", "tests", "tests tcp_rr --format json", "version", "secret", "lab --list", "doctor --look 100ms"} {
		var stderr strings.Builder
		if status := Run(t.Context(), strings.Fields(args), full{}, &stderr); status != ExitUnmeasured || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%s: status %d, %q", args, status, stderr.String())
		}
		if status := Run(t.Context(), strings.Fields(args), io.Discard, &stderr); status != ExitDone {
			t.Errorf("%s: status %d, %q", args, status, stderr.String())
		}
	}
}
