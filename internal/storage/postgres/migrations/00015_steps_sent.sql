-- +goose Up

-- Steps that budgets let out without an approval are found by their request ('': it is none
-- of these, as most are). Those of earlier releases have rows of their own in meta, also
-- those that a replica of such a release still sends.
ALTER TABLE steps ADD COLUMN sent TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX steps_sent ON steps (tenant, sent, id) WHERE sent <> '';
