package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestABackupUnderWritersIsOneMoment of the store: both halves of every pair come
// from one commit, and it isn't older than what was there when it began.
func TestABackupUnderWritersIsOneMoment(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	mustPutPair(t, s, 1)
	mustDo(t, enlarge(s, 3000)) // so that the copy takes several steps
	until := make(chan struct{})
	var writers sync.WaitGroup
	writers.Go(func() {
		for n := 2; ; n++ {
			select {
			case <-until:
				return
			default:
			}
			if err := putPair(s, n); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for round := range fewer(5, 2) {
		began, err := readPair(s)
		mustDo(t, err)
		file := filepath.Join(t.TempDir(), "copy.db")
		steps := 0
		mustDo(t, Backup(context.Background(), dir, file, func(done, all int) {
			steps++
			if done > all {
				t.Errorf("%d of %d pages", done, all)
			}
		}))
		held, err := OpenCopy(context.Background(), file)
		mustDo(t, err)
		got := 0
		mustDo(t, held.View(context.Background(), func(tx store.Tx) (err error) { got, err = pairIn(tx); return err }))
		mustDo(t, held.Close())
		if got < began || steps == 0 {
			t.Errorf("round %d: the copy is at %d and began at %d, in %d steps", round, got, began, steps)
		}
		restored := filepath.Join(t.TempDir(), "restored")
		mustDo(t, Restore(context.Background(), file, restored, func(*Store) error { return nil }))
		wantPair(t, mustOpen(t, restored), got)
	}
	close(until)
	writers.Wait()
}

// enlarge makes the store some megabytes large.
func enlarge(s *Store, rows int) error {
	doc := []byte(`{"text":"` + strings.Repeat("x", 3000) + `"}`)
	return s.Update(context.Background(), func(tx store.Tx) error {
		for n := range rows {
			if err := tx.Put(store.Meta, "filled", store.Row{ID: "row-" + time.Duration(n).String(), Doc: doc}, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestABackupOfADamagedStoreIsRefused and leaves no file, whether the store is in
// use or not.
func TestABackupOfADamagedStoreIsRefused(t *testing.T) {
	dir := madeStore(t)
	path := filepath.Join(dir, databaseFile)
	text, err := os.ReadFile(path)
	mustDo(t, err)
	text[len(text)/2] ^= 1
	mustDo(t, os.WriteFile(path, text, 0o600))
	file := filepath.Join(t.TempDir(), "copy.db")
	if err := Backup(context.Background(), dir, file, nil); err == nil {
		t.Error("it was copied")
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestABackupThatIsStoppedLeavesNoFile behind.
func TestABackupThatIsStoppedLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	mustDo(t, enlarge(s, 4000))
	ctx, cancel := context.WithCancel(context.Background())
	file := filepath.Join(t.TempDir(), "copy.db")
	err := Backup(ctx, dir, file, func(int, int) { cancel() })
	left, globbed := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if !errors.Is(err, context.Canceled) || globbed != nil || len(left) > 0 {
		t.Errorf("%v; left %v", err, left)
	}
}

// TestARestoreThatFailsLeavesTheDirectoryAsItWas, missing or empty.
func TestARestoreThatFailsLeavesTheDirectoryAsItWas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "copy.db")
	mustDo(t, Backup(context.Background(), madeStore(t), file, nil))
	failed := errors.New("no")
	for name, dir := range map[string]string{"missing": filepath.Join(t.TempDir(), "store"), "empty": t.TempDir()} {
		_, before := os.Stat(dir)
		err := Restore(context.Background(), file, dir, func(*Store) error { return failed })
		_, after := os.Stat(dir)
		if !errors.Is(err, failed) || (before == nil) != (after == nil) {
			t.Errorf("%s: %v; before %v, after %v", name, err, before, after)
		}
		if _, err := os.Stat(dir + ".restoring"); !os.IsNotExist(err) {
			t.Errorf("%s: something is left beside it", name)
		}
	}
}

// TestAStoreIsMadeWholeOrNotAtAll, and never where something is.
func TestAStoreIsMadeWholeOrNotAtAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	failed := errors.New("no")
	fill := func(err error) func(*Store) error {
		return func(s *Store) error { return errors.Join(putPair(s, 1), err) }
	}
	if err := Make(context.Background(), dir, fill(failed)); !errors.Is(err, failed) {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	mustDo(t, Make(context.Background(), dir, fill(nil)))
	before := snapshot(t, dir)
	if err := Make(context.Background(), dir, fill(nil)); !errors.Is(err, ErrOccupied) {
		t.Error(err)
	}
	wantUnchanged(t, dir, before)
	wantPair(t, mustOpen(t, dir), 1)
}

// TestARestoreThatDiedIsBegunAnew: what it left beside the directory is removed.
func TestARestoreThatDiedIsBegunAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "copy.db")
	mustDo(t, Backup(context.Background(), madeStore(t), file, nil))
	dir := filepath.Join(t.TempDir(), "store")
	mustDo(t, os.Mkdir(dir+".restoring", 0o700))
	mustDo(t, os.WriteFile(filepath.Join(dir+".restoring", databaseFile), []byte("half"), 0o600))
	mustDo(t, Restore(context.Background(), file, dir, func(*Store) error { return nil }))
	mustOpen(t, dir)
}

// TestLookingAtAStoreChangesNothing and tells one in use from one that isn't.
func TestLookingAtAStoreChangesNothing(t *testing.T) {
	dir := madeStore(t)
	before := snapshot(t, dir)
	free, err := Look(dir)
	mustDo(t, err)
	wantUnchanged(t, dir, before)
	mustOpen(t, dir)
	used, err := Look(dir)
	mustDo(t, err)
	none, err := Look(t.TempDir())
	mustDo(t, err)
	if !free.Exists || free.InUse || !used.InUse || none.Exists || free.Bytes == 0 || free.Written.IsZero() {
		t.Errorf("%+v, %+v, %+v", free, used, none)
	}
}

// TestABackupOfADamagedStoreSaysWhichIsDamaged, once, and leaves no file.
func TestABackupOfADamagedStoreSaysWhichIsDamaged(t *testing.T) {
	dir := emptyStore(t)
	database := filepath.Join(dir, databaseFile)
	whole, err := os.ReadFile(database)
	mustDo(t, err)
	want := "store " + database + ": is damaged: restore it from a backup: "
	for _, at := range []int{200, len(whole) / 2} {
		content := slices.Clone(whole)
		content[at] ^= 1
		mustDo(t, os.WriteFile(database, content, 0o600))
		file := filepath.Join(t.TempDir(), "backup")
		if err := Backup(context.Background(), dir, file, nil); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("at %d\n got %v\nwant %s", at, err, want)
		}
		if left, err := filepath.Glob(file + "*"); err != nil || len(left) > 0 {
			t.Errorf("at %d: left %v, %v", at, left, err)
		}
	}
}
