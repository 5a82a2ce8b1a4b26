package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// row is a run's row.
type row struct {
	key    int64
	state  result.State
	record []byte
	sum    int64
}

// runColumns are what scanRow reads.
const runColumns = "key, state, record, sum"

func scanRow(scan func(dest ...any) error) (row, error) {
	var r row
	err := scan(&r.key, &r.state, &r.record, &r.sum)
	return r, err
}

// findRow reads the row of the run with that id.
func findRow(tx *sql.Tx, id string) (row, error) {
	r, err := scanRow(tx.QueryRow("SELECT "+runColumns+" FROM run WHERE id = ?", id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, &store.NotFoundError{Ref: id}
	}
	return r, err
}

// unfinished reads the row of a run that can still be added to.
func unfinished(tx *sql.Tx, id string) (row, error) {
	r, err := findRow(tx, id)
	if err == nil && r.state != result.Running {
		return row{}, fmt.Errorf("%w: it is %s", store.ErrFinished, r.state)
	}
	return r, err
}

// decode is the run that the row holds.
func (r row) decode() (result.Run, error) {
	if err := checkSum(r.record, r.sum); err != nil {
		return result.Run{}, err
	}
	return result.DecodeRun(r.record)
}

// change writes the run back as f leaves it.
func (r row) change(tx *sql.Tx, f func(*result.Run)) error {
	run, err := r.decode()
	if err != nil {
		return err
	}
	f(&run)
	record, err := result.EncodeRun(run)
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE run SET label = ?, state = ?, record = ?, sum = ? WHERE key = ?",
		run.Label, string(run.State), string(record), sum(record), r.key)
	return err
}
