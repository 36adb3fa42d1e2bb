// Package postgres is the store for several replicas: documents in the tables of
// one PostgreSQL database that all of them share. It speaks only SQL that
// CockroachDB and YugabyteDB have too: no advisory locks, no LISTEN.
//
// # Writing
//
// In a process one connection writes. Its goroutine runs the waiting Updates in turn in one
// transaction and commits them together; their writes are deferred until then (see
// batches.Batch). Of all processes one batch runs at a time: it begins by updating the one
// row of countersign_writer, for which the next batch of any process waits, so that a
// function runs alone and sees the newest state. After a serialization failure, a deadlock
// or the loss of its connection a batch is run again from its first function: a function
// may be called several times.
//
// A batch's writes are one statement for each table and kind, with an array for each column,
// and go with the COMMIT in one message. A statement that can't change each of its rows fails,
// and the server skips the COMMIT. Plans are pinned (pinned.go): each row is found by the
// primary key, whatever the planner takes a table's size for.
//
// Rows and counts are cached. The row of countersign_writer and this process's row of
// countersign_batches show whether its last batch is still the last one of all; if not, the
// turns since then have noted in countersign_turns what they changed, and the rest holds
// (turns.go). What is changed and was read lately is read again in one message, and what was
// read again the last time in the message that takes the lock. In a crowd, or if messages take
// long, functions that need what isn't known are put off, and what they need is asked for in
// one message (lend.go). As long as no other process writes, functions run before the lock is
// taken, on the cached rows; that no other process has written is checked as the lock is
// taken, which then is part of the message with the writes (ahead.go). If others write,
// functions run while the lock is waited for, and what they have made is taken over if all that
// they have seen is as it was (draft.go).
//
// A function of Update must not call Update. It may call View, which shows the state
// before the batch.
//
// # Views
//
// A View's first row is read outside of any transaction, and most Views read no other. The
// first rows of Views that come while messages are under way go together in the next one
// (gets.go), so that a crowd that asks after a commit costs a few messages, and at a distance
// doesn't wait for connections. What fails for one of them is asked for again one by one, and
// who was in a message that was lost is served by another. A second read begins a snapshot on
// a connection of the View's own and reads the first row again, in one message; if it has
// changed, the function runs again.
//
// # Commits without an answer
//
// A batch also stores its number with its writer's id in countersign_batches. When the
// answer to a COMMIT doesn't come, the writer connects again and locks the row of
// countersign_writer, for which it waits until the lost transaction has ended. Then it
// reads the number: if it is there, the batch is committed; if not, it stores a number of its
// own, by which a message that arrives later fails, and the batch is run again. The callers
// wait meanwhile. If this can't be found out in time, Failed is closed, the callers get
// store.ErrInDoubt, and the process must end.
//
// # Time
//
// Every wait is bounded, in the server and in the client; settings.go has the bounds and
// their reasons. A process that stalls inside a batch loses its transaction and the lock,
// so that its later commit fails. The server ends the transaction if it waits for the next
// message. If it has received statements without the end of their message, or can't send an
// answer, none of its timeouts runs; then the process that waits for the lock ends the
// holder's session by pg_terminate_backend, which any role may call for its own sessions,
// once the session has made no progress for the same time. On a database without that
// function the session keeps the lock until its TCP connection is found dead.
//
// # Poolers
//
// Nothing depends on a session beyond its transaction: settings are SET LOCAL, in the
// message that begins the transaction. Statements are prepared if the connection keeps
// prepared statements. A pooler in transaction mode may not (PgBouncer before 1.21, or with
// max_prepared_statements = 0): the first error shows it, functions are run again, and from
// then on statements are sent unprepared, also in one round trip.
// default_query_exec_mode=exec in the URL avoids that error. A pooler needs a server
// connection for each replica's batch (one holds the lock while the others wait for it),
// one for the session that checks the holder, and some for Views.
//
// # Starting
//
// Open creates missing tables, under a row lock, so that replicas may start together.
// Tables with additions of a newer release are used as they are. A release that older ones
// are not compatible with raises countersign_writer.level: older releases then refuse to
// open the database, and running ones see it at their next batch and end. release.go has
// the rules for migrations.
package postgres
