-- +goose Up

-- Rows are written to their tables behind the journal, a file beside this database. The one
-- row says which journal that is, '' for none, and up to which of its commits the tables
-- have all rows; see journal.go. A release that doesn't know the journal must not open the
-- store.
CREATE TABLE IF NOT EXISTS journal (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, written INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO journal VALUES (1, '', 0);
PRAGMA user_version = 2;
