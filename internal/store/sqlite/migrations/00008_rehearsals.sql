-- +goose Up

-- The last rehearsal of each plan's content that completed.
CREATE TABLE rehearsals (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
