package hosts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdelta/internal/agent"
)

// What an earlier run has left is looked at before the hosts are connected, and
// told in a line.
func TestConnectRecovers(t *testing.T) {
	port := served(t, agent.Config{Name: "far"})
	if p := connect(t, insecure("127.0.0.1:"+port)); len(p.Recovered) > 0 {
		t.Errorf("told %q of an empty journal", p.Recovered)
	}
	journal := os.Getenv("NETDELTA_JOURNAL")
	if err := os.Chmod(journal, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(journal, "torn.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := Recover(t.Context())
	if len(got) != 1 || !strings.Contains(got[0], journal) || strings.Contains(got[0], "\n") {
		t.Errorf("told %q", got)
	}
	t.Setenv("NETDELTA_JOURNAL", filepath.Join(journal, "torn.json"))
	if got := Recover(t.Context()); len(got) != 1 || !strings.Contains(got[0], "could not be looked for") {
		t.Errorf("told %q of a journal that is a file", got)
	}
}
