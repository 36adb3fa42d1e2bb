-- +goose Up

-- Browsers' sessions and the sign-ins that wait for their code, under the realm by
-- the hash of their secret; see 00001_init.sql for the rules.

CREATE TABLE sessions (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    email TEXT NOT NULL, expires INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX sessions_email ON sessions (tenant, email, id);
CREATE INDEX sessions_expires ON sessions (tenant, expires, id);

CREATE TABLE sign_ins (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX sign_ins_expires ON sign_ins (tenant, expires, id);
