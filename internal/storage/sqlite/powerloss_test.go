package sqlite

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/store"
)

var (
	losses   = flag.Int("losses", 0, "how many workloads lose power; 0: 24, or 2 with -short")
	lossSeed = flag.Uint64("loss-seed", 0, "of the first of them; 0: another one each time")
)

// TestPowerLoss cuts the power at drawn calls to the disk while several
// goroutines write: what a sync has followed is there, and of the rest any part,
// torn between sectors. Every Update that was acknowledged by then is there, each
// other one whole or not at all, and none is there without the one before it.
func TestPowerLoss(t *testing.T) {
	first, seeds := drawnSeed(*lossSeed), keptSeeds(t, "loss-seed", "")
	for i := range lossesNow() {
		seeds = append(seeds, first+uint64(i))
	}
	var cuts sync.Map
	t.Run("seeds", func(t *testing.T) {
		for i, seed := range seeds {
			t.Run(fmt.Sprintf("-loss-seed %d", seed), func(t *testing.T) {
				t.Parallel()
				cuts.Store(i, loseInWork(t, seed))
			})
		}
	})
	total := 0
	cuts.Range(func(_, n any) bool { total += n.(int); return true })
	t.Logf("%d power cuts from -loss-seed %d on", total, first)
}

func lossesNow() int {
	if *losses > 0 {
		return *losses
	}
	return fewer(24, 2)
}

// work is a workload and what was acknowledged of it.
type work struct {
	t    *testing.T
	dir  string
	disk *disk

	mu    sync.Mutex
	acked map[string]bool

	rand *rand.Rand // of the cuts, under the disk's lock
	cuts []powerCut
	left int // cuts that may come in this life
}

// powerCut is a directory as the disk holds it at a moment, and what may have
// been promised then.
type powerCut struct {
	dir   string
	acked map[string]bool
}

// mostCuts is how many times one life is cut at most: the making of a store has more
// calls than all the commits after it.
const mostCuts = 3

// callsToACut: a cut comes at one of so many calls. Before a sync most can be lost, and
// few calls are syncs: a commit is one of them and one write.
func callsToACut(on operation) int {
	if on == syncs {
		return 8
	}
	return 400
}

func loseInWork(t *testing.T, seed uint64) int {
	t.Helper()
	w := &work{t: t, acked: map[string]bool{}, rand: rand.New(rand.NewPCG(seed, 1))}
	w.lieOn(t.TempDir())
	r := rand.New(rand.NewPCG(seed, 2))
	for life := range 4 { // from the making of the store on
		if len(w.cuts) > 0 && r.IntN(2) == 0 {
			w.comeBack()
		}
		w.live(life, r.Uint64())
	}
	for _, c := range w.cuts {
		c.check(t)
	}
	return len(w.cuts)
}

// lieOn takes a directory for the store from now on.
func (w *work) lieOn(dir string) {
	w.dir, w.disk = dir, newDisk(w.t, dir)
	w.disk.moment = w.perhapsCut
}

// comeBack goes on with what the latest cut has left, so that power is lost in a
// recovery too.
func (w *work) comeBack() {
	last, dir := w.cuts[len(w.cuts)-1], w.t.TempDir()
	mustDo(w.t, os.CopyFS(dir, os.DirFS(last.dir)))
	w.lieOn(dir)
	w.acked = cloned(last.acked)
}

// live is one process: it opens the store, some write at once, it closes it.
func (w *work) live(life int, seed uint64) {
	w.t.Helper()
	w.disk.endProcess(w.t)
	w.left = mostCuts
	settings := drawnBehind(rand.New(rand.NewPCG(seed, 100)))
	settings.vfs = faultyVFS
	s, err := open(context.Background(), w.dir, settings)
	if err != nil {
		w.t.Fatalf("Open: %v", err)
	}
	var writers sync.WaitGroup
	for writer := range 3 {
		r := rand.New(rand.NewPCG(seed, uint64(writer)))
		writers.Go(func() {
			for i := range 8 {
				w.write(s, fmt.Sprintf("%d-%d-%d", life, writer, i), r)
			}
		})
	}
	writers.Wait()
	mustClose(w.t, s)
}

