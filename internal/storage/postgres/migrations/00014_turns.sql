-- What the last turns have changed, a row a turn, so that other replicas know which of the
-- rows that they cache hold. A row is used again by a later turn. A release that writes none
-- leaves a gap, which is seen.
CREATE TABLE IF NOT EXISTS countersign_turns (slot BIGINT PRIMARY KEY, turn BIGINT NOT NULL, changed BYTEA);
