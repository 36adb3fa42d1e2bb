package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	lib "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestAnUpdateThatWaitsWhileAClosingStoreFailsIsAnswered: an Update waits for its turn while
// the store is closed, and the sync of the commit before it fails.
func TestAnUpdateThatWaitsWhileAClosingStoreFailsIsAnswered(t *testing.T) {
	for range 8 { // whether the writer sees first that somebody waits or that it is closed is drawn
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			settings, d := awaiting(1<<20), newDisk(t, dir)
			settings.vfs = faultyVFS
			s, err := open(context.Background(), dir, settings)
			mustDo(t, err)
			mustPutPair(t, s, 1) // from now on a commit is one sync
			var all sync.WaitGroup
			errs := make([]error, 3)
			update := func(i int) {
				errs[i] = s.Update(context.Background(), func(tx store.Tx) error {
					return tx.Put(store.Tenants, "acme", store.Row{ID: fmt.Sprint(i), Doc: []byte("{}")}, 0)
				})
			}
			synced := 0
			d.moment = func(on operation) { // of a commit
				if on == syncs && synced < 2 {
					synced++
					next := synced
					all.Go(func() { update(next) })
					synctest.Wait()
				}
			}
			d.fail(fault{on: syncs, nth: 2})
			all.Go(func() {
				errs[0] = s.Update(context.Background(), func(tx store.Tx) error {
					go func() { _ = s.Close() }()
					synctest.Wait()
					return tx.Put(store.Tenants, "acme", store.Row{ID: "0", Doc: []byte("{}")}, 0)
				})
			})
			all.Wait()
			if errs[0] != nil || !errors.Is(errs[1], store.ErrInDoubt) || !errors.Is(errs[2], store.ErrUnavailable) {
				t.Errorf("the Updates came to %v", errs)
			}
			_ = s.Close()
		})
	}
}

// TestADamagedPageFoundByAFlushPoisons: rows that can't be written to damaged tables can
// never be written.
func TestADamagedPageFoundByAFlushPoisons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		settings, d := awaiting(20_000), newDisk(t, dir)
		settings.vfs = faultyVFS
		s, err := open(context.Background(), dir, settings)
		mustDo(t, err)
		defer func() { _ = s.Close() }()
		put := func(id string, size int) {
			t.Helper()
			mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
				return tx.Put(store.Tenants, "acme", store.Row{ID: id, Doc: make([]byte, size)}, 0)
			}))
		}
		put("a", 10) // an id above this one is read nowhere
		d.fail(fault{on: reads, nth: 1, sticky: true, code: lib.SQLITE_IOERR_DATA})
		put("z", 20_000)
		synctest.Wait()
		if !d.hasFired() {
			t.Fatal("the flush read nothing")
		}
		if !isFailed(s) {
			t.Error("the store goes on above damaged tables")
		}
	})
}
