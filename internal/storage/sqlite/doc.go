// Package sqlite is the embedded store: one SQLite file in a directory that one
// process owns.
//
// # Writing
//
// Only one connection writes. A goroutine owns it and runs the waiting Updates in turn in
// one transaction, each function in its caller's goroutine and behind a savepoint. When
// none waits any more, or the batch is full, it commits once, with one sync, and then
// answers all of them. So a single caller is never delayed for others, and many callers
// share a sync.
//
// A function of Update must not call Update, which would wait for itself. It may call
// View, which shows the state before the batch.
//
// # Reading
//
// View uses one of a few read-only connections. It reads a snapshot of what was committed
// at its first read. It doesn't wait for the writer, nor the writer for it.
//
// # Failing
//
// After a write that fails for lack of space or an I/O error the batch is rolled back and
// each of its Updates gets store.ErrUnavailable; the next Update tries again. A failed
// sync, or a COMMIT whose durability is not known, poisons the store: after a failed sync
// the kernel may have dropped the pages that it could not write, and a second sync would
// report success. A poisoned store writes and syncs nothing more, Failed is closed, and
// the process must end. The next process may still read from the kernel's cache what never
// reached the disk, so it rewrites and syncs the log before anything else.
//
// # Starting
//
// Open checks the files, the header of the database, every frame of a log that a crash
// left, and the checksum of every page (of a large database see scrub.go) before it
// changes anything. It refuses a store that is another program's, of a newer release,
// truncated or damaged, and repairs nothing. A new database gets its name when it is
// complete.
//
// # Files
//
//	countersign.db    the database; its application id marks it as ours
//	countersign.db-*  the write-ahead log and its index, SQLite's own
//	countersign.lock  locked for as long as a process uses the directory
//	countersign.store says that a store was made here, so that a directory that
//	                  lost its database is not taken for a new one
package sqlite
