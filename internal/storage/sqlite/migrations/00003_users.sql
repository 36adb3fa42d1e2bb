-- +goose Up

-- Users of each tenant by e-mail; see 00001_init.sql for the rules.

CREATE TABLE users (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
