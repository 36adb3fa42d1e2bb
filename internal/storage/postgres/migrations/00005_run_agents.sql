-- Runs are listed by the agent whose own they are ('': none's), for tokens that see
-- nothing else; see 00001_init.sql for the rules.
ALTER TABLE runs ADD COLUMN agent TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX runs_agent ON runs (tenant, agent, created, id);
