package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	driver "modernc.org/sqlite"

	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/storetest"
)

func TestWhatIsNoStore(t *testing.T) {
	good, _, _ := version1(t)
	v1, err := os.ReadFile(good)
	must(t, err)
	for _, c := range []struct {
		name  string
		make  func(t *testing.T, path string)
		want  error
		text  string
		below bool // in a directory that is not there
	}{
		{"a directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) },
			store.ErrNotStore, "a directory", false},
		{"a text", file("block,rtt_p50\n1,20000\n"), store.ErrNotStore, "give another file with --store", false},
		{"two bytes", file("xy"), store.ErrNotStore, "not a database", false},
		{"zeros", file(strings.Repeat("\x00", 1<<16)), store.ErrNotStore, "not a database", false},
		{"a page of something else", file(strings.Repeat("text ", 1<<14)), store.ErrNotStore, "not a database", false},
		{"a header alone", file(string(v1[:100])), store.ErrCorrupt, "malformed", false},
		{"a page too short", file(string(v1[:len(v1)-8192])), store.ErrCorrupt, "malformed", false},
		{"half of it", file(string(v1[:len(v1)/2])), store.ErrCorrupt, "keep a copy", false},
		{"a spoiled first page", file(string(v1[:100]) + strings.Repeat("x", 8092) + string(v1[8192:])), store.ErrCorrupt, "malformed", false},
		{"another program's database", foreign("CREATE TABLE bookmark (url TEXT)"), store.ErrNotStore, "another program", false},
		{"another program's empty database", foreign("PRAGMA application_id = 252006674"), store.ErrNotStore, "another program", false},
		{"another program's with migrations", foreign("CREATE TABLE goose_db_version (version_id, is_applied); CREATE TABLE user (name)"),
			store.ErrNotStore, "another program", false},
		{"no directory", func(*testing.T, string) {}, store.ErrMissing, "no such file or directory", true},
		{"a directory that is a file", func(t *testing.T, path string) { file("x")(t, filepath.Dir(path)) },
			store.ErrNotStore, "not a directory", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := newPath(t)
			if c.below {
				path = filepath.Join(t.TempDir(), "d", "s.db")
			}
			c.make(t, path)
			before, _ := os.ReadFile(path)
			s, err := Open(t.Context(), path, Options{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("opened %v, %v; want %v with %q", s, err, c.want, c.text)
			}
			if strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), path) {
				t.Errorf("the error is not one line that names the file: %v", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func file(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte(text), 0o600)) }
}

func foreign(statements string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		c, err := driver.NewConnector(path)
		must(t, err)
		db := sql.OpenDB(c)
		_, err = db.Exec(statements)
		must(t, errors.Join(err, db.Close()))
	}
}

func TestMustExist(t *testing.T) {
	path := newPath(t)
	if s, err := Open(t.Context(), path, Options{MustExist: true}); !errors.Is(err, store.ErrMissing) {
		t.Errorf("opened %v, %v; want ErrMissing", s, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := Open(ctx, newPath(t), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("opened %v, %v; want Canceled", s, err)
	}
}

func TestFullByPages(t *testing.T) {
	path := newPath(t)
	s := openAt(t, path)
	run := storetest.Begin(t, s, "old", 0)
	must(t, s.Append(t.Context(), run.ID, storetest.NewTrials(0, 10)...))
	var pages int
	must(t, s.write.QueryRow("PRAGMA page_count").Scan(&pages))
	limit := func(n int) {
		t.Helper()
		_, err := s.write.Exec("PRAGMA max_page_count = " + strconv.Itoa(n))
		must(t, err)
	}
	limit(pages + 2)
	err := s.Append(t.Context(), run.ID, storetest.NewTrials(10, 200)...)
	if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "free some space") {
		t.Fatalf("got %v, want ErrFull", err)
	}
	storetest.CheckTrials(t, s, run.ID, storetest.NewTrials(0, 10))
	limit(1 << 30)
	must(t, s.Append(t.Context(), run.ID, storetest.NewTrials(10, 200)...))
	storetest.CheckTrials(t, s, run.ID, storetest.NewTrials(0, 200))
}

// TestSpoiledFile turns bytes of a store's file at random. Whatever is still
// read from it must be what was written, and the rest an error.
func TestSpoiledFile(t *testing.T) {
	_, run, trials := version1(t)
	v1, err := os.ReadFile("testdata/v1.db")
	must(t, err)
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	bad := 0
	for n := range rounds {
		data := bytes.Clone(v1)
		for range 1 + r.IntN(40) {
			data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
		}
		path := filepath.Join(dir, strconv.Itoa(n)+".db")
		must(t, os.WriteFile(path, data, 0o600))
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			bad++
			continue
		}
		if runs, err := s.Runs(t.Context(), store.Filter{}); err != nil {
			bad++
		} else if len(runs) == 1 && len(runs[0].Warnings) == 1 && runs[0].Warnings[0] == store.Unreadable() {
			bad++
		} else if len(runs) > 0 && !cmp.Equal([]result.Run{run}, runs, storetest.Same) {
			t.Errorf("round %d: the runs are %+v", n, runs)
		}
		for got, err := range s.Trials(t.Context(), run.ID) {
			if err != nil {
				bad++
				continue
			}
			if got.Order >= len(trials) || !cmp.Equal(trials[got.Order], got, storetest.Same) {
				t.Errorf("round %d: a trial that was never stored: %+v", n, got)
			}
		}
		s.Close()
	}
	if bad < rounds/10 {
		t.Errorf("only %d errors: the spoiling does not reach what is read", bad)
	}
}

func FuzzRecord(f *testing.F) {
	good, err := encodeOne(storetest.NewTrial(0))
	must(f, err)
	f.Add(good.record, sum(good.record))
	f.Add([]byte("{}"), int64(0))
	f.Add([]byte{}, int64(-1))
	f.Fuzz(func(t *testing.T, record []byte, stored int64) {
		if err := checkSum(record, stored); err != nil {
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%v is no ErrCorrupt", err)
			}
			stored = sum(record)
		}
		must(t, checkSum(record, stored))
		r := row{record: record, sum: stored}
		if run, err := r.decode(); err == nil {
			must(t, run.Validate())
		}
	})
}