// drawnBehind are settings with which rows are written to their tables after each commit,
// after several, or only when the store is closed.
func drawnBehind(r *rand.Rand) settings {
	s := withCheckpoints(12, 2)
	s.flushBytes = []int{1, 2000, 20_000, 60_000, 1 << 20}[r.IntN(5)]
	s.mostPending = []int{s.flushBytes, 2 * s.flushBytes, 64 << 20}[r.IntN(3)]
	s.flushAge = []time.Duration{time.Millisecond, 5 * time.Millisecond, time.Hour}[r.IntN(3)]
	return s
}

var errRegretted = errors.New("the function thought better of it")

// write does one Update: rows of several tables and sizes, and the next place in
// the order. Some regret it when all is written.
func (w *work) write(s *Store, id string, r *rand.Rand) {
	sizes := []int{r.IntN(100), r.IntN(10000), []int{10, 100, 50000}[r.IntN(3)]}
	regret := r.IntN(6) == 0
	err := s.Update(context.Background(), func(tx store.Tx) error {
		if err := writeParts(tx, id, sizes); err != nil || regret {
			return errors.Join(err, errRegretted)
		}
		return nil
	})
	switch {
	case err == nil && !regret:
		w.mu.Lock()
		w.acked[id] = true
		w.mu.Unlock()
	case err == nil || !regret || !errors.Is(err, errRegretted):
		w.t.Errorf("Update %s: %v", id, err)
	}
}

var partTables = []*store.Table{store.Tenants, store.Claims, store.Meta}

// writeParts also moves a counter, which says which Update came after which.
func writeParts(tx store.Tx, id string, sizes []int) error {
	for i, table := range partTables {
		if err := tx.Put(table, "parts", store.Row{ID: id, Doc: partOf(id, sizes[i])}, 0); err != nil {
			return err
		}
	}
	row, err := tx.Get(store.Meta, "count", "n")
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	place := store.Row{ID: fmt.Sprintf("%06d", row.Version), Doc: []byte(fmt.Sprintf("%q", id))}
	logged := store.Row{ID: pack.ID(row.Version), Doc: partOf(id, sizes[0]), Keys: []any{row.Version, row.Version, "system", id, fmt.Sprint("run/", row.Version%5)}}
	return errors.Join(
		tx.Put(store.Audit, "order", logged, 0),
		tx.Put(store.Meta, "count", store.Row{ID: "n", Doc: partOf(id, int(row.Version)*50)}, row.Version),
		tx.Put(store.Claims, "order", place, 0))
}

// partOf tells by itself whose it is and whether it is whole.
func partOf(id string, size int) []byte {
	return fmt.Appendf(nil, `{"of":%q,"size":%d,"fill":%q}`, id, size, strings.Repeat("x", size))
}

// perhapsCut is called with the disk locked, before each call to it.
func (w *work) perhapsCut(on operation) {
	if w.left == 0 || w.rand.IntN(callsToACut(on)) != 0 {
		return
	}
	w.left--
	c := powerCut{dir: w.t.TempDir(), acked: w.promised()}
	w.leave(c.dir)
	w.cuts = append(w.cuts, c)
}

// promised are the Updates acknowledged by now.
func (w *work) promised() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cloned(w.acked)
}

func cloned(set map[string]bool) map[string]bool {
	out := make(map[string]bool, len(set))
	for id := range set {
		out[id] = true
	}
	return out
}

// leave writes what could be found after a power cut now. Files that SQLite did
// not open through our disk were synced at once; the log's index is never read
// again.
func (w *work) leave(dir string) {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		w.t.Error(err)
	}
	for _, e := range entries {
		if e.Name() == reserveFile || strings.HasSuffix(e.Name(), "-shm") {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), w.found(filepath.Join(w.dir, e.Name())), 0o600); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *work) found(path string) []byte {
	w.disk.noteRename(path)
	p := w.disk.platters[path]
	if p == nil {
		content, err := os.ReadFile(path)
		if err != nil {
			w.t.Error(err)
		}
		return content
	}
	file := bytes.Clone(p.durable)
	for _, each := range p.pending {
		file = each.torn(file, w.rand)
	}
	return file
}

