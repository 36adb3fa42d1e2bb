-- +goose Up

-- Approvals of the same request are found by its digest; those from before have none.
ALTER TABLE approvals ADD COLUMN digest TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX approvals_digest ON approvals (tenant, digest, created, id);
