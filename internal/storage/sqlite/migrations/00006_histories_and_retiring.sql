-- +goose Up

-- How many runs a tenant has, by ranges of the time when they were created: a range
-- goes from since to the next one's. status '' counts all of them, the others those
-- that have ended so. A list's total and the place of a page deep in it are found
-- here in as many rows as there are thousands of runs. The triggers below are the
-- only writers; sqldoc.Counted reads.
CREATE TABLE runs_counted (
    tenant TEXT NOT NULL, status TEXT NOT NULL, since INTEGER NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (tenant, status, since)
) STRICT, WITHOUT ROWID;

-- What is there already: each thousand of a list is a range, and the first goes
-- back for ever. Runs of the same microsecond are in one range.
INSERT INTO runs_counted
SELECT tenant, '', CASE part WHEN 0 THEN -9223372036854775808 ELSE MIN(created) END, 0
FROM (SELECT tenant, created, (row_number() OVER (PARTITION BY tenant ORDER BY created, id) - 1) / 1000 AS part FROM runs)
GROUP BY tenant, part ON CONFLICT DO NOTHING;
INSERT INTO runs_counted
SELECT tenant, status, CASE part WHEN 0 THEN -9223372036854775808 ELSE MIN(created) END, 0
FROM (SELECT tenant, status, created, (row_number() OVER (PARTITION BY tenant, status ORDER BY created, id) - 1) / 1000 AS part
      FROM runs WHERE status IN ('COMPLETED', 'FAILED', 'CANCELLED'))
GROUP BY tenant, status, part ON CONFLICT DO NOTHING;
UPDATE runs_counted SET n = (
    SELECT COUNT(*) FROM runs WHERE runs.tenant = runs_counted.tenant AND runs_counted.status IN ('', runs.status)
    AND runs.created >= runs_counted.since AND runs.created < COALESCE((SELECT MIN(next.since) FROM runs_counted AS next
        WHERE next.tenant = runs_counted.tenant AND next.status = runs_counted.status AND next.since > runs_counted.since), 9223372036854775807));

