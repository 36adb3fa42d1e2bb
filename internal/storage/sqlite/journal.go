package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	codes "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// The journal is a second SQLite database, in which a commit is one row. A commit is durable
// once it is there; its rows are written to the tables of the first database later, many
// commits at a time. Two databases have two locks, so that commits don't wait while rows are
// written; and both are SQLite's, so that what is known of one file's damage, torn writes
// and failed syncs holds for the other.
//
// The order between the two files needs three rules. The first database says up to which
// commit its tables have all rows, in the transaction that writes them. A commit is removed
// from the journal only after that transaction is synced. And a frame says what rows are,
// not how they change. So after a crash the frames above that number are applied in their
// order, and it doesn't matter how many of them the tables have already.
//
// The first database names its journal, so that it is never opened without it or with
// another's. It names one from the first start until the store is closed: then all rows are
// written, and the database alone is the store.
//
// So that a database which has lost its write-ahead log, or is an older copy, isn't served from,
// the name is copied into the database's own file when it is given, and the journal's commits
// are looked at in both directions: none may be missing between the last one that the tables
// have and the first one of the journal, and a journal beside a database that names none may
// have none that the tables lack.

const journalSchema = `CREATE TABLE about (id TEXT NOT NULL, after INTEGER NOT NULL) STRICT;
CREATE TABLE commits (number INTEGER PRIMARY KEY, frame BLOB NOT NULL) STRICT;`

// journal is the open journal. Only the writer uses it.
type journal struct {
	db      *sql.DB
	reading *sql.DB // open for as long as db: see close
	conn    *sqldoc.Conn
	log     *checkpointer
	bytes   int          // appended since the log was looked at
	removed int64        // commits up to this one are not there any more
	waiting atomic.Int64 // bytes of frames since commits were removed last
}

// named is what the database says of its journal.
type named struct {
	id      string // "" for none
	written int64  // the tables have all rows up to this commit
}

// readNamed reads it in the connection's transaction.
func readNamed(conn *sqldoc.Conn) (n named, err error) {
	err = conn.QueryRow("SELECT id, written FROM journal", &n.id, &n.written)
	return n, err
}

// createJournal makes a journal of the commits after one that the tables have, under a
// temporary name, and renames it once it is complete and durable. One that is there is of a
// store that was being closed (see checkDone), and is removed.
func (d *directory) createJournal(ctx context.Context, s settings, after int64) (id string, err error) {
	id = rand.Text()
	if err := d.remove(journalFile); err != nil {
		return "", err
	}
	err = d.build(journalFile, func(path string) error {
		return s.fill(ctx, path, func(db *sql.DB) error {
			if _, err := db.ExecContext(ctx, journalSchema); err != nil {
				return err
			}
			_, err := db.ExecContext(ctx, "INSERT INTO about VALUES (?, ?)", id, after)
			return err
		})
	})
	return id, err
}

