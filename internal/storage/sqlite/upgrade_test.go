package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
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

// TestAStoreThatAnEarlierReleaseLeftOpenIsNotBackedUpByThisOne: it can't read what that release
// has not yet written to the tables.
func TestAStoreThatAnEarlierReleaseLeftOpenIsNotBackedUpByThisOne(t *testing.T) {
	const want = "an earlier release uses the store, or ended without closing it: make the backup with that release"
	dir, _ := crashed(t, false)
	inDatabase(t, dir, func(db *sql.DB) {
		_, err := db.Exec("DROP TABLE audit_packs")
		mustDo(t, err)
	})
	file := filepath.Join(t.TempDir(), "backup")
	if err := Backup(context.Background(), dir, file, nil); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file: %v", err)
	}
}

// TestRecordsOfAnEarlierReleaseStayAsTheyAre: a store whose records are all in the table gets
// packs for those that follow, and both are one log.
func TestRecordsOfAnEarlierReleaseStayAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	mustClose(t, mustOpen(t, dir))
	l := &drawnLog{t: t, r: rand.New(rand.NewPCG(drawnSeed(*logSeed), 4)), stores: []store.Store{memory.New(), nil}, next: map[string]int64{}}
	rows := map[string][]store.Row{}
	for _, tenant := range []string{"acme", store.Realm} {
		for range 500 {
			rows[tenant] = append(rows[tenant], l.record(l.next[tenant]))
			l.next[tenant]++
		}
	}
	inDatabase(t, dir, func(db *sql.DB) {
		for _, statement := range []string{"DROP TABLE audit_packs", "DROP TABLE audit_postings", "DROP INDEX steps_sent", "ALTER TABLE steps DROP COLUMN sent", "DELETE FROM goose_db_version WHERE version_id > 10", "PRAGMA user_version = 2"} {
			_, err := db.Exec(statement)
			mustDo(t, err)
		}
		tx, err := db.Begin()
		mustDo(t, err)
		for tenant, of := range rows {
			for _, row := range of {
				_, err := tx.Exec("INSERT INTO audit VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?)", append([]any{tenant, row.ID, string(row.Doc)}, row.Keys...)...)
				mustDo(t, err)
				mustDo(t, l.stores[0].Update(context.Background(), func(tx store.Tx) error { return tx.Put(store.Audit, tenant, row, 0) }))
			}
		}
		mustDo(t, tx.Commit())
	})
	s, err := open(context.Background(), dir, plain)
	mustDo(t, err)
	defer func() { mustClose(t, s) }()
	l.stores[1] = s
	for range 20 {
		l.change()
		l.ask()
	}
	left, packed := 0, 0
	mustDo(t, s.flusher.conn.QueryRow("SELECT (SELECT COUNT(*) FROM audit), (SELECT SUM(n) FROM audit_packs)", &left, &packed))
	if left < 900 || packed == 0 {
		t.Errorf("%d records are in the table, %d in packs", left, packed)
	}
}

// TestAReleaseWithoutPacksRefusesTheStore, as each that knows a lower level does.
func TestAReleaseWithoutPacksRefusesTheStore(t *testing.T) {
	dir := t.TempDir()
	mustClose(t, mustOpen(t, dir))
	inDatabase(t, dir, func(db *sql.DB) {
		if err := checkRelease(context.Background(), db, 10); err == nil || !strings.Contains(err.Error(), "newer release") {
			t.Errorf("a release that knows schema 10: %v", err)
		}
		var needed int
		mustDo(t, db.QueryRow("PRAGMA user_version").Scan(&needed))
		if needed != level {
			t.Errorf("the store needs level %d", needed)
		}
	})
}

// TestALogThatGrowsByOneIsAsSmallAsAnother: of a quiet service each flush writes one record.
func TestALogThatGrowsByOneIsAsSmallAsAnother(t *testing.T) {
	const records = 2 * pack.Most
	packs := func(t *testing.T, atOnce int) (n, bytes int) {
		s, err := open(context.Background(), emptyStore(t), withCheckpoints(100_000, 1))
		mustDo(t, err)
		defer mustClose(t, s)
		for seq := int64(0); seq < records; {
			mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
				for range atOnce {
					if err := tx.Put(store.Audit, "acme", productRecord(seq), 0); err != nil {
						return err
					}
					seq++
				}
				return nil
			}))
			synctest.Wait() // they are written
		}
		mustDo(t, s.flusher.conn.QueryRow("SELECT COUNT(*), SUM(length(content)) FROM audit_packs", &n, &bytes))
		return n, bytes
	}
	synctest.Test(t, func(t *testing.T) {
		n, bytes := packs(t, records)
		slowly, slowBytes := packs(t, 1)
		if n != 2 || slowly != 2 || slowBytes > bytes*11/10 {
			t.Errorf("%d records at once are %d packs of %d bytes; one by one %d of %d", records, n, bytes, slowly, slowBytes)
		}
	})
}
