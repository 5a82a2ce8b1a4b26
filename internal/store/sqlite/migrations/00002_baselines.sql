-- +goose Up

-- Names that single runs have, to be compared with. A run that has one is not
-- removed: the key has to be free of it first.
CREATE TABLE baseline (
    name TEXT    NOT NULL PRIMARY KEY,
    run  INTEGER NOT NULL REFERENCES run (key)
) STRICT, WITHOUT ROWID;

CREATE INDEX baseline_by_run ON baseline (run);
