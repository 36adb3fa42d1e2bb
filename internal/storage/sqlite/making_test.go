package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/storage/sqldoc"
)

// killedStore leaves what a kill leaves: everything stands in the log.
func killedStore(t *testing.T, dir string, before []change) {
	t.Helper()
	from := t.TempDir()
	s, err := open(t.Context(), from, plain)
	mustDo(t, err)
	for _, c := range before {
		mustDo(t, s.Update(t.Context(), c))
	}
	copyStore(t, dir, from)
	mustClose(t, s)
}

// firstSchema leaves what a kill leaves of a store of the first release.
func firstSchema(t *testing.T, dir string, before []change) {
	t.Helper()
	from := t.TempDir()
	path := filepath.Join(from, databaseFile)
	mustDo(t, os.WriteFile(path, firstPage(), 0o600))
	mustDo(t, os.WriteFile(filepath.Join(from, markerFile), []byte(markerText), 0o600))
	db, err := plain.writerPool(path)
	mustDo(t, err)
	provider, err := migrations(db)
	mustDo(t, err)
	_, err = provider.UpTo(t.Context(), 1)
	mustDo(t, err)
	conn, err := pin(t.Context(), db, path)
	mustDo(t, err)
	mustDo(t, writeAll(conn, before))
	copyStore(t, dir, from)
	mustDo(t, errors.Join(conn.Close(), db.Close()))
}

func writeAll(conn *sqldoc.Conn, changes []change) error {
	if err := conn.Exec("BEGIN"); err != nil {
		return err
	}
	tx := conn.Begin(false)
	defer tx.End()
	if err := together(changes...)(tx); err != nil {
		return err
	}
	return conn.Exec("COMMIT")
}
