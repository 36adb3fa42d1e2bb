-- +goose Up

-- Every table is (tenant, id, version, doc) and the columns that it is listed
-- by; store.Tables() is the other half of this file. A document is TEXT, never
-- JSONB, which refuses \u0000 and reorders keys. An index ends with the order
-- of the list that it serves and with id, which breaks ties.

-- The level of the oldest program that may open the store; see release.go.
PRAGMA user_version = 1;

CREATE TABLE tenants (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE tokens (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE token_hashes (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE models (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE model_revisions (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE projects (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE project_revisions (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE plans (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    created INTEGER NOT NULL, status TEXT NOT NULL, model TEXT NOT NULL, scope TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX plans_created ON plans (tenant, created, id);
CREATE INDEX plans_status ON plans (tenant, status, created, id);
CREATE INDEX plans_model ON plans (tenant, model, created, id);
CREATE INDEX plans_scope ON plans (tenant, scope, created, id);

CREATE TABLE runs (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    created INTEGER NOT NULL, status TEXT NOT NULL, plan TEXT NOT NULL, scope TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX runs_created ON runs (tenant, created, id);
CREATE INDEX runs_status ON runs (tenant, status, created, id);
CREATE INDEX runs_plan ON runs (tenant, plan, created, id);
CREATE INDEX runs_scope ON runs (tenant, scope, created, id);

CREATE TABLE steps (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    run TEXT NOT NULL, idx INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX steps_run ON steps (tenant, run, idx, id);

CREATE TABLE approvals (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    created INTEGER NOT NULL, status TEXT NOT NULL, run TEXT NOT NULL, scope TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX approvals_created ON approvals (tenant, created, id);
CREATE INDEX approvals_status ON approvals (tenant, status, created, id);
CREATE INDEX approvals_run ON approvals (tenant, run, created, id);
CREATE INDEX approvals_scope ON approvals (tenant, scope, created, id);

CREATE TABLE claims (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE unfinished (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    tenant_id TEXT NOT NULL, state TEXT NOT NULL, since INTEGER NOT NULL, due INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX unfinished_state ON unfinished (tenant, state, since, id);
CREATE INDEX unfinished_due ON unfinished (tenant, due, id);

CREATE TABLE audit (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    seq INTEGER NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX audit_seq ON audit (tenant, seq, id);
CREATE INDEX audit_actor ON audit (tenant, actor, seq, id);
CREATE INDEX audit_action ON audit (tenant, action, seq, id);
CREATE INDEX audit_subject ON audit (tenant, subject, seq, id);

CREATE TABLE audit_heads (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE meta (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
