-- The last rehearsal of each plan's content that completed.
CREATE TABLE rehearsals (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);
