-- Every table is (tenant, id, version, doc) and the columns that it is listed
-- by; store.Tables() is the other half of this file. A document is TEXT, never
-- JSONB, which refuses \u0000 and reorders keys. Text compares by bytes, whatever
-- the database's collation. An index ends with the order of the list that it
-- serves and with id, which breaks ties.

CREATE TABLE tenants (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE tokens (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE token_hashes (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE models (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE model_revisions (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE projects (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE project_revisions (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE plans (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    created BIGINT NOT NULL, status TEXT COLLATE "C" NOT NULL, model TEXT COLLATE "C" NOT NULL, scope TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX plans_created ON plans (tenant, created, id);
CREATE INDEX plans_status ON plans (tenant, status, created, id);
CREATE INDEX plans_model ON plans (tenant, model, created, id);
CREATE INDEX plans_scope ON plans (tenant, scope, created, id);

CREATE TABLE runs (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    created BIGINT NOT NULL, status TEXT COLLATE "C" NOT NULL, plan TEXT COLLATE "C" NOT NULL, scope TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX runs_created ON runs (tenant, created, id);
CREATE INDEX runs_status ON runs (tenant, status, created, id);
CREATE INDEX runs_plan ON runs (tenant, plan, created, id);
CREATE INDEX runs_scope ON runs (tenant, scope, created, id);

CREATE TABLE steps (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    run TEXT COLLATE "C" NOT NULL, idx BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX steps_run ON steps (tenant, run, idx, id);

CREATE TABLE approvals (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    created BIGINT NOT NULL, status TEXT COLLATE "C" NOT NULL, run TEXT COLLATE "C" NOT NULL, scope TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX approvals_created ON approvals (tenant, created, id);
CREATE INDEX approvals_status ON approvals (tenant, status, created, id);
CREATE INDEX approvals_run ON approvals (tenant, run, created, id);
CREATE INDEX approvals_scope ON approvals (tenant, scope, created, id);

CREATE TABLE claims (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE unfinished (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    tenant_id TEXT COLLATE "C" NOT NULL, state TEXT COLLATE "C" NOT NULL, since BIGINT NOT NULL, due BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX unfinished_state ON unfinished (tenant, state, since, id);
CREATE INDEX unfinished_due ON unfinished (tenant, due, id);

CREATE TABLE audit (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    seq BIGINT NOT NULL, at BIGINT NOT NULL, actor TEXT COLLATE "C" NOT NULL, action TEXT COLLATE "C" NOT NULL, subject TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX audit_seq ON audit (tenant, seq, id);
CREATE INDEX audit_actor ON audit (tenant, actor, seq, id);
CREATE INDEX audit_action ON audit (tenant, action, seq, id);
CREATE INDEX audit_subject ON audit (tenant, subject, seq, id);

CREATE TABLE audit_heads (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE meta (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE agents (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    project TEXT COLLATE "C" NOT NULL, status TEXT COLLATE "C" NOT NULL, model TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX agents_project ON agents (tenant, project, id);
CREATE INDEX agents_status ON agents (tenant, status, id);
CREATE INDEX agents_model ON agents (tenant, model, id);

CREATE TABLE agent_revisions (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE instances (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    agent TEXT COLLATE "C" NOT NULL, state TEXT COLLATE "C" NOT NULL, received BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX instances_received ON instances (tenant, agent, state, received, id);

CREATE TABLE teams (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX teams_scope ON teams (tenant, scope, id);

CREATE TABLE team_revisions (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE users (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE sessions (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    email TEXT COLLATE "C" NOT NULL, expires BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX sessions_email ON sessions (tenant, email, id);
CREATE INDEX sessions_expires ON sessions (tenant, expires, id);

CREATE TABLE sign_ins (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    expires BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX sign_ins_expires ON sign_ins (tenant, expires, id);
