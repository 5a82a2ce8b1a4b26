package sqlite

import (
	"database/sql"
	"fmt"
	"net/url"
	"strconv"
	"time"

	driver "modernc.org/sqlite"
)

// mode is how a connection may use the file.
type mode string

const (
	readWrite mode = "rw" // never makes a file: makeFile does, with its permissions
	readOnly  mode = "ro"
	// immutable reads without locks and without a log: for a file that no
	// process can be writing.
	immutable mode = "immutable"
)

// settings of every connection (sqlite.org/pragma.html). None of them writes
// to the file.
var settings = []struct{ name, value string }{
	{"_synchronous", "FULL"},
	{"_foreign_keys", "on"},
	{"_txlock", "immediate"}, // a deferred one can lose to another writer midway
	{"_dqs", "0"},
	{"_defensive", "1"},
	{"_error_rc", "1"},
	{"_pragma", "trusted_schema(0)"},
	{"_pragma", "cell_size_check(1)"},           // finds damaged pages earlier
	{"_pragma", "cache_size(-16384)"},           // KiB
	{"_pragma", "journal_size_limit(33554432)"}, // bytes that a log keeps after a big batch
}

// newFile are settings that a file keeps from its beginning: pages that hold
// several records each, and pages that can be given back to the file system
// when runs are removed.
const newFile = "PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL"

// open returns a pool of at most n connections to the file. It connects to
// nothing yet.
func open(path string, m mode, busy time.Duration, n int) (*sql.DB, error) {
	q := url.Values{}
	for _, s := range settings {
		q.Add(s.name, s.value)
	}
	q.Set("_busy_timeout", strconv.FormatInt(max(1, busy.Milliseconds()), 10))
	switch m {
	case immutable:
		q.Set("mode", string(readOnly))
		q.Set("immutable", "1")
	default:
		q.Set("mode", string(m))
	}
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}
	c, err := driver.NewConnector(dsn.String())
	if err != nil {
		return nil, fmt.Errorf("make the name of a connection: %w", err)
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}
