package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"netdelta/internal/store"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migrations are the schema's versions, one SQL file each. A version that was
// ever released is never changed; a new one is a file more. A new form of the
// records is a new version too, even if no table changes, so that older
// programs refuse the store as a whole.
func migrations() fs.FS {
	sub, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the name above is the one embedded
	}
	return sub
}

// applicationID marks a store in the file's header; migration 1 writes it.
const applicationID = 0x6e646c74

// versionTable is goose's.
const versionTable = goose.DefaultTablename

// inspect tells what is in the file: the schema's version, 0 for a new store.
// ErrNotStore if it is another program's database. It writes nothing.
func inspect(ctx context.Context, db *sql.DB) (version int64, err error) {
	var id, foreign, versioned int64
	err = db.QueryRowContext(ctx, `
		SELECT (SELECT application_id FROM pragma_application_id),
		       (SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> ?1),
		       (SELECT count(*) FROM sqlite_schema WHERE name = ?1)`, versionTable).Scan(&id, &foreign, &versioned)
	if err != nil {
		return 0, err
	}
	if id != applicationID && (id != 0 || foreign > 0) {
		return 0, errForeign
	}
	if versioned == 0 {
		return 0, nil
	}
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+versionTable+" WHERE is_applied").Scan(&version)
	return version, err
}

var errForeign = fmt.Errorf("%w: a database of another program", store.ErrNotStore)

// versionError is a store whose schema this program does not have.
type versionError struct {
	kind        error
	have, known int64
}

func (e *versionError) Error() string {
	return fmt.Sprintf("%v: its schema is version %d, this program's is %d", e.kind, e.have, e.known)
}

func (e *versionError) Is(target error) bool { return target == e.kind }

// migrate brings the schema to the newest of the versions, one transaction
// for each. ErrNewer if the file is beyond it.
func migrate(ctx context.Context, db *sql.DB, versions fs.FS) error {
	provider, known, err := newProvider(db, versions)
	if err != nil {
		return err
	}
	have, err := inspect(ctx, db)
	switch {
	case err != nil:
		return err
	case have > known:
		return &versionError{store.ErrNewer, have, known}
	case have == known:
		return nil
	case have == 0:
		if _, err := db.ExecContext(ctx, newFile); err != nil {
			return err
		}
	}
	if _, err := provider.Up(ctx); err != nil {
		// Another process may have been at the same migration: one of the two
		// then fails as a whole.
		if now, inspectErr := inspect(ctx, db); inspectErr == nil && now > have {
			return migrate(ctx, db, versions)
		}
		return fmt.Errorf("migrate from schema version %d to %d: %w", have, known, err)
	}
	return nil
}

// firstReadable is the oldest of the schema's versions that can be read as it
// is: what later ones have more is then not there.
const firstReadable = 1

// readable is the version of a store that is only read, and so can't be
// migrated. It refuses those of newer programs, and a file with no store in it.
func readable(ctx context.Context, db *sql.DB, versions fs.FS) (int64, error) {
	_, known, err := newProvider(db, versions)
	if err != nil {
		return 0, err
	}
	have, err := inspect(ctx, db)
	switch {
	case err != nil:
		return 0, err
	case have > known:
		return 0, &versionError{store.ErrNewer, have, known}
	case have < firstReadable:
		return 0, &versionError{store.ErrReadOnly, have, known}
	}
	return have, nil
}

func newProvider(db *sql.DB, versions fs.FS) (p *goose.Provider, known int64, err error) {
	p, err = goose.NewProvider(goose.DialectSQLite3, db, versions, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, 0, fmt.Errorf("read the schema's versions: %w", err)
	}
	sources := p.ListSources()
	if len(sources) == 0 {
		return nil, 0, errors.New("read the schema's versions: there are none")
	}
	return p, sources[len(sources)-1].Version, nil
}
