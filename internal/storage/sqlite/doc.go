// Package sqlite is the embedded store: one SQLite file in a directory that one
// process owns.
//
// # Writing
//
// A commit is one row in the journal, a second SQLite database (journal.go). A goroutine, the
// writer, runs the waiting Updates in turn, each function in its caller's goroutine. When none
// waits any more, or the batch is full, it makes all that they wrote one commit, with one
// sync, and then answers them. So a single caller is never delayed for others, and many
// callers share a sync.
//
// Another goroutine, the flusher, writes the rows of many commits to their tables in one
// transaction (flusher.go, package writebehind). If it can't, because the disk is full, it
// tries again; beyond a bound, commits wait for it or are refused.
//
// A function of Update must not call Update, which would wait for itself. It may call
// View, which shows the state before the batch.
//
// # Reading
//
// View shows the state after the last commit before it began: the rows that are not in their
// tables yet, and below them a snapshot of the database on one of a few read-only
// connections, begun when it is needed first. It doesn't wait for the writer, nor the writer
// for it.
//
// # Failing
//
// After a commit that fails for lack of space or an I/O error the batch is rolled back and
// each of its Updates gets store.ErrUnavailable; the next Update tries again. A failed
// sync, or a COMMIT whose durability is not known, poisons the store, and the Updates of
// that commit get store.ErrInDoubt: after a failed sync the kernel may have dropped the
// pages that it could not write, and a second sync would report success. A poisoned store
// writes and syncs nothing more, Failed is closed, and the process must end. The next
// process may still read from the kernel's cache what never reached the disk, so it
// rewrites and syncs the log before anything else.
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
//	countersign.db       the database; its application id marks it as ours
//	countersign.journal  commits whose rows may not be in the database; while it is in use only
//	countersign.*-wal    the write-ahead logs, and -shm their indexes, SQLite's own
//	countersign.lock  locked for as long as a process uses the directory
//	countersign.store says that a store was made here, so that a directory that
//	                  lost its database is not taken for a new one
package sqlite
