// Package postgres is the store for several replicas: documents in the tables of
// one PostgreSQL database that all of them share. It speaks only SQL that
// CockroachDB and YugabyteDB have too: no advisory locks, no LISTEN.
//
// # Writing
//
// In a process one connection writes. Its goroutine lends a transaction to one
// waiting Update after the other and commits them together; what they write is put
// off until then (see sqldoc.Batch). Between processes one batch at a time: it begins by updating the one
// row of countersign_writer, which the next batch of anybody waits for, so that a
// function runs alone and sees the newest state. A batch is run again, from its
// first function, after a serialization failure, a deadlock or the loss of its
// connection: a function may be called several times.
//
// The rows of the last batch are remembered. The row of countersign_writer and our
// own of countersign_batches say whether that batch is still the last: where nobody
// else has written, a row that each step asks for is read once.
//
// An Update must not start another inside its function. It may use View, which
// shows the state before it.
//
// # Commits without an answer
//
// A batch also writes its number beside its writer's id into countersign_batches.
// When the answer to a COMMIT doesn't come, the writer connects anew, takes the
// row of countersign_writer, for which it waits until the lost transaction has
// ended, and reads the number: there, the batch is committed; not there, it never
// will be and is run again. The callers wait meanwhile. When this can't be found
// out in time, Failed is closed, the callers get ErrDoubt, and the process
// must end.
//
// # Time
//
// Everything is bounded, on both sides; settings.go has the figures and reasons. A
// process that stalls inside a batch loses its transaction and with it the lock,
// so that its later commit fails. The server sees to that where it waits for the
// next message. Where it has statements without the end of their message, or can't
// send an answer, no timeout of its own runs, and who waits for the lock ends the
// session that has it once nothing of it has moved for as long: by pg_terminate_backend, which any role may call for its own
// sessions. On a database that doesn't have that, such a session keeps the lock until
// its TCP connection is found dead.
//
// # Poolers
//
// The engine needs nothing of a session but the transaction: settings are SET
// LOCAL, in the message that begins the transaction. Statements are prepared
// where the connection keeps them. Behind a pooler in transaction mode that can't
// (PgBouncer before 1.21, or with max_prepared_statements = 0) the server says
// so, and from then on they are sent without preparation, in one round trip too;
// default_query_exec_mode=exec in the URL spares the detour, in which functions
// are run again. A pooler must have a server connection for each replica's batch,
// one of which holds the lock while the others wait for it, one for whoever looks at
// the holder, and some for Views.
//
// # Starting
//
// Open makes the tables where there are none, under a lock that is a row, so that
// replicas may start together. Tables that a newer release has added to are used as
// they are. A newer release that older ones can't live with raises
// countersign_writer.level: they don't open the database any more, and where they
// run their next batch sees it, and they end. release.go has the rule for migrations.
package postgres
