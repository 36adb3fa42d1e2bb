-- Steps are listed by id, which begins with their run's: no list needs this index. Each
-- step's row is written three times.
DROP INDEX IF EXISTS steps_run;
ALTER TABLE steps SET (fillfactor = 70);
