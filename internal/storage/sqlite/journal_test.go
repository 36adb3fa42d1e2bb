package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	lib "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestAJournalOlderThanTheDatabaseIsRefused: the commits that the tables lack were in the
// newer journal, and would be lost without a word.
func TestAJournalOlderThanTheDatabaseIsRefused(t *testing.T) {
	older, newer := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s, err := open(context.Background(), dir, plain)
		mustDo(t, err)
		defer mustClose(t, s)
		mustPutPair(t, s, 1)
		synctest.Wait() // its rows are written
		copyStore(t, older, dir)
		mustPutPair(t, s, 2)
		mustPutPair(t, s, 3)
		synctest.Wait()
		copyStore(t, newer, dir)
	})
	wantOpens := func(from string, n int) {
		t.Helper()
		dir := t.TempDir()
		copyStore(t, dir, from)
		s := mustOpen(t, dir)
		wantPair(t, s, n)
		mustClose(t, s)
	}
	wantOpens(older, 1)
	wantOpens(newer, 3)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		content, err := os.ReadFile(filepath.Join(older, journalFile+suffix))
		mustDo(t, err)
		mustDo(t, os.WriteFile(filepath.Join(newer, journalFile+suffix), content, 0o600))
	}
	const why = "is older than the store's database"
	if err := Backup(context.Background(), newer, filepath.Join(t.TempDir(), "backup"), nil); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("a backup: %v", err)
	}
	if _, err := Check(context.Background(), newer, true); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("a check: %v", err)
	}
	_ = wantRefused(t, newer, why)
}

// TestADatabaseOlderThanItsJournalIsRefused: a commit leaves the journal only once the tables
// have it, so a database that lacks commits which the journal has removed, or that names no
// journal although one has commits that it lacks, is an older one. Served, it would forget what
// was acknowledged and send again.
func TestADatabaseOlderThanItsJournalIsRefused(t *testing.T) {
	young, restarted, alone := t.TempDir(), t.TempDir(), t.TempDir()
	closed, unnamed, earlier, later := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for n, to := range []string{young, restarted} {
			s, err := open(context.Background(), dir, plain)
			mustDo(t, err)
			for i := 1; i <= 3; i++ {
				mustPutPair(t, s, 3*n+i)
				synctest.Wait() // its rows are written
			}
			copyStore(t, to, dir)
			if n > 0 {
				copyStore(t, unnamed, dir)
				copyStore(t, alone, dir)
			}
			mustClose(t, s)
			if n == 0 {
				copyStore(t, closed, dir)
			}
		}
		s, err := open(context.Background(), dir, plain)
		mustDo(t, err)
		defer mustClose(t, s)
		mustPutPair(t, s, 7)
		synctest.Wait()
		copyStore(t, earlier, dir)
		for n := 8; n <= 10; n++ {
			mustPutPair(t, s, n)
			synctest.Wait()
		}
		copyStore(t, later, dir)
	})
	for _, dir := range []string{young, restarted, unnamed, alone} {
		mustDo(t, os.Remove(filepath.Join(dir, databaseFile+"-wal")))
	}
	mustDo(t, (&directory{path: alone}).remove(journalFile))
	copyStore(t, unnamed, closed)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		content, err := os.ReadFile(filepath.Join(earlier, databaseFile+suffix))
		mustDo(t, err)
		mustDo(t, os.WriteFile(filepath.Join(later, databaseFile+suffix), content, 0o600))
	}
	for name, c := range map[string]struct{ dir, missing string }{
		"a young store that has lost its log":     {young, "commits 1 to 2 are missing"},
		"a restarted store that has lost its log": {restarted, "commits 4 to 5 are missing"},
		"a database of before, with its own log":  {later, "commits 8 to 9 are missing"},
		"a database that was closed before":       {unnamed, "commits 4 to 6 are missing"},
		"a copy of the database's own file":       {alone, "has lost its file " + journalFile},
	} {
		t.Run(name, func(t *testing.T) {
			for does, refused := range map[string]func() error{
				"a backup": func() error {
					return Backup(context.Background(), c.dir, filepath.Join(t.TempDir(), "backup"), nil)
				},
				"a check": func() error { _, err := Check(context.Background(), c.dir, true); return err },
				"a look": func() error {
					return Peek(context.Background(), c.dir, func(store.Tx) error { return nil })
				},
				"a start": func() error { return wantRefused(t, c.dir, c.missing) },
				"another": func() error { return wantRefused(t, c.dir, c.missing) },
			} {
				if err := refused(); err == nil || !strings.Contains(err.Error(), c.missing) {
					t.Errorf("%s: %v, want %q", does, err, c.missing)
				}
			}
		})
	}
}

