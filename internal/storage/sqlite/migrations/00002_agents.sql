-- +goose Up

-- Agents, their instances and teams; see 00001_init.sql for the rules.

CREATE TABLE agents (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    project TEXT NOT NULL, status TEXT NOT NULL, model TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX agents_project ON agents (tenant, project, id);
CREATE INDEX agents_status ON agents (tenant, status, id);
CREATE INDEX agents_model ON agents (tenant, model, id);

CREATE TABLE agent_revisions (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE instances (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    agent TEXT NOT NULL, state TEXT NOT NULL, received INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX instances_received ON instances (tenant, agent, state, received, id);

CREATE TABLE teams (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    scope TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX teams_scope ON teams (tenant, scope, id);

CREATE TABLE team_revisions (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
