-- +goose Up

-- Approvals of the same request are found by its digest, and those of the same title
-- by it ('': it has none).
ALTER TABLE approvals ADD COLUMN digest TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN title TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX approvals_digest ON approvals (tenant, digest, created, id);
CREATE INDEX approvals_title ON approvals (tenant, title, status, created, id);
