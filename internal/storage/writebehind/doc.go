// Package writebehind keeps committed rows in memory until they are written to their
// tables. The engine makes each commit durable in one piece, a frame (see AppendFrame), and
// writes the rows later: a row that changes with each of twenty commits is written once.
//
// Committed rows stand in layers. The active layer gets the rows of each commit. From time
// to time the engine freezes it: a new active layer is begun, and the rows of the frozen
// one are written to the tables in one transaction, after which the layer is dropped. At
// most one layer is frozen. A read looks for a row in the layers, newest first, and then in
// the database; a list is the database's, corrected by what the layers have.
//
// A Snapshot is a commit's number, the layers as they were at that commit, and a snapshot
// of the database below the oldest of these layers. The database's snapshot is begun at the
// first read that needs it, since many functions need none. That is exact as long as the
// active layer of the Snapshot has not been written meanwhile; otherwise the function runs
// again.
//
// The package does no I/O and knows no SQL. It must not decide when to commit, freeze or
// write.
package writebehind
