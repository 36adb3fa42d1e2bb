package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	lib "modernc.org/sqlite/lib"
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
		"the first commit is missing": {func(dir string) { changeJournal(t, dir, "DELETE FROM commits WHERE number = 1") }, "lacks commit 1"},
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
