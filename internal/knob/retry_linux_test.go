package knob

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What could not be restored is tried again by the same Holder, and until then
// by whoever looks at the journal: its lock is free.
func TestRestoreIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		other bool // somebody else restores it meanwhile
	}{{"by the holder", false}, {"by somebody else", true}} {
		t.Run(c.name, func(t *testing.T) {
			dir, work := newJournal(t), t.TempDir()
			h := newTestHolder(t, newNS(t), dir)
			ready, log := filepath.Join(work, "ready"), filepath.Join(work, "log")
			s := commandSetting("x", "true", "test -e "+ready+" && echo restored >>"+log, "")
			if _, err := h.Set(t.Context(), local(s)); err != nil {
				t.Fatal(err)
			}
			if err := h.Restore(t.Context()); err == nil || !strings.Contains(err.Error(), "restore") {
				t.Fatalf("a restore that fails: got %v", err)
			}
			if left, err := Pending(dir); err != nil || len(left) != 1 || left[0].Held {
				t.Fatalf("the journal has %+v, %v: want one entry that nobody holds", left, err)
			}
			if err := h.Restore(t.Context()); err == nil {
				t.Error("the second attempt failed as well, and nothing was said")
			}
			if err := os.WriteFile(ready, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if c.other {
				if all, err := Recover(t.Context(), dir); err != nil || len(all) != 1 || all[0].Err != nil {
					t.Fatalf("recovered %+v, %v", all, err)
				}
			}
			if err := h.Restore(t.Context()); err != nil {
				t.Errorf("the attempt that can succeed: %v", err)
			}
			if said, err := os.ReadFile(log); err != nil || string(said) != "restored\n" {
				t.Errorf("restored %q, %v: want it once", said, err)
			}
			if left, err := Pending(dir); err != nil || len(left) != 0 {
				t.Errorf("left %+v, %v", left, err)
			}
		})
	}
}
