package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// ahead is a journal as another process finds it: the commits whose rows the database may
// lack. It must be read before the database. A service that stops meanwhile has written all
// of them to the database, which then names no journal, or a newer one.
type ahead struct {
	held   // its id is "" for no journal
	frames [][]byte
}

// readAhead reads the journal of a store, also while a service uses it. It refuses a damaged
// one, and a journal and a database of which one is an older copy. A service goes on meanwhile:
// what the tables have before the journal is read, it had written to the journal; and what they
// have afterward is all that it had removed from it.
func readAhead(ctx context.Context, dir string) (a ahead, err error) {
	path, database := filepath.Join(dir, journalFile), filepath.Join(dir, databaseFile)
	first, err := namedBy(ctx, database)
	if err != nil {
		return a, err
	}
	_, missing := os.Lstat(path)
	if missing == nil {
		if err := a.readFile(ctx, path); err != nil {
			return a, fmt.Errorf("%s: %w", path, err)
		}
	} else if !errors.Is(missing, os.ErrNotExist) {
		return a, missing
	}
	then, err := namedBy(ctx, database)
	switch {
	case err != nil:
		return a, err
	case missing != nil && then.id != "" && then.id == first.id:
		return a, lostJournal()
	case missing != nil:
		return a, nil
	case then.id != a.id:
		err = a.checkUnnamed(then.written)
	default:
		err = a.checkFirst(then.written)
	}
	if err == nil && first.id == a.id {
		err = a.checkLast(first.written)
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// namedBy is what a database says of its journal; nothing if it is an earlier release's.
func namedBy(ctx context.Context, path string) (n named, err error) {
	db, err := defaults().readerPool(path)
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var journals int
	if err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'journal'").Scan(&journals); err == nil && journals > 0 {
		err = db.QueryRowContext(ctx, "SELECT id, written FROM journal").Scan(&n.id, &n.written)
	}
	if err != nil {
		return n, fmt.Errorf("store %s: %w", path, unreadable(err))
	}
	return n, nil
}

func (a *ahead) readFile(ctx context.Context, path string) error {
	db, err := defaults().readerPool(path)
	if err != nil {
		return err
	}
	return errors.Join(a.read(ctx, db), db.Close())
}

func (a *ahead) read(ctx context.Context, db *sql.DB) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return unreadable(err)
	}
	defer func() { _ = tx.Rollback() }()
	if a.held, err = readHeld(ctx, tx); err != nil {
		return err
	}
	return eachFrame(ctx, tx, a.before, func(frame []byte) error {
		a.frames = append(a.frames, append([]byte(nil), frame...))
		return nil
	})
}

// above puts the commits that a snapshot of the database lacks above it.
func (a ahead) above(n named, borrow writebehind.Borrow) (*writebehind.Layers, error) {
	layers := writebehind.New(n.written)
	if n.id == "" || n.id != a.id {
		return layers, nil
	}
	if a.before > n.written {
		return nil, olderDatabase(n.written, a.before)
	}
	w, known := layers.NewWriter(borrow), tableNamed(store.Tables())
	for _, frame := range a.frames[min(int64(len(a.frames)), n.written-a.before):] {
		if err := w.Recover(frame, known); err != nil {
			return nil, err
		}
	}
	return layers, nil
}

// lent is a connection in a snapshot that several readers use, one after the other.
type lent struct{ tableSnapshot }

func (l lent) Begin() (writebehind.Base, error) { return l, nil }
func (lent) Release()                           {}
func (lent) Close()                             {}

// view calls fn with a snapshot of the whole store.
func (a ahead) view(conn *sqldoc.Conn, fn func(store.Tx) error) error {
	base, err := begin(conn)
	if err != nil {
		return err
	}
	defer base.Close()
	borrow := func() (writebehind.Reader, error) { return lent{base}, nil }
	layers, err := a.above(base.journal, borrow)
	if err != nil {
		return err
	}
	return layers.View(borrow, fn)
}

// write makes a copy of the database the whole store.
func (a ahead) write(ctx context.Context, file string) (err error) {
	db, err := defaults().writerPool(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := pin(ctx, db, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var journals, packs int
	if err := conn.QueryRow("SELECT COUNT(*) FILTER (WHERE name = 'journal'), COUNT(*) FILTER (WHERE name = 'audit_packs') FROM sqlite_schema", &journals, &packs); err != nil || journals == 0 {
		return err // of an earlier release
	}
	n, err := readNamed(conn)
	if err != nil {
		return err
	}
	if n.id != "" && packs == 0 {
		return errors.New("an earlier release uses the store, or ended without closing it: make the backup with that release")
	}
	layers, err := a.above(n, func() (writebehind.Reader, error) { return reader{conn: conn}, nil })
	if err != nil {
		return err
	}
	if frozen := layers.Freeze(); frozen != nil {
		f := flusher{conn: conn, poisoned: func() bool { return false }}
		if err := f.rows(frozen); err != nil {
			return err
		}
		if err := conn.Exec("COMMIT"); err != nil {
			return err
		}
	}
	return conn.Run("UPDATE journal SET id = ''")
}
