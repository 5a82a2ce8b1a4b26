package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What dead processes have left is looked at before a run, and told in a line.
func TestRecoverFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	t.Setenv("NETDELTA_JOURNAL", dir)
	said := func() string {
		var b bytes.Buffer
		recoverFirst(t.Context(), &b)
		return b.String()
	}
	if got := said(); got != "" {
		t.Errorf("without a journal: %q", got)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := said(); got != "" {
		t.Errorf("of an empty journal: %q", got)
	}
	torn := filepath.Join(dir, "torn.json")
	if err := os.WriteFile(torn, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := said(); strings.Count(got, "\n") != 1 || !strings.Contains(got, dir) || !strings.Contains(got, "FAILED") {
		t.Errorf("of a torn record: %q", got)
	}
	t.Setenv("NETDELTA_JOURNAL", torn)
	if got := said(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "restore what "+torn) {
		t.Errorf("of a journal that is a file: %q", got)
	}
}
