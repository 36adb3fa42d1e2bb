-- +goose Up

-- What runs are found by; see 00001_init.sql for the rules. It is filled in the background.
CREATE TABLE IF NOT EXISTS terms (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
