-- A run's row is written at each of its steps and its columns seldom change: with room for
-- the next version in the same page, no index is written then.
ALTER TABLE runs SET (fillfactor = 60);