// checkDone refuses a journal that the database doesn't name and lacks commits of.
func (d *directory) checkDone(ctx context.Context, s settings, written int64) (err error) {
	if !d.has(journalFile) {
		return nil
	}
	db, err := s.readerPool(d.file(journalFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	h, err := readHeld(ctx, db)
	if err == nil {
		err = h.checkUnnamed(written)
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", d.file(journalFile), err)
	}
	return nil
}

// openJournal opens the journal that the database names.
func (d *directory) openJournal(ctx context.Context, s settings, n named) (j *journal, err error) {
	j = &journal{removed: n.written}
	if err = j.connect(ctx, d.file(journalFile), s); err == nil {
		err = j.check(ctx, n)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store %s: %w", d.file(journalFile), err), j.close())
	}
	j.log = newCheckpointer(j.conn, s)
	return j, nil
}

func (j *journal) connect(ctx context.Context, path string, s settings) (err error) {
	if j.reading, err = s.readerPool(path); err != nil {
		return err
	}
	j.reading.SetMaxOpenConns(1)
	if j.db, err = s.writerPool(path); err == nil {
		j.conn, err = pin(ctx, j.db, path)
	}
	if err == nil {
		// What a removed commit held is written over by the next ones, and gone with the file when the
		// store is closed. To overwrite it at once would take space that outcomes need on a full disk.
		err = j.conn.Exec("PRAGMA secure_delete = OFF")
	}
	return err
}

// check refuses a damaged journal, another store's, and a journal and a database of which one
// is an older copy.
func (j *journal) check(ctx context.Context, n named) error {
	if err := checkPages(ctx, j.reading); err != nil {
		return err
	}
	h, err := readHeld(ctx, j.reading)
	if err != nil {
		return err
	}
	if h.id != n.id {
		return errors.New("is not the journal of this store's database: restore both from one backup")
	}
	if err := h.checkLast(n.written); err != nil {
		return err
	}
	return h.checkFirst(n.written)
}

// held is what a journal says of itself: whose it is, and which commits it has.
type held struct {
	id     string
	before int64 // the commit before the first one
	last   int64 // before, if it has none
}

// readHeld reads it. A journal that has no commit never had one: the last one is removed only
// with the next one's coming.
func readHeld(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (h held, err error) {
	const query = "SELECT id, COALESCE((SELECT MIN(number) - 1 FROM commits), after), COALESCE((SELECT MAX(number) FROM commits), after) FROM about"
	if err := db.QueryRowContext(ctx, query).Scan(&h.id, &h.before, &h.last); err != nil {
		return h, unreadable(err)
	}
	return h, nil
}

// checkLast refuses a journal that lacks commits which the tables have. It is an older copy:
// a commit is in the journal before its rows are in the tables, and is removed only by a
// later one. The commits that the tables lacked were in the newer journal.
func (h held) checkLast(written int64) error {
	if h.last < written {
		return fmt.Errorf("is older than the store's database: its last commit is %d, the tables have all up to %d: restore the store from a backup", h.last, written)
	}
	return nil
}

// checkFirst refuses a journal that has removed commits which the tables lack. They are of an
// older copy, or have lost their log: a commit is removed only once the tables have it.
func (h held) checkFirst(written int64) error {
	if h.before > written {
		return olderDatabase(written, h.before)
	}
	return nil
}

// checkUnnamed refuses a journal beside a database that doesn't name it and lacks commits of it.
// The name is taken away once the tables have all of them: so the database is from before it
// named this journal.
func (h held) checkUnnamed(written int64) error {
	if h.last > written {
		return olderDatabase(written, h.last)
	}
	return nil
}

func lostJournal() error {
	return fmt.Errorf("the store has lost its file %s: restore it from a backup", journalFile)
}

func olderDatabase(written, missing int64) error {
	return fmt.Errorf("the store's database is older than its journal, or has lost its file %s: it has all commits up to %d, and commits %d to %d are missing: put that file back, or restore the store from a backup",
		databaseFile+"-wal", written, written+1, missing)
}

// querier is a database or a transaction in it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// eachFrame calls f for the frames after a commit, in their order. The frames of all
// commits after it must be there.
func eachFrame(ctx context.Context, db querier, after int64, f func(frame []byte) error) (err error) {
	rows, err := db.QueryContext(ctx, "SELECT number, frame FROM commits WHERE number > ? ORDER BY number", after)
	if err != nil {
		return unreadable(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var number int64
		var frame sql.RawBytes
		if err := rows.Scan(&number, &frame); err != nil {
			return unreadable(err)
		}
		if after++; number != after {
			return fmt.Errorf("is damaged: it lacks commit %d: restore the store from a backup", after)
		}
		if err := f(frame); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return unreadable(err)
	}
	return nil
}

// append makes a commit durable. Commits up to written are removed with it. doubt says that
// it may become durable although it failed.
func (j *journal) append(number int64, frame []byte, written int64) (doubt bool, err error) {
	j.bytes += len(frame) + pageSize
	if err := j.insert(number, frame, written); err != nil {
		return syncFailed(err), err
	}
	crashpoint.At("sqlite.commit", nil)
	if err := j.conn.Exec("COMMIT"); err != nil {
		return !surelyNotCommitted(err), err
	}
	crashpoint.At("sqlite.committed", nil)
	if written > j.removed {
		j.removed = written
		j.waiting.Store(0)
	}
	j.waiting.Add(int64(len(frame)))
	return false, nil
}

func (j *journal) insert(number int64, frame []byte, written int64) error {
	if err := j.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if written > j.removed {
		if err := j.conn.Run("DELETE FROM commits WHERE number <= $1", written); err != nil {
			return err
		}
	}
	return j.conn.Run("INSERT INTO commits VALUES ($1, $2)", number, frame)
}

// checkpoint keeps the journal's own log short.
func (j *journal) checkpoint() error {
	if j.bytes < pageSize*j.log.every/4 {
		return nil
	}
	j.bytes = 0
	return j.log.checkpoint()
}

// close closes the connections. The last one would checkpoint, and so sync, if it could
// write: it is the one that only reads. What is in the log is found there at the next start.
func (j *journal) close() error {
	var errs []error
	if j.conn != nil {
		errs = append(errs, j.conn.Close())
	}
	for _, db := range []*sql.DB{j.db, j.reading} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// tableNamed finds a table of the product, or one that only tests have.
func tableNamed(tables []*store.Table) func(name string) *store.Table {
	return func(name string) *store.Table {
		for _, t := range tables {
			if t.Name == name {
				return t
			}
		}
		return nil
	}
}

// recover applies the journal's commits that the tables lack.
func (j *journal) recover(ctx context.Context, w *writebehind.Writer, after int64) error {
	known := tableNamed(store.Tables())
	return eachFrame(ctx, j.reading, after, func(frame []byte) error {
		if err := w.Recover(frame, known); err != nil {
			if code(err) == codes.SQLITE_OK {
				err = fmt.Errorf("is damaged: restore the store from a backup: %w", err)
			}
			return err
		}
		return nil
	})
}
