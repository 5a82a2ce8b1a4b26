package traffic

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"netdelta/internal/sys"
)

// What several threads failed with is one line, and tells it once.
func TestErrorsOfThreadsAreOneLine(t *testing.T) {
	for want, errs := range map[string][]error{
		"EOF":               {nil, io.EOF, fmt.Errorf("EOF")},
		"EOF; closed; gone": {io.EOF, errors.New("closed"), nil, io.EOF, errors.New("gone"), errors.New("closed")},
	} {
		if err := joined(errs...); err == nil || err.Error() != want || !errors.Is(err, io.EOF) {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if err := joined(nil, nil); err != nil {
		t.Error(err)
	}
	err := crew(&Config{CPU: sys.NoCPU}, 3, func(i int) error { return fmt.Errorf("part %d: %w", i/2, io.EOF) }, func() {})
	if err == nil || err.Error() != "part 0: EOF; part 1: EOF" {
		t.Errorf("three threads: %q", err)
	}
}
