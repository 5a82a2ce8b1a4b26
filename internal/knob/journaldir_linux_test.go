package knob

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
)

// TestNothingChangesWithoutAJournal: where what it is cannot be kept it stays.
func TestNothingChangesWithoutAJournal(t *testing.T) {
	for _, c := range []struct {
		name, want string
		prepare    func(t *testing.T) (dir string)
	}{
		{"writable by others", "others may write", func(t *testing.T) string {
			dir := newJournal(t)
			if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
		{"somebody else's", "belongs to user 12", func(t *testing.T) string {
			dir := newJournal(t)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(dir, 12, -1); err != nil {
				labtest.Skip(t, err)
			}
			return dir
		}},
		{"a file", "not a directory", func(t *testing.T) string {
			dir := newJournal(t)
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
		{"full", "no space left", func(t *testing.T) string { return small(t, unix.MS_NOSUID, fill) }},
		{"read-only", "read-only", func(t *testing.T) string {
			return small(t, unix.MS_NOSUID, func(t *testing.T, dir string) {
				if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
					labtest.Skip(t, err)
				}
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := newNS(t)
			dir := c.prepare(t)
			was := readSysctl(t, ns, ttl)
			h := NewHolder(Config{Journal: dir, NS: ns})
			changes, err := h.Set(t.Context(), local(setting(ttl, "70")))
			if err == nil || len(changes) != 0 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v; want an error with %q", changes, err, c.want)
			}
			if got := readSysctl(t, ns, ttl); got != was {
				t.Errorf("it was changed from %s to %s", was, got)
			}
			if err := h.Restore(t.Context()); err != nil {
				t.Error(err)
			}
			if all, err := Recover(t.Context(), dir); len(all) != 0 {
				t.Errorf("an entry was left: %+v, %v", all, err)
			}
		})
	}
}

// small mounts a file system of one page for the journal.
func small(t *testing.T, flags uintptr, then func(*testing.T, string)) string {
	t.Helper()
	labtest.Need(t, feature.NetNS) // who may make one may mount, too
	dir := newJournal(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, "size=8k,mode=0700"); err != nil {
		labtest.Skip(t, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	then(t, dir)
	return dir
}

func fill(t *testing.T, dir string) {
	err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 1<<14), 0o600)
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the file system did not get full: %v", err)
	}
}

func TestNoJournalIsNothingPending(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	if all, err := Pending(dir); all != nil || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := Recover(t.Context(), dir); all != nil || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made")
	}
}

func TestDefaultJournal(t *testing.T) {
	t.Setenv(journalVar, "")
	t.Setenv("XDG_STATE_HOME", "/xdg")
	t.Setenv("HOME", "/home/one")
	root := os.Geteuid() == 0 && !mapped()
	for _, c := range []struct{ name, xdg, want string }{
		{"state", "/xdg", "/xdg/netdelta/settings"},
		{"home", "", "/home/one/.local/state/netdelta/settings"},
		{"relative", "xdg", "/home/one/.local/state/netdelta/settings"},
	} {
		t.Setenv("XDG_STATE_HOME", c.xdg)
		want := c.want
		if root {
			want = "/var/lib/netdelta/settings"
		}
		if got, err := DefaultJournal(); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, want)
		}
	}
	t.Setenv(journalVar, "/else/where")
	if got, err := DefaultJournal(); err != nil || got != "/else/where" {
		t.Errorf("%s, %v", got, err)
	}
}
