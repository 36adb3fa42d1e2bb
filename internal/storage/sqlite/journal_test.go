package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
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
