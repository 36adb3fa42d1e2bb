package sqldoc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// Kind is a way to change rows.
type Kind int

// The order in which Writes of a table are made: a row that is deleted and put anew without
// having been read has both a Delete and an Insert.
const (
	Delete Kind = iota
	Insert
	Update
)

// Write is rows of one table that are changed by one statement. Of an Insert or an Update
// each row must be changed, otherwise none may be: a row that is inserted isn't there, and
// one that is updated is at the expected version. A Delete may delete fewer rows.
type Write struct {
	Table *store.Table
	Kind  Kind
	Rows  int
	// Arrays have a value for each row and are []string or []int64: tenant and id; but for
	// a Delete then the new version, doc and the columns; for an Update last the expected
	// version.
	Arrays []any
}

// maxWrite bounds the bytes of a Write's documents, but for a single one.
const maxWrite = 8 << 20

// writes groups rows, in the order in which the engine must write them.
func writes(places []place, entries []entry) (all []Write) {
	type group struct {
		table *store.Table
		kind  Kind
	}
	rows, tables := map[group][]int{}, []*store.Table{}
	for i, p := range places {
		if !slices.Contains(tables, p.table) {
			tables = append(tables, p.table)
		}
		for _, kind := range entries[i].kinds() {
			g := group{p.table, kind}
			rows[g] = append(rows[g], i)
		}
	}
	for _, table := range tables {
		for _, kind := range []Kind{Delete, Insert, Update} {
			for _, part := range parts(entries, rows[group{table, kind}]) {
				all = append(all, newWrite(table, kind, places, entries, part))
			}
		}
	}
	return all
}

// kinds are the changes that bring an entry's row from stored to version.
func (e *entry) kinds() []Kind {
	switch {
	case e.version == 0:
		return []Kind{Delete}
	case e.stored == unread:
		return []Kind{Delete, Insert}
	case e.stored == 0:
		return []Kind{Insert}
	}
	return []Kind{Update}
}

// parts cuts a group of rows into parts of at most maxWrite.
func parts(entries []entry, rows []int) (all [][]int) {
	from, size := 0, 0
	for i, row := range rows {
		if size += len(entries[row].doc); size > maxWrite && i > from {
			all, from, size = append(all, rows[from:i]), i, len(entries[row].doc)
		}
	}
	if from < len(rows) {
		all = append(all, rows[from:])
	}
	return all
}

func newWrite(table *store.Table, kind Kind, places []place, entries []entry, rows []int) Write {
	w := Write{Table: table, Kind: kind, Rows: len(rows)}
	text := func(of func(int) string) { w.Arrays = append(w.Arrays, array(rows, of)) }
	integer := func(of func(int) int64) { w.Arrays = append(w.Arrays, array(rows, of)) }
	text(func(i int) string { return places[i].tenant })
	text(func(i int) string { return places[i].id })
	if kind == Delete {
		return w
	}
	integer(func(i int) int64 { return entries[i].version })
	text(func(i int) string { return entries[i].doc })
	for n, column := range table.Columns {
		if column.Integer {
			integer(func(i int) int64 { return entries[i].keys[n].(int64) })
		} else {
			text(func(i int) string { return entries[i].keys[n].(string) })
		}
	}
	if kind == Update {
		integer(func(i int) int64 { return entries[i].stored })
	}
	return w
}

func array[T any](rows []int, of func(int) T) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = of(row)
	}
	return values
}

// storeAll is store for several different rows in one message. ErrConflict: some row isn't
// at the entry's stored version.
func (t *Tx) storeAll(places []place, entries []entry, send func([]Write) error) error {
	if err := t.writable(); err != nil {
		return err
	}
	err := send(writes(places, entries))
	if err != nil && !errors.Is(err, store.ErrConflict) {
		t.err = t.conn.mean(err)
		err = t.err
	}
	if err != nil {
		return fmt.Errorf("write %d rows: %w", len(places), err)
	}
	return nil
}

func (c *Conn) together(all []Write) error {
	if err := c.used(); err != nil {
		return err
	}
	return c.dialect.Together(c.conn, all)
}

// Finish is Flush in a message of the engine, such as one that also commits. send is called
// at most once, also if there is nothing to write; its errors are those of Dialect.Together.
func (b *Batch) Finish(send func([]Write) error) error {
	if b.unproven {
		return ErrNeedsSavepoint
	}
	due := b.due(func(*store.Table) bool { return true })
	t := b.conn.Begin(false)
	if err := b.writeTogether(t, due, send); err != nil {
		return b.cause(t, err)
	}
	return nil
}

func (b *Batch) writeTogether(t *Tx, due []place, send func([]Write) error) error {
	entries := make([]entry, len(due))
	for i, p := range due {
		entries[i] = b.known[p]
	}
	if err := t.storeAll(due, entries, send); err != nil {
		return err
	}
	for i, p := range due {
		b.known[p] = entries[i].written()
	}
	return nil
}
