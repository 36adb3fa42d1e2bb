package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// unpacked is the directory of a stored store of an earlier release.
func unpacked(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(r)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatIsServedOfABackupRefusesWrites.
func TestWhatIsServedOfABackupRefusesWrites(t *testing.T) {
	const want = "store: unavailable: a backup is only read"
	err := readOnly{}.Update(t.Context(), func(store.Tx) error { return nil })
	if !errors.Is(err, store.ErrUnavailable) || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

// TestABackupByAnEarlierReleaseIsReadWithTheTablesOfThisOne: the file is not changed.
func TestABackupByAnEarlierReleaseIsReadWithTheTablesOfThisOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "backup")
	if err := sqlite.Backup(t.Context(), unpacked(t, "../../test/golden/0.1.0/store.tar.gz"), file, nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	err = current(t.Context(), file, func(held *sqlite.Copy) error {
		if held.Behind() {
			t.Error("it is as it was")
		}
		err := held.View(context.Background(), func(tx store.Tx) error {
			n, err := tx.Count(store.Runs, "default", store.Query{})
			if n != 3 {
				t.Errorf("%d runs, %v", n, err)
			}
			_, archived := tx.Count(store.Archived, "default", store.Query{}) // a table added by a later release
			return errors.Join(err, archived)
		})
		return errors.Join(err, held.Close())
	})
	if err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the backup was changed, %v", err)
	}
}

// TestABackupByAnEarlierReleaseIsChecked, and can so be restored, with the tables that it has.
func TestABackupByAnEarlierReleaseIsChecked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "backup")
	if err := sqlite.Backup(t.Context(), unpacked(t, "../../test/golden/0.1.0/store.tar.gz"), file, nil); err != nil {
		t.Fatal(err)
	}
	r, err := inspect(t.Context(), backupFile{path: file, plain: file})
	if err != nil || r.verdict() != nil || len(r.Logs) != 3 || r.Logs[2].Records == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
