-- What runs are found by. It is filled in the background.
CREATE TABLE IF NOT EXISTS terms (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);
