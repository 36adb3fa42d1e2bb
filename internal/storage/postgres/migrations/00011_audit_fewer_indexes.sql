-- All of the audit log is listed by id, which orders as seq does; what agrees in a column,
-- by that column's index.
DROP INDEX IF EXISTS audit_seq;
