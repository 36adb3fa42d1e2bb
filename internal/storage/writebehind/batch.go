package writebehind

import (
	"errors"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// Batch runs the functions of several Updates on the newest state, one after the other.
// Each sees what those before it wrote; one that fails leaves nothing. Only the writer uses
// a Batch, and no other batch may run meanwhile.
type Batch struct {
	layers   *Layers
	snapshot *Snapshot
	changes  *changes // the Writer's
	writer   *Writer
}

// Writer is what the only writer of the Layers remembers between batches.
type Writer struct {
	layers  *Layers
	borrow  Borrow
	highest map[group]string // no id that a group ever had is above this one
	changes *changes         // of the batch at hand
}

// NewWriter makes a Writer.
func (l *Layers) NewWriter(borrow Borrow) *Writer {
	return &Writer{layers: l, borrow: borrow, highest: map[group]string{}, changes: newChanges()}
}

// Begin begins a batch. The one before must not be used any more.
func (w *Writer) Begin() *Batch {
	w.changes.reset()
	w.layers.mu.RLock()
	defer w.layers.mu.RUnlock()
	return &Batch{layers: w.layers, snapshot: w.layers.snapshot(w.borrow), changes: w.changes, writer: w}
}

// Run runs a function and returns its error. The error of broken is one of the database:
// the function's writes are undone, and its own error counts for nothing.
func (b *Batch) Run(call func(store.Tx) error) (err, broken error) {
	t := &Tx{Snapshot: b.snapshot, batch: b}
	b.changes.begin()
	err = call(t)
	t.end()
	if err != nil || t.err != nil {
		for _, u := range slices.Backward(b.changes.undos) {
			b.changes.undo(u)
		}
	}
	return err, t.err
}

// Empty reports that there is nothing to commit.
func (b *Batch) Empty() bool { return b.changes.empty() }

// Frame is what makes the batch durable, and the number of its commit.
func (b *Batch) Frame(to []byte) (frame []byte, commit int64) {
	return appendFrame(to, b.changes), b.layers.Commit() + 1
}

// Committed shows the rows to every Snapshot from now on. The frame is durable.
func (b *Batch) Committed() {
	l := b.layers
	l.mu.Lock()
	defer l.mu.Unlock()
	l.commit++
	l.active.add(l.commit, l.views.last(), b.changes)
}

// End ends the batch.
func (b *Batch) End() { b.snapshot.close() }

// Touched are the tables that were written to, also by functions that failed.
func (b *Batch) Touched() []*store.Table { return b.changes.tables }

// wrote notes the id of a row that is written.
func (b *Batch) wrote(p place) {
	if !slices.Contains(b.changes.tables, p.table) {
		b.changes.tables = append(b.changes.tables, p.table)
	}
	g := group{p.table, p.tenant}
	if highest, known := b.writer.highest[g]; known && p.id > highest {
		b.writer.highest[g] = p.id
	}
}

// absent reports that no layer and no database can have a row of this id, since it is above
// every id that the group ever had. An error is left to the read that follows.
func (b *Batch) absent(t *Tx, g group, id string) bool {
	highest, known := b.writer.highest[g]
	if !known {
		rows, err := t.List(g.table, g.tenant, store.Query{Order: []store.Order{{Column: "id", Descending: true}}, Limit: 1})
		if err != nil {
			return false
		}
		if len(rows) == 1 {
			highest = rows[0].ID
		}
		b.writer.highest[g] = highest
	}
	return id > highest
}

// View runs a function on a Snapshot of the last commit. It runs again if it was overtaken,
// and then begins its snapshot of the database at once.
func (l *Layers) View(borrow Borrow, fn func(store.Tx) error) error {
	for again := false; ; again = true {
		overtaken, err := l.view(borrow, fn, again)
		if !overtaken {
			return err
		}
	}
}

func (l *Layers) view(borrow Borrow, fn func(store.Tx) error, atOnce bool) (overtaken bool, err error) {
	t := &Tx{Snapshot: l.viewed(borrow)}
	defer l.views.ended(t.commit)
	defer t.close()
	defer t.end()
	if atOnce {
		if _, err := t.begun(); err != nil {
			return errors.Is(err, errOvertaken), err
		}
	}
	err = fn(t)
	switch {
	case errors.Is(t.err, errOvertaken):
		return true, nil
	case err == nil:
		err = t.err
	}
	return false, err
}
