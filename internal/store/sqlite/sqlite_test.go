package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/storetest"
)

// openAt opens the store at path and closes it when the test ends.
func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "s.db") }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return openAt(t, newPath(t)) })
}

func TestKeptAfterClose(t *testing.T) {
	path := newPath(t)
	s := openAt(t, path)
	run := storetest.Begin(t, s, "old", 0)
	must(t, s.Append(t.Context(), run.ID, storetest.NewTrials(0, 100)...))
	run.State, run.End = result.Complete, run.Start.Add(time.Minute)
	must(t, s.Finish(t.Context(), run.ID, run.State, run.End, nil))
	must(t, s.Close())
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the last close there still is a log (%v): the file alone is not all", err)
	}

	s = openAt(t, path)
	runs, err := s.Find(t.Context(), "old")
	must(t, err)
	if d := cmp.Diff([]result.Run{run}, runs, storetest.Same); d != "" {
		t.Errorf("the run differs:\n%s", d)
	}
	storetest.CheckTrials(t, s, run.ID, storetest.NewTrials(0, 100))
}

func TestOnlyTheUserMayReadIt(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("XDG_DATA_HOME", data)
	if s, err := Open(t.Context(), "", Options{MustExist: true}); !errors.Is(err, store.ErrMissing) {
		t.Fatalf("opened %v, %v; want ErrMissing", s, err)
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("looking for a store made a directory (%v)", err)
	}
	s := openAt(t, "")
	storetest.Begin(t, s, "old", 0)
	want := filepath.Join(data, "netdelta", "netdelta.db")
	if s.Path() != want {
		t.Errorf("the store is at %s, want %s", s.Path(), want)
	}
	seen := 0
	must(t, filepath.WalkDir(data, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := os.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		if info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, want %v", name, info.Mode().Perm(), mode)
		}
		seen++
		return nil
	}))
	if seen < 4 {
		t.Errorf("only %d files and directories there", seen)
	}
}

func TestPathsThatAURLWouldGarble(t *testing.T) {
	for _, name := range []string{"a b.db", "a?mode=memory.db", "a#b.db", "100%25.db", "ü.db", "a&b=c.db", "file:x.db"} {
		path := filepath.Join(t.TempDir(), name)
		s := openAt(t, path)
		run := storetest.Begin(t, s, "old", 0)
		must(t, s.Close())
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := openAt(t, path).Find(t.Context(), run.ID); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Chdir(t.TempDir())
	s := openAt(t, "relative.db")
	if !filepath.IsAbs(s.Path()) {
		t.Errorf("%s is not absolute", s.Path())
	}
}

func TestBusy(t *testing.T) {
	path := newPath(t)
	openAt(t, path)
	s, err := Open(t.Context(), path, Options{BusyTimeout: 30 * time.Millisecond})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	run := storetest.Begin(t, s, "old", 0)

	other := raw(t, path)
	lock, err := other.Begin() // immediate, by the settings
	must(t, err)
	began := time.Now()
	err = s.Append(t.Context(), run.ID, storetest.NewTrial(0))
	if !errors.Is(err, store.ErrBusy) || !strings.Contains(err.Error(), "locked by another process") {
		t.Errorf("got %v, want ErrBusy", err)
	}
	if waited := time.Since(began); waited < 20*time.Millisecond {
		t.Errorf("it gave up after %v, before its time", waited)
	}
	if runs, err := s.Runs(t.Context(), store.Filter{}); err != nil || len(runs) != 1 {
		t.Errorf("reading waits for a writer: %v, %v", runs, err)
	}
	must(t, lock.Rollback())
	must(t, s.Append(t.Context(), run.ID, storetest.NewTrial(0)))
	storetest.CheckTrials(t, s, run.ID, storetest.NewTrials(0, 1))
}

// raw is the file without this package's care.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := open(path, readWrite, time.Second, 1)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestSpoiledRecordIsToldAndSkipped(t *testing.T) {
	path := newPath(t)
	s := openAt(t, path)
	run := storetest.Begin(t, s, "old", 0)
	trials := storetest.NewTrials(0, 300)
	must(t, s.Append(t.Context(), run.ID, trials...))
	// One digit of one figure: still a record, and one that would be believed.
	res, err := raw(t, path).Exec(`UPDATE trial SET record = replace(record, '"messages":5200', '"messages":5201') WHERE place = 200`)
	must(t, err)
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%d rows changed, %v", n, err)
	}
	var got []result.Trial
	bad := 0
	for trial, err := range s.Trials(t.Context(), run.ID) {
		if err != nil {
			bad++
			if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "record 201") {
				t.Errorf("got %v, want ErrCorrupt with the record's number", err)
			}
			if trial.Schema != "" {
				t.Errorf("a spoiled record gave the figures of %+v", trial)
			}
			continue
		}
		got = append(got, trial)
	}
	if d := cmp.Diff(append(trials[:200:200], trials[201:]...), got, storetest.Same); bad != 1 || d != "" {
		t.Errorf("%d bad records, and the others differ:\n%s", bad, d)
	}

	_, err = raw(t, path).Exec(`UPDATE run SET record = replace(record, 'v1.2.3', 'v1.2.4')`)
	must(t, err)
	if _, err := s.Find(t.Context(), run.ID); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
	// A list shows it all the same.
	runs, err := s.Runs(t.Context(), store.Filter{})
	must(t, err)
	if len(runs) != 1 || runs[0].ID != run.ID || runs[0].Label != run.Label || runs[0].State != result.Failed {
		t.Errorf("listed as %+v", runs)
	}
	must(t, s.Close())
	s = openAt(t, path)
	if leasesWork {
		must(t, s.Remove(t.Context(), run.ID)) // even so
	}
}

