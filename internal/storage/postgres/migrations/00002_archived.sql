-- What stays of a run that was archived.
CREATE TABLE archived (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);
