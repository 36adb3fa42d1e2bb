-- +goose Up

-- Runs are listed by the agent whose own they are ('': none's), for tokens that see
-- nothing else; see 00001_init.sql for the rules. A damaged document is left to who
-- reads it.
ALTER TABLE runs ADD COLUMN agent TEXT NOT NULL DEFAULT '';
UPDATE runs SET agent = CASE WHEN json_valid(doc) THEN COALESCE(json_extract(doc, '$.agentId'), '') ELSE '' END WHERE doc LIKE '%"agentId"%';
CREATE INDEX runs_agent ON runs (tenant, agent, created, id);