// sector is the least that a disk writes whole.
const sector = 512

// torn returns what a file becomes of a write that no sync has followed: all of
// it arrives, nothing, or some of its sectors.
func (p pending) torn(file []byte, r *rand.Rand) []byte {
	switch draw := r.IntN(4); {
	case draw == 0:
		return file
	case draw == 1 || p.content == nil:
		return p.done(file)
	}
	for from := 0; from < len(p.content); {
		to := min(len(p.content), from+sector-int((p.offset+int64(from))%sector))
		if r.IntN(2) == 0 {
			file = pending{p.offset + int64(from), p.content[from:to]}.done(file)
		}
		from = to
	}
	return file
}

// check opens what a cut has left.
func (c powerCut) check(t *testing.T) {
	t.Helper()
	s, err := open(context.Background(), c.dir, plain)
	if err != nil {
		t.Errorf("Open after a power cut: %v", err)
		return
	}
	found := c.found(t, s)
	for id := range c.acked {
		if !found[id] {
			t.Errorf("Update %s was acknowledged and is lost", id)
		}
	}
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { return writeParts(tx, "afterwards", []int{1, 2, 3}) }))
	mustDo(t, s.Close())
}

// found lists the Updates that are there: each whole, and in their order without
// a gap.
func (c powerCut) found(t *testing.T, s *Store) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		order, err := tx.List(store.Claims, "order", store.Query{})
		if err != nil {
			return err
		}
		for i, row := range order {
			id := strings.Trim(string(row.Doc), `"`)
			found[id] = true
			if row.ID != fmt.Sprintf("%06d", i) {
				t.Errorf("place %s of the order follows place %d", row.ID, i-1)
			}
		}
		for _, table := range partTables {
			wantParts(t, tx, table, found)
		}
		return wantLog(t, tx, order)
	}))
	return found
}

// wantLog: the log has a record of each Update, in their order, and each is listed by its
// columns.
func wantLog(t *testing.T, tx store.Tx, order []store.Row) error {
	t.Helper()
	log, err := tx.List(store.Audit, "order", store.Query{})
	if len(log) != len(order) {
		t.Errorf("the log has %d records of %d Updates, %v", len(log), len(order), err)
		return nil
	}
	for i, row := range log {
		id := strings.Trim(string(order[i].Doc), `"`)
		by, err := tx.List(store.Audit, "order", store.Query{Where: []store.Filter{store.Equal("action", id), store.Equal("subject", fmt.Sprint("run/", i%5))}})
		if err != nil || row.ID != pack.ID(int64(i)) || len(by) != 1 || by[0].ID != row.ID || !strings.Contains(string(row.Doc), fmt.Sprintf("%q", id)) {
			t.Errorf("record %d of the log is %s, of Update %s; it is listed %d times (%v)", i, row.ID, id, len(by), err)
		}
	}
	return nil
}

// wantParts: a table has the parts of those Updates and of no other.
func wantParts(t *testing.T, tx store.Tx, table *store.Table, found map[string]bool) {
	t.Helper()
	rows, err := tx.List(table, "parts", store.Query{})
	mustDo(t, err)
	for _, row := range rows {
		var size int
		if _, err := fmt.Sscanf(string(row.Doc), `{"of":"`+row.ID+`","size":%d`, &size); err != nil || string(row.Doc) != string(partOf(row.ID, size)) {
			t.Errorf("the part of Update %s in %s is not whole: %v", row.ID, table.Name, err)
		}
		if !found[row.ID] {
			t.Errorf("Update %s is there by its part in %s and not in the order", row.ID, table.Name)
		}
	}
	if len(rows) != len(found) {
		t.Errorf("%s has parts of %d Updates; %d are there", table.Name, len(rows), len(found))
	}
}
