package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestRowsThatCannotBeWrittenAreBounded: while writing them to their tables fails, Updates
// are refused beyond a bound, but for urgent ones, and taken again afterwards.
func TestRowsThatCannotBeWrittenAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		settings := awaiting(1)
		settings.mostPending, settings.flushAge = 20_000, time.Second
		s, err := open(context.Background(), dir, settings)
		mustDo(t, err)
		defer mustClose(t, s)
		mustDo(t, s.flusher.log.busyTimeout(0)) // it would wait in real time
		put := func(ctx context.Context, n int) error {
			return s.Update(ctx, func(tx store.Tx) error {
				return tx.Put(store.Tenants, "acme", store.Row{ID: fmt.Sprintf("%03d", n), Doc: make([]byte, 3000)}, 0)
			})
		}
		locked, err := plain.writerPool(filepath.Join(dir, databaseFile))
		mustDo(t, err)
		_, err = locked.Exec("BEGIN IMMEDIATE")
		mustDo(t, err)
		n := 0
		for err = nil; err == nil && n < 100; n++ {
			err = put(context.Background(), n)
			time.Sleep(settings.flushAge) // the flusher tries it, and fails
		}
		if !errors.Is(err, store.ErrUnavailable) || isFailed(s) || !s.Full() {
			t.Errorf("after %d Updates: %v, poisoned %t, full %t", n, err, isFailed(s), s.Full())
		}
		if most := 3 * settings.mostPending; s.Lag() > int64(most) {
			t.Errorf("%d bytes of rows wait, want at most %d", s.Lag(), most)
		}
		mustDo(t, put(store.Urgent(context.Background()), 200))
		_, err = locked.Exec("ROLLBACK")
		mustDo(t, errors.Join(err, locked.Close()))
		time.Sleep(2 * mostPause)
		mustDo(t, put(context.Background(), 300))
	})
}

// holdFlushes has rows wait that are being written to their tables, until the channel is closed.
func (d *disk) holdFlushes() chan struct{} {
	held := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.moment = func(on operation) { // of a call, with the disk's lock
		if on == writes && bytes.Contains(debug.Stack(), []byte("(*flusher).flush")) {
			d.mu.Unlock()
			<-held
			d.mu.Lock()
		}
	}
	return held
}

// TestCommitsWaitForASlowDisk: rows that are not in their tables yet take memory and space in the
// journal.
func TestCommitsWaitForASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const updates = 100
		dir := t.TempDir()
		settings, d := awaiting(1), newDisk(t, dir)
		settings.mostPending, settings.flushAge, settings.vfs = 20_000, time.Hour, faultyVFS
		s, err := open(context.Background(), dir, settings)
		mustDo(t, err)
		defer mustClose(t, s)
		slow := d.holdFlushes()
		written, all := atomic.Int64{}, sync.WaitGroup{}
		all.Go(func() {
			for n := range updates {
				err := s.Update(context.Background(), func(tx store.Tx) error {
					return tx.Put(store.Tenants, "acme", store.Row{ID: fmt.Sprintf("%03d", n), Doc: make([]byte, 3000)}, 0)
				})
				if err != nil {
					t.Error(err)
				}
				written.Add(1)
			}
		})
		synctest.Wait()
		if most := int64(2 * settings.mostPending); written.Load() == updates || s.Lag() > most {
			t.Errorf("%d of %d Updates were answered while nothing was written to the tables, and %d bytes of rows wait, want at most %d", written.Load(), updates, s.Lag(), most)
		}
		close(slow)
		all.Wait()
	})
}

// TestABackupHasWhatIsWrittenToTheTablesMeanwhile: commits leave the journal while the
// database is copied.
func TestABackupHasWhatIsWrittenToTheTablesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, file := t.TempDir(), filepath.Join(t.TempDir(), "backup")
		s, err := open(context.Background(), dir, plain)
		mustDo(t, err)
		defer mustClose(t, s)
		mustPutPair(t, s, 1)
		n := 1
		mustDo(t, Backup(context.Background(), dir, file, func(int, int) {
			for range 3 {
				n++
				mustPutPair(t, s, n)
				synctest.Wait() // the rows are in the tables
			}
		}))
		held, err := OpenCopy(context.Background(), file)
		mustDo(t, err)
		mustDo(t, held.View(context.Background(), func(tx store.Tx) error {
			if got, err := pairIn(tx); got != 1 || err != nil {
				t.Errorf("the backup is at %d (%v), want 1", got, err)
			}
			return nil
		}))
		mustDo(t, held.Close())
	})
}
