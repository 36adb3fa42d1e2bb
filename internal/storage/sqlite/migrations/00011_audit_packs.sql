-- +goose Up

-- Audit records are packed: each row holds n records of a tenant whose sequence numbers follow
-- each other, compressed (package pack), with the sum of their text, and how many bytes and
-- from when to when they are. Records that are there already stay in the table audit, and so
-- does what fits into no pack (packing.go).
CREATE TABLE audit_packs (
    tenant TEXT NOT NULL, first INTEGER NOT NULL, n INTEGER NOT NULL, size INTEGER NOT NULL,
    earliest INTEGER NOT NULL, latest INTEGER NOT NULL, sum INTEGER NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (tenant, first)
) STRICT;
-- Records are counted and skipped without their packs.
CREATE INDEX audit_packs_span ON audit_packs (tenant, first, n, earliest, latest);

-- Which records of a pack have a value in a column that lists are of (1 actor, 2 action,
-- 3 subject): a byte for each, its place in the pack.
CREATE TABLE audit_postings (
    tenant TEXT NOT NULL, of INTEGER NOT NULL, value TEXT NOT NULL, first INTEGER NOT NULL, places BLOB NOT NULL,
    PRIMARY KEY (tenant, of, value, first)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 3;
