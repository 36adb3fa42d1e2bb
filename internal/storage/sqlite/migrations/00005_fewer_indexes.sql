-- +goose Up

-- Steps and audit records are listed by their ids, which order as their columns did:
-- an index less to write with each.
DROP INDEX steps_run;
DROP INDEX audit_seq;
