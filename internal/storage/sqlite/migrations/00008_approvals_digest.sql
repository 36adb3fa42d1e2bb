-- +goose Up

-- Approvals of the same request are found by its digest, and those of the same title
-- by it ('': it has none); see 00001_init.sql for the rules. A damaged document is left
-- to who reads it. No approval from before has a title.
ALTER TABLE approvals ADD COLUMN digest TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN title TEXT NOT NULL DEFAULT '';
UPDATE approvals SET digest = CASE WHEN json_valid(doc) THEN COALESCE(json_extract(doc, '$.requestDigest'), '') ELSE '' END WHERE doc LIKE '%"requestDigest"%';
CREATE INDEX approvals_digest ON approvals (tenant, digest, created, id);
CREATE INDEX approvals_title ON approvals (tenant, title, status, created, id);
