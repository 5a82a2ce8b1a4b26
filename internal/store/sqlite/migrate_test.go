package sqlite

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/storetest"
)

// version1 returns a copy of a store that a program of schema version 1 wrote,
// and what is in it: the first line of v1.jsonl is the run, the others are its
// trials.
func version1(t testing.TB) (path string, run result.Run, trials []result.Trial) {
	t.Helper()
	data, err := os.ReadFile("testdata/v1.db")
	must(t, err)
	path = newPath(t)
	must(t, os.WriteFile(path, data, 0o600))
	lines, err := os.Open("testdata/v1.jsonl")
	must(t, err)
	defer lines.Close()
	scan := bufio.NewScanner(lines)
	for scan.Scan() {
		if run.ID == "" {
			run, err = result.DecodeRun(scan.Bytes())
			must(t, err)
			continue
		}
		trial, err := result.Decode(scan.Bytes())
		must(t, err)
		trials = append(trials, trial)
	}
	must(t, scan.Err())
	if len(trials) < 4 {
		t.Fatalf("v1.jsonl has only %d trials", len(trials))
	}
	return path, run, trials
}

// checkVersion1 fails the test unless the store has exactly what version1 says.
func checkVersion1(t testing.TB, s *Store, run result.Run, trials []result.Trial) {
	t.Helper()
	runs, err := s.Runs(t.Context(), store.Filter{})
	must(t, err)
	if d := cmp.Diff([]result.Run{run}, runs, storetest.Same); d != "" {
		t.Errorf("the runs differ:\n%s", d)
	}
	storetest.CheckTrials(t, s, run.ID, trials)
}

func TestVersion1IsRead(t *testing.T) {
	path, run, trials := version1(t)
	s := openAt(t, path)
	checkVersion1(t, s, run, trials)
	more := storetest.Begin(t, s, "more", 0)
	must(t, s.Append(t.Context(), more.ID, trials...))
	storetest.CheckTrials(t, s, more.ID, trials)
}

// A store of version 1 that can only be read is read: it has no baselines.
func TestVersion1IsReadWithoutWriting(t *testing.T) {
	path, run, trials := version1(t)
	s := &Store{path: path, readOnly: store.ErrReadOnly}
	must(t, s.openFor(t.Context(), readOnly, Options{BusyTimeout: time.Second}))
	s.lease = openLease(path, false)
	t.Cleanup(func() { s.Close() })
	checkVersion1(t, s, run, trials)
	if all, err := s.Baselines(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("baselines %v, %v; want none", all, err)
	}
	_, err := s.Find(t.Context(), "@good")
	if none := (*store.NoBaselineError)(nil); !errors.As(err, &none) {
		t.Errorf("got %v, want a NoBaselineError", err)
	}
	if err := s.SetBaseline(t.Context(), "good", run.ID); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
	if version, err := inspect(t.Context(), raw(t, path)); version != 1 || err != nil {
		t.Errorf("reading it left version %d, %v", version, err)
	}
}

// withNext is the real migrations and one more.
func withNext(t testing.TB, statements string) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	real := migrations()
	names, err := fs.Glob(real, "*.sql")
	must(t, err)
	for _, name := range names {
		data, err := fs.ReadFile(real, name)
		must(t, err)
		all[name] = &fstest.MapFile{Data: data}
	}
	all["99999_next.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + statements)}
	return all
}

func TestMigratesForward(t *testing.T) {
	path, run, trials := version1(t)
	next := withNext(t, "ALTER TABLE trial ADD COLUMN extra TEXT NOT NULL DEFAULT 'x';\nCREATE INDEX by_place ON trial (place);")
	db := raw(t, path)
	must(t, migrate(t.Context(), db, next))
	must(t, migrate(t.Context(), db, next)) // nothing left to do
	var n int
	must(t, db.QueryRow("SELECT count(*) FROM trial WHERE extra = 'x'").Scan(&n))
	if version, err := inspect(t.Context(), db); n != len(trials) || version != 99999 || err != nil {
		t.Errorf("%d trials have the new column, and the version is %d, %v", n, version, err)
	}
	must(t, db.Close())

	// An older program refuses it and leaves it alone.
	before, err := os.ReadFile(path)
	must(t, err)
	_, err = Open(t.Context(), path, Options{})
	if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "its schema is version 99999, this program's is 2") {
		t.Errorf("got %v, want ErrNewer with both versions", err)
	}
	after, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("refusing it changed the file")
	}

	db = raw(t, path)
	_, err = db.Exec("DELETE FROM goose_db_version WHERE version_id = 99999")
	must(t, err)
	must(t, db.Close())
	checkVersion1(t, openAt(t, path), run, trials)
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	path, run, trials := version1(t)
	db := raw(t, path)
	err := migrate(t.Context(), db, withNext(t, "DELETE FROM trial;\nALTER TABLE run DROP COLUMN nothing;"))
	if err == nil || !strings.Contains(err.Error(), "migrate from schema version 2 to 99999") {
		t.Errorf("got %v, want an error that names both versions", err)
	}
	must(t, db.Close())
	checkVersion1(t, openAt(t, path), run, trials)
}

func TestMigratedOnceByMany(t *testing.T) {
	path, _, trials := version1(t)
	// Twice this would not fail, but it would be wrong.
	next := withNext(t, "UPDATE trial SET attempt = attempt + 1;")
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		db, err := open(path, readWrite, 10*time.Second, 1)
		must(t, err)
		t.Cleanup(func() { db.Close() })
		all.Go(func() { errs[i] = migrate(t.Context(), db, next) })
	}
	all.Wait()
	must(t, errors.Join(errs...))
	var added, want int
	must(t, raw(t, path).QueryRow("SELECT sum(attempt) FROM trial").Scan(&added))
	for _, x := range trials {
		want += x.Attempt + 1
	}
	if added != want {
		t.Errorf("the attempts sum up to %d, want %d: migrated once", added, want)
	}
}

func TestNewStoreByMany(t *testing.T) {
	path := newPath(t)
	const n = 8
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() {
			s, err := Open(t.Context(), path, Options{})
			if err == nil {
				err = errors.Join(s.Begin(t.Context(), storetest.NewRun("many", i)), s.Close())
			}
			errs[i] = err
		})
	}
	all.Wait()
	must(t, errors.Join(errs...))
	if runs, err := openAt(t, path).Find(t.Context(), "many"); err != nil || len(runs) != n {
		t.Errorf("%d runs, %v; want %d", len(runs), err, n)
	}
}

func TestSettings(t *testing.T) {
	s := openAt(t, newPath(t))
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "page_size": "8192", "auto_vacuum": "2",
		"application_id": "1852075124",
	} {
		var got string
		must(t, s.write.QueryRow("PRAGMA "+pragma).Scan(&got))
		if got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
	var tables, strict int
	must(t, s.read.QueryRow(`SELECT count(*), sum(strict) FROM pragma_table_list
		WHERE type = 'table' AND schema = 'main' AND name IN ('run', 'series', 'trial')`).Scan(&tables, &strict))
	if tables != 3 || strict != 3 {
		t.Errorf("%d of %d tables are strict", strict, tables)
	}
}
