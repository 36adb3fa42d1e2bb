package writebehind_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// meddling is a Reader under which somebody else does something just before the snapshot of
// the database begins.
type meddling struct {
	writebehind.Reader
	first func()
}

func (m meddling) Begin() (writebehind.Base, error) {
	m.first()
	return m.Reader.Begin()
}

// TestNoLayerIsWrittenWhileASnapshotBegins: between the choice of the layers and the
// beginning of the snapshot below them.
func TestNoLayerIsWrittenWhileASnapshotBegins(t *testing.T) {
	e := newEngine(1)
	e.put(t, "a", 0)
	e.frozen = e.layers.Freeze()
	var written atomic.Bool
	var writing sync.WaitGroup
	borrow := func() (writebehind.Reader, error) {
		r, err := e.borrow()
		return meddling{r, func() {
			writing.Go(func() { e.write(); written.Store(true) })
			if !writebehind.WaitsForLock("writebehind.(*Frozen).Written", written.Load) {
				t.Error("a layer was written")
			}
		}}, err
	}
	err := e.layers.View(borrow, func(tx store.Tx) error {
		rows, err := tx.List(simple, "acme", store.Query{})
		if len(rows) != 1 {
			t.Errorf("the View lists %v", rows)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	writing.Wait()
}

// put commits one row, and neither freezes nor writes anything.
func (e *engine) put(t *testing.T, id string, version int64) {
	t.Helper()
	b := e.writer.Begin()
	defer b.End()
	err, broken := b.Run(func(tx store.Tx) error {
		return tx.Put(simple, "acme", store.Row{ID: id, Doc: fmt.Append(nil, version+1)}, version)
	})
	if err != nil || broken != nil {
		t.Fatal(err, broken)
	}
	b.Committed()
}

// TestAViewShowsItsCommitWhileOthersFollow: no commit takes away what a View that begins in
// the same moment shows.
func TestAViewShowsItsCommitWhileOthersFollow(t *testing.T) {
	e := newEngine(1)
	e.put(t, "a", 0)
	var over atomic.Bool
	var viewers sync.WaitGroup
	for range 4 {
		viewers.Go(func() {
			for !over.Load() {
				err := e.layers.View(e.borrow, func(tx store.Tx) error {
					row, err := tx.Get(simple, "acme", "a")
					if err == nil && string(row.Doc) != fmt.Sprint(row.Version) {
						err = fmt.Errorf("version %d has the document %s", row.Version, row.Doc)
					}
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for version := int64(1); version < 20_000; version++ {
		e.put(t, "a", version)
	}
	over.Store(true)
	viewers.Wait()
}