// TestAJournalThatClosingDidNotRemoveIsDone: the tables have all its commits.
func TestAJournalThatClosingDidNotRemoveIsDone(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	s, err := open(context.Background(), from, awaiting(1<<20))
	mustDo(t, err)
	for n := 1; n <= 3; n++ {
		mustPutPair(t, s, n)
	}
	copyStore(t, dir, from)
	mustClose(t, s)
	for _, suffix := range sqliteSuffixes {
		mustDo(t, (&directory{path: dir}).remove(databaseFile+suffix))
	}
	copyStore(t, dir, from) // the database alone
	if _, err := Check(context.Background(), dir, true); err != nil {
		t.Errorf("a check: %v", err)
	}
	for n := 3; n <= 5; n++ {
		s := mustOpen(t, dir)
		wantPair(t, s, n)
		mustPutPair(t, s, n+1)
		mustClose(t, s)
	}
}

// TestALostJournalIsSeenByWhoeverOnlyReads as by a start: the commits that the tables lack were
// in it.
func TestALostJournalIsSeenByWhoeverOnlyReads(t *testing.T) {
	dir := unwritten(t)
	mustDo(t, (&directory{path: dir}).remove(journalFile))
	const why = "has lost its file " + journalFile
	if err := Backup(context.Background(), dir, filepath.Join(t.TempDir(), "backup"), nil); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("a backup: %v", err)
	}
	if _, err := Check(context.Background(), dir, true); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("a check: %v", err)
	}
}

// unwritten leaves a store with three commits whose rows are in the journal alone.
func unwritten(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	from := t.TempDir()
	s, err := open(context.Background(), from, awaiting(1<<20))
	mustDo(t, err)
	defer mustClose(t, s)
	for n := 1; n <= 3; n++ {
		mustPutPair(t, s, n)
	}
	copyStore(t, dir, from)
	return dir
}

// changeJournal runs a statement in the journal.
func changeJournal(t *testing.T, dir, text string) {
	t.Helper()
	db, err := plain.writerPool(filepath.Join(dir, journalFile))
	mustDo(t, err)
	_, err = db.Exec(text)
	mustDo(t, err)
	mustDo(t, db.Close())
}

func TestAJournalThatIsNotWholeIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir string)
		why    string
	}{
		"the first commit is missing": {func(dir string) { changeJournal(t, dir, "DELETE FROM commits WHERE number = 1") }, "commits 1 to 1 are missing"},
		"one between is missing":      {func(dir string) { changeJournal(t, dir, "DELETE FROM commits WHERE number = 2") }, "lacks commit 2"},
		"a frame is cut": {func(dir string) {
			changeJournal(t, dir, "UPDATE commits SET frame = substr(frame, 1, 20) WHERE number = 3")
		}, "can't be read"},
		"a frame has an unknown table": {func(dir string) { changeJournal(t, dir, "UPDATE commits SET frame = x'0178' WHERE number = 3") }, "unknown table"},
		"it is another store's":        {func(dir string) { changeJournal(t, dir, "UPDATE about SET id = 'another'") }, "is not the journal of this store's database"},
		"it is not there":              {func(dir string) { mustDo(t, (&directory{path: dir}).remove(journalFile)) }, "has lost its file"},
		"a bit of its log is flipped":  {func(dir string) { flipBit(t, filepath.Join(dir, journalFile+"-wal"), logHeadSize+frameHeadSize+100) }, "commits stand behind a bad frame"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unwritten(t)
			c.change(dir)
			_ = wantRefused(t, dir, c.why)
		})
	}
	dir := unwritten(t)
	s := mustOpen(t, dir)
	wantPair(t, s, 3)
	mustClose(t, s)
}

func flipBit(t *testing.T, path string, at int) {
	t.Helper()
	content, err := os.ReadFile(path)
	mustDo(t, err)
	content[at] ^= 1
	mustDo(t, os.WriteFile(path, content, 0o600))
}

// TestAJournalStaysWhereClosingCouldNotWriteItsRows: the last chance to write them is the
// next start's.
func TestAJournalStaysWhereClosingCouldNotWriteItsRows(t *testing.T) {
	dir := t.TempDir()
	settings, d := awaiting(1<<20), newDisk(t, dir)
	settings.vfs = faultyVFS
	s, err := open(context.Background(), dir, settings)
	mustDo(t, err)
	mustPutPair(t, s, 1)
	d.fail(fault{on: writes, nth: 1, code: lib.SQLITE_FULL})
	mustClose(t, s)
	if !d.hasFired() {
		t.Fatal("closing wrote nothing")
	}
	d.mend()
	again := mustOpen(t, dir)
	wantPair(t, again, 1)
	mustClose(t, again)
}
