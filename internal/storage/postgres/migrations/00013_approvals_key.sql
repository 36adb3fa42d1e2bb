-- Of indexes that it takes for equally good, the planner takes the newest one; and as long as
-- it takes this table for empty, one that has tenant and id among other columns for as good
-- as the primary key's.
ALTER TABLE approvals DROP CONSTRAINT approvals_pkey, ADD CONSTRAINT approvals_pkey PRIMARY KEY (tenant, id);
