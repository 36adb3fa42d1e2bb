package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	lib "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestADiskErrorSaysWhichOperationOnWhichFileFailed, and what to do; SQLite says "disk I/O error: not an
// error" of each.
func TestADiskErrorSaysWhichOperationOnWhichFileFailed(t *testing.T) {
	for _, c := range []struct {
		fault fault
		want  string
	}{
		{fault{on: writes, nth: 1}, "writing FILE failed (code 778): look at the disk and at the log of the system"},
		{fault{on: syncs, nth: 1}, "syncing FILE failed (code 1034): look at the disk and at the log of the system"},
		{fault{on: reads, nth: 1, sticky: true}, "reading FILE failed (code 266): look at the disk and at the log of the system"},
		{fault{on: reads, nth: 1, sticky: true, code: lib.SQLITE_IOERR_DATA}, "a page of the store is damaged: restore it from a backup: FILE has a page with a wrong checksum (code 8202)"},
	} {
		s, d := mustOpenFaulty(t, 6)
		d.fail(c.fault)
		var err error
		if c.fault.on == reads {
			err = s.View(context.Background(), func(tx store.Tx) error {
				_, err := tx.Get(store.Tenants, "nobody", "nothing")
				return err
			})
		} else {
			err = putPair(s, 1)
		}
		file := journalFile
		if c.fault.on == reads {
			file = databaseFile
		}
		want := strings.ReplaceAll(c.want, "FILE", filepath.Join(s.dir.path, file))
		if errors.Is(err, store.ErrUnavailable) == (c.fault.on == syncs) || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "not an error") {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
		d.mend()
	}
}