func TestRemoveGivesSpaceBack(t *testing.T) {
	path := newPath(t)
	s := openAt(t, path)
	var last result.Run
	for i := range 4 {
		last = storetest.Begin(t, s, fmt.Sprint(i), i)
		must(t, s.Append(t.Context(), last.ID, storetest.NewTrials(0, 500)...))
		must(t, s.Finish(t.Context(), last.ID, result.Complete, last.Start, nil))
	}
	size := func() int64 {
		t.Helper()
		if _, err := raw(t, path).Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		must(t, err)
		return st.Size()
	}
	before := size()
	runs, err := s.Runs(t.Context(), store.Filter{})
	must(t, err)
	for _, r := range runs[1:] {
		must(t, s.Remove(t.Context(), r.ID))
	}
	if after := size(); after > before/2 {
		t.Errorf("with three of four runs removed the file has %d bytes, before %d", after, before)
	}
	storetest.CheckTrials(t, s, last.ID, storetest.NewTrials(0, 500))
	for table, want := range map[string]int{"run": 1, "series": 4, "trial": 500} {
		var n int
		must(t, raw(t, path).QueryRow("SELECT count(*) FROM "+table).Scan(&n))
		if n != want {
			t.Errorf("%d rows left in %s, want %d", n, table, want)
		}
	}
}

func TestCutOffRun(t *testing.T) {
	if !leasesWork {
		t.Skip("this system does not tell")
	}
	path := newPath(t)
	mine, other := openAt(t, path), openAt(t, path)
	run := storetest.Begin(t, mine, "old", 0)
	must(t, mine.Append(t.Context(), run.ID, storetest.NewTrial(0)))
	state := func(s *Store) result.State {
		t.Helper()
		got, err := store.Latest(t.Context(), s, run.ID)
		must(t, err)
		if cut := len(got.Warnings) > 0 && got.Warnings[len(got.Warnings)-1] == store.CutOff(); cut != (got.State == result.Partial) {
			t.Errorf("a run that is %s has the warnings %v", got.State, got.Warnings)
		}
		return got.State
	}
	if a, b := state(mine), state(other); a != result.Running || b != result.Running {
		t.Errorf("while it is measured, the run reads as %s here and %s elsewhere", a, b)
	}
	if err := other.Remove(t.Context(), run.ID); !errors.Is(err, store.ErrRunning) {
		t.Errorf("removed while it is measured elsewhere: %v", err)
	}
	must(t, mine.Close())
	if got := state(other); got != result.Partial {
		t.Errorf("after its store was closed, the run reads as %s", got)
	}
	storetest.CheckTrials(t, other, run.ID, storetest.NewTrials(0, 1))
	must(t, other.Remove(t.Context(), run.ID))
}

func TestPlansUseIndexes(t *testing.T) {
	db := openAt(t, newPath(t)).read
	for _, c := range []struct{ query, want string }{
		{"SELECT record, sum FROM trial WHERE run = 1 ORDER BY key", "USING INDEX trial_by_run"},
		{"SELECT " + runColumns + " FROM run WHERE label = 'x' ORDER BY started DESC, key DESC", "USING INDEX run_by_label"},
		{"SELECT " + runColumns + " FROM run WHERE true ORDER BY started DESC, key DESC LIMIT 9", "USING INDEX run_by_start"},
		{"SELECT " + runColumns + " FROM run WHERE id >= 'a' AND id < 'a{' ", "USING INDEX sqlite_autoindex_run_1"},
		{"SELECT test, variant, trials FROM series WHERE run = 1", "USING INDEX sqlite_autoindex_series_1"},
	} {
		rows, err := db.Query("EXPLAIN QUERY PLAN " + c.query)
		must(t, err)
		var plan []string
		for rows.Next() {
			var a, b, d int
			var text string
			must(t, rows.Scan(&a, &b, &d, &text))
			plan = append(plan, text)
		}
		must(t, rows.Err())
		if text := strings.Join(plan, "; "); !strings.Contains(text, c.want) || strings.Contains(text, "TEMP B-TREE") && strings.Contains(c.query, "trial") {
			t.Errorf("%s: the plan is %s, want one %s", c.query, text, c.want)
		}
	}
}
