// Package sqlite is the embedded store: one SQLite file in a directory that one
// process owns.
//
// # Writing
//
// Only one connection writes. A goroutine owns it and lends its transaction to
// one waiting Update after the other; each runs in its own goroutine, behind a
// savepoint of its own. When nobody waits any more (or the batch is full) it
// commits once, with one sync, and only then answers all of them. So a lone
// caller never waits for company and many callers share a sync.
//
// An Update must not start another inside its function: it would wait for
// itself. It may use View, which shows the state before it.
//
// # Reading
//
// View borrows one of a few read-only connections. It reads a snapshot of what
// was committed when it first read, and neither waits for the writer nor makes
// it wait.
//
// # Failing
//
// A write that finds no space or an I/O error is rolled back and everyone in the
// batch gets store.ErrUnavailable; the next Update tries again. A sync that
// fails, or a commit that ends in a way that leaves its durability in doubt,
// poisons the store: after a failed sync the kernel may have dropped the pages
// that it could not write, and a second sync would report success. From then on
// nothing is written or synced, Failed is closed, and only a new process may go on.
// That one may still be shown what never reached the disk, so it writes the log
// once more, and syncs it, before it builds anything upon it.
//
// # Starting
//
// Open looks before it touches anything: at the files, at the head of the
// database, at every frame of a log that a crash left, and at every page, each of
// which carries a checksum of ours. What is foreign, newer, cut short or damaged
// is refused; nothing is repaired. A new database gets its name when it is
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
