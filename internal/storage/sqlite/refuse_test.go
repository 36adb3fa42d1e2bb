package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// madeStore returns the directory of a store with content, closed.
func madeStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := mustOpen(t, dir)
	for n := 1; n <= 3; n++ {
		mustPutPair(t, s, n)
	}
	mustClose(t, s)
	return dir
}

func TestForeignAndBrokenDatabasesAreRefusedUnchanged(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, database string)
		want  string
	}{
		"garbage":            {writeFile(strings.Repeat("this is no database ", 500)), "not a Countersign store"},
		"short garbage":      {writeFile("short"), "cut short"},
		"empty":              {writeFile(""), "empty"},
		"lost":               {func(t *testing.T, _, database string) { mustDo(t, os.Remove(database)) }, "has lost its file"},
		"database of others": {foreignDatabase, "another program"},
		"cut in half":        {func(t *testing.T, _, database string) { cut(t, database, mustStat(t, database).Size()/2) }, "damaged"},
		"cut by one page":    {func(t *testing.T, _, database string) { cut(t, database, mustStat(t, database).Size()-pageSize) }, "damaged"},
		"cut by one byte":    {func(t *testing.T, _, database string) { cut(t, database, mustStat(t, database).Size()-1) }, "damaged"},
		"cut to a header":    {func(t *testing.T, _, database string) { cut(t, database, headerSize) }, "damaged"},
		"newer migration":    {statement("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)"), "newer release"},
		"newer level":        {statement(fmt.Sprintf("PRAGMA user_version = %d", highest+1)), "newer release"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := madeStore(t)
			database := filepath.Join(dir, databaseFile)
			c.spoil(t, dir, database)
			before := snapshot(t, dir)
			_ = wantRefused(t, dir, c.want)
			_ = wantRefused(t, dir, c.want)
			removeIndex(t, dir)
			wantUnchanged(t, dir, before)
		})
	}
}

// removeIndex removes the empty log and its index that a look at a database in
// WAL mode leaves.
func removeIndex(t *testing.T, dir string) {
	t.Helper()
	if info, err := os.Stat(filepath.Join(dir, databaseFile+"-wal")); err == nil && info.Size() == 0 {
		mustDo(t, os.Remove(filepath.Join(dir, databaseFile+"-wal")))
		mustDo(t, os.Remove(filepath.Join(dir, databaseFile+"-shm")))
	}
}

func TestEmptyDatabaseIsNeverTakenForANewStore(t *testing.T) {
	dir := t.TempDir()
	mustDo(t, os.WriteFile(filepath.Join(dir, databaseFile), nil, 0o600))
	_ = wantRefused(t, dir, "is empty")
}

func TestLogWithoutDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	mustDo(t, os.WriteFile(filepath.Join(dir, databaseFile+"-wal"), []byte("x"), 0o600))
	_ = wantRefused(t, dir, "has lost its file")
}

func TestInterruptedCreationStartsOver(t *testing.T) {
	dir := t.TempDir()
	for _, suffix := range sqliteSuffixes {
		mustDo(t, os.WriteFile(filepath.Join(dir, databaseFile+newSuffix+suffix), []byte("half a database"), 0o600))
	}
	mustPutPair(t, mustOpen(t, dir), 1)
}

func TestLostMarkerIsReplaced(t *testing.T) {
	dir := madeStore(t)
	mustDo(t, os.Remove(filepath.Join(dir, markerFile)))
	wantPair(t, mustOpen(t, dir), 3)
	mustStat(t, filepath.Join(dir, markerFile))
}

// TestDamagedDatabaseIsRefused flips a bit here and there.
func TestDamagedDatabaseIsRefused(t *testing.T) {
	dir := madeStore(t)
	database := filepath.Join(dir, databaseFile)
	good, err := os.ReadFile(database)
	mustDo(t, err)
	for at := 13; at < len(good); at += len(good) / 60 {
		bad := append([]byte(nil), good...)
		bad[at] ^= 1 << (at % 8)
		mustDo(t, os.WriteFile(database, bad, 0o600))
		if s, err := Open(context.Background(), dir); err == nil {
			_ = s.Close()
			t.Fatalf("a flipped bit at %d went unseen", at)
		}
	}
	mustDo(t, os.WriteFile(database, good, 0o600))
	wantPair(t, mustOpen(t, dir), 3)
}

func TestEveryFlippedBitOfAPageIsSeen(t *testing.T) {
	page := firstPage()
	if !sound(page, 0) || sound(page, pageSize) {
		t.Error("a page is sound at its place and at no other")
	}
	if !sound(make([]byte, pageSize), 8*pageSize) {
		t.Error("a page that was never written is sound")
	}
	for bit := range 8 * pageSize {
		page[bit/8] ^= 1 << (bit % 8)
		if sound(page, 0) {
			t.Fatalf("bit %d went unseen", bit)
		}
		page[bit/8] ^= 1 << (bit % 8)
	}
}

func writeFile(content string) func(*testing.T, string, string) {
	return func(t *testing.T, _, database string) { mustDo(t, os.WriteFile(database, []byte(content), 0o600)) }
}

func foreignDatabase(t *testing.T, _, database string) {
	mustDo(t, os.Remove(database))
	db, err := sql.Open("sqlite", database)
	mustDo(t, err)
	_, err = db.Exec("CREATE TABLE theirs (x)")
	mustDo(t, errors.Join(err, db.Close()))
}

// statement changes a store behind its back, but with its sums.
func statement(text string) func(*testing.T, string, string) {
	return func(t *testing.T, _, database string) {
		db, err := defaults().writerPool(database)
		mustDo(t, err)
		_, err = db.Exec(text)
		mustDo(t, errors.Join(err, db.Close()))
	}
}

func cut(t *testing.T, path string, size int64) { t.Helper(); mustDo(t, os.Truncate(path, size)) }

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