-- A run is counted in the range that it was created in. A range that has its
-- thousand is followed by another one, if all that it counts is older.
-- +goose StatementBegin
CREATE TRIGGER runs_counted_all AFTER INSERT ON runs BEGIN
    INSERT OR IGNORE INTO runs_counted SELECT NEW.tenant, '', -9223372036854775808, 0
        WHERE NOT EXISTS (SELECT 1 FROM runs_counted WHERE tenant = NEW.tenant AND status = '');
    INSERT OR IGNORE INTO runs_counted SELECT NEW.tenant, '', NEW.created, 0
        WHERE (SELECT n FROM runs_counted WHERE tenant = NEW.tenant AND status = '' ORDER BY since DESC LIMIT 1) >= 1000
        AND NOT EXISTS (SELECT 1 FROM runs WHERE tenant = NEW.tenant AND created >= NEW.created AND id <> NEW.id);
    UPDATE runs_counted SET n = n + 1 WHERE tenant = NEW.tenant AND status = '' AND since = (
        SELECT MAX(since) FROM runs_counted WHERE tenant = NEW.tenant AND status = '' AND since <= NEW.created);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER runs_counted_new AFTER INSERT ON runs WHEN NEW.status IN ('COMPLETED', 'FAILED', 'CANCELLED') BEGIN
    INSERT OR IGNORE INTO runs_counted SELECT NEW.tenant, NEW.status, -9223372036854775808, 0
        WHERE NOT EXISTS (SELECT 1 FROM runs_counted WHERE tenant = NEW.tenant AND status = NEW.status);
    INSERT OR IGNORE INTO runs_counted SELECT NEW.tenant, NEW.status, NEW.created, 0
        WHERE (SELECT n FROM runs_counted WHERE tenant = NEW.tenant AND status = NEW.status ORDER BY since DESC LIMIT 1) >= 1000
        AND NOT EXISTS (SELECT 1 FROM runs WHERE tenant = NEW.tenant AND status = NEW.status AND created >= NEW.created AND id <> NEW.id);
    UPDATE runs_counted SET n = n + 1 WHERE tenant = NEW.tenant AND status = NEW.status AND since = (
        SELECT MAX(since) FROM runs_counted WHERE tenant = NEW.tenant AND status = NEW.status AND since <= NEW.created);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER runs_counted_ended AFTER UPDATE OF status ON runs WHEN NEW.status <> OLD.status AND NEW.status IN ('COMPLETED', 'FAILED', 'CANCELLED') BEGIN
    INSERT OR IGNORE INTO runs_counted SELECT NEW.tenant, NEW.status, -9223372036854775808, 0
        WHERE NOT EXISTS (SELECT 1 FROM runs_counted WHERE tenant = NEW.tenant AND status = NEW.status);
    INSERT OR IGNORE INTO runs_counted SELECT NEW.tenant, NEW.status, NEW.created, 0
        WHERE (SELECT n FROM runs_counted WHERE tenant = NEW.tenant AND status = NEW.status ORDER BY since DESC LIMIT 1) >= 1000
        AND NOT EXISTS (SELECT 1 FROM runs WHERE tenant = NEW.tenant AND status = NEW.status AND created >= NEW.created AND id <> NEW.id);
    UPDATE runs_counted SET n = n + 1 WHERE tenant = NEW.tenant AND status = NEW.status AND since = (
        SELECT MAX(since) FROM runs_counted WHERE tenant = NEW.tenant AND status = NEW.status AND since <= NEW.created);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER runs_counted_reopened AFTER UPDATE OF status ON runs WHEN NEW.status <> OLD.status AND OLD.status IN ('COMPLETED', 'FAILED', 'CANCELLED') BEGIN
    UPDATE runs_counted SET n = n - 1 WHERE tenant = OLD.tenant AND status = OLD.status AND since = (
        SELECT MAX(since) FROM runs_counted WHERE tenant = OLD.tenant AND status = OLD.status AND since <= OLD.created);
END;
-- +goose StatementEnd
-- An archived run is counted no more; a range without any becomes part of the one before.
-- +goose StatementBegin
CREATE TRIGGER runs_counted_gone AFTER DELETE ON runs BEGIN
    UPDATE runs_counted SET n = n - 1 WHERE tenant = OLD.tenant AND status IN ('', OLD.status) AND since = (
        SELECT MAX(c.since) FROM runs_counted AS c WHERE c.tenant = OLD.tenant AND c.status = runs_counted.status AND c.since <= OLD.created);
    DELETE FROM runs_counted WHERE tenant = OLD.tenant AND status IN ('', OLD.status) AND n = 0 AND since > -9223372036854775808;
END;
-- +goose StatementEnd

-- What stays of a run that was archived.
CREATE TABLE archived (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

-- The last rehearsal of each plan's content that completed.
CREATE TABLE rehearsals (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

-- What is retired is hidden from lists unless asked for; see 00001_init.sql for the
-- rules.
ALTER TABLE models ADD COLUMN retired INTEGER NOT NULL DEFAULT 0;
ALTER TABLE projects ADD COLUMN retired INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN retired INTEGER NOT NULL DEFAULT 0;
ALTER TABLE teams ADD COLUMN retired INTEGER NOT NULL DEFAULT 0;

CREATE INDEX models_retired ON models (tenant, retired, id);
CREATE INDEX projects_retired ON projects (tenant, retired, id);
CREATE INDEX agents_retired ON agents (tenant, retired, id);
CREATE INDEX agents_project_retired ON agents (tenant, project, retired, id);
CREATE INDEX agents_status_retired ON agents (tenant, status, retired, id);
CREATE INDEX teams_retired ON teams (tenant, retired, id);
