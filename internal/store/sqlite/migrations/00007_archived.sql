-- +goose Up

-- What stays of a run that was archived.
CREATE TABLE archived (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
