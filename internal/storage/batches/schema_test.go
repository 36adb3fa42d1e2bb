package batches_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/storage/sqlite"
)

// schema opens the database of a new store, plainly.
func schema(t *testing.T) *sql.DB {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "countersign.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
