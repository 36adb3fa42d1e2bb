package sqlite

import (
	"path/filepath"
	"testing"
)

// TestAJournalOfAnEarlierReleaseIsNotReadByThisOne: its frames have that release's columns.
// That release still reads them.
func TestAJournalOfAnEarlierReleaseIsNotReadByThisOne(t *testing.T) {
	dir, _ := crashed(t, false)
	in := func(statement string) {
		db, err := defaults().writerPool(filepath.Join(dir, databaseFile))
		mustDo(t, err)
		_, err = db.Exec(statement)
		mustDo(t, err)
		mustDo(t, db.Close())
	}
	in("UPDATE goose_db_version SET version_id = version_id - 1 WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)")
	if wantRefused(t, dir, "start that release once more") == nil {
		t.Error("the store was opened")
	}
	in("UPDATE goose_db_version SET version_id = version_id + 1 WHERE id = (SELECT MAX(id) FROM goose_db_version)")
	wantPair(t, mustOpen(t, dir), 6)
}
