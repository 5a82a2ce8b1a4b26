-- +goose Up

-- Marks the file as a store of netdelta: "ndlt" in ASCII.
PRAGMA application_id = 1852075124;

-- Two processes that open a new store at once may both come to run this. The
-- version is written within the migration's own transaction, so that the
-- second one fails as a whole.
CREATE UNIQUE INDEX each_version_once ON goose_db_version (version_id);

CREATE TABLE run (
    key     INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: the lease goes by it
    id      TEXT    NOT NULL UNIQUE,
    label   TEXT    NOT NULL,
    state   TEXT    NOT NULL,
    started INTEGER NOT NULL,                  -- ns since 1970-01-01 UTC
    record  TEXT    NOT NULL,                  -- the whole run, JSON (netdelta.run/1)
    sum     INTEGER NOT NULL                   -- CRC-32C of record
) STRICT;

CREATE INDEX run_by_label ON run (label, started);
CREATE INDEX run_by_start ON run (started);

-- One test under one variant in one run, with its number of trials.
CREATE TABLE series (
    key     INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    test    TEXT    NOT NULL,                  -- JSON, as in a trial's record
    variant TEXT    NOT NULL,                  -- JSON, names in order
    trials  INTEGER NOT NULL,
    UNIQUE (run, test, variant)
) STRICT;

-- Rows are in the order in which trials were added. No foreign key leads to
-- series: without an index that nothing else needs, each series deleted would
-- cost a scan of all trials.
CREATE TABLE trial (
    key     INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    series  INTEGER NOT NULL,
    block   INTEGER NOT NULL,
    place   INTEGER NOT NULL,                  -- in the order in which trials ran
    attempt INTEGER NOT NULL,
    record  TEXT    NOT NULL,                  -- the whole trial, JSON (netdelta.trial/1)
    sum     INTEGER NOT NULL                   -- CRC-32C of record
) STRICT;

CREATE INDEX trial_by_run ON trial (run);
