-- +goose Up

-- Steps that budgets let out without an approval are found by their request ('': it is none
-- of these, as most are); see 00001_init.sql for the rules. Those of earlier releases have
-- rows of their own in meta.
ALTER TABLE steps ADD COLUMN sent TEXT NOT NULL DEFAULT '';
CREATE INDEX steps_sent ON steps (tenant, sent, id) WHERE sent <> '';
