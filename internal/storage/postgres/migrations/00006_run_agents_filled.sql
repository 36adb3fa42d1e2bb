-- What is there already; apart from the column, which some databases show only to a
-- later transaction. Within a document's strings each quote is escaped, so the pattern
-- meets the field alone; a cast to JSON would refuse \u0000. The turn comes first, as it
-- does for who writes: the two then wait for each other in one order.
UPDATE countersign_writer SET turn = turn + 1 WHERE id = 1;
UPDATE runs SET agent = substring(doc from '"agentId":"([A-Za-z0-9._-]+)"') WHERE doc ~ '"agentId":"[A-Za-z0-9._-]+"';
