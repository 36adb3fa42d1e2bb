-- +goose Up

-- What is retired is hidden from lists unless asked for; see 00001_init.sql for the
-- rules.
ALTER TABLE models ADD COLUMN retired BIGINT NOT NULL DEFAULT 0;
ALTER TABLE projects ADD COLUMN retired BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN retired BIGINT NOT NULL DEFAULT 0;
ALTER TABLE teams ADD COLUMN retired BIGINT NOT NULL DEFAULT 0;

CREATE INDEX models_retired ON models (tenant, retired, id);
CREATE INDEX projects_retired ON projects (tenant, retired, id);
CREATE INDEX agents_retired ON agents (tenant, retired, id);
CREATE INDEX agents_project_retired ON agents (tenant, project, retired, id);
CREATE INDEX agents_status_retired ON agents (tenant, status, retired, id);
CREATE INDEX teams_retired ON teams (tenant, retired, id);
