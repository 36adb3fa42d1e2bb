-- +goose Up

-- The counts of runs (00006) are written with the rows of many commits, once for all of them,
-- instead of by triggers for each row (sqldoc/counting.go). A release that leaves them to the
-- triggers must not write to the store.
DROP TRIGGER IF EXISTS runs_counted_all;
DROP TRIGGER IF EXISTS runs_counted_new;
DROP TRIGGER IF EXISTS runs_counted_ended;
DROP TRIGGER IF EXISTS runs_counted_reopened;
DROP TRIGGER IF EXISTS runs_counted_gone;

PRAGMA user_version = 4;
