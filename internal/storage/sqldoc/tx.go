package sqldoc

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/countersign/countersign/internal/storage/store"
)

var errText = errors.New("store: text must be valid UTF-8 without the character U+0000")

// Tx is a store.Tx on a connection. After a statement has failed, no later one runs, and
// the engine must not commit (see Err).
type Tx struct {
	conn     *Conn
	readOnly bool
	over     bool
	err      error
	counting counting // see WriteCounts; nil: nothing is counted yet

	autocommit *autocommitRead // outside any transaction yet
}

var _ store.Tx = (*Tx)(nil)

// End makes every later use an error, so that a Tx that outlives its function can't use the
// next transaction.
func (t *Tx) End() { t.over = true }

// Err returns the error of the statement that failed, if any did. An id that
// isn't there or a version that differs is an answer, not a failure.
func (t *Tx) Err() error { return t.err }

// Get implements store.Tx.
func (t *Tx) Get(table *store.Table, tenant, id string) (store.Row, error) {
	return t.fetch(place{table, tenant, id})
}

func missing(p place) error { return Missing(p.table, p.id) }

// fetch reads a row of the database.
func (t *Tx) fetch(p place) (store.Row, error) {
	if !t.Keeps(p.tenant, p.id) {
		return store.Row{}, missing(p)
	}
	if t.autocommit != nil {
		return t.first(p)
	}
	return t.get(p)
}

// get is fetch in whatever transaction there is, if the engine can store such an id.
func (t *Tx) get(p place) (store.Row, error) {
	rows, err := t.query(&t.conn.on(p.table).get, []any{p.tenant, p.id})
	if err != nil {
		return store.Row{}, fmt.Errorf("get %s %s: %w", p.table.Name, p.id, err)
	}
	found, err := t.collect(rows, p.table)
	switch {
	case err != nil:
		return store.Row{}, fmt.Errorf("get %s %s: %w", p.table.Name, p.id, err)
	case len(found) == 0:
		return store.Row{}, missing(p)
	}
	return found[0], nil
}

// Put implements store.Tx.
func (t *Tx) Put(table *store.Table, tenant string, row store.Row, expected int64) error {
	if err := table.CheckRow(row); err != nil {
		return err
	}
	return t.put(place{table, tenant, row.ID}, row, expected, expected+1)
}

func (t *Tx) put(p place, row store.Row, expected, version int64) error {
	if err := t.MayPut(p.table, p.tenant, row); err != nil {
		return err
	}
	return t.store(p, &Change{Version: version, Doc: string(row.Doc), Keys: row.Keys, Stored: expected})
}

// MayPut refuses a row that can't be put, now or at all.
func (t *Tx) MayPut(table *store.Table, tenant string, row store.Row) error {
	if err := t.writable(); err != nil {
		return fmt.Errorf("put %s %s: %w", table.Name, row.ID, err)
	}
	if !t.Keeps(tenant, row.ID, string(row.Doc)) || !t.Keeps(row.Keys...) {
		return fmt.Errorf("put %s %q: %w", table.Name, row.ID, errText)
	}
	return nil
}

// Delete implements store.Tx.
func (t *Tx) Delete(table *store.Table, tenant, id string) error {
	if may, err := t.MayDelete(table, tenant, id); !may {
		return err
	}
	return t.Store(table, tenant, id, &Change{Stored: Unread})
}

// MayDelete reports false, without an error, if there can be no such row.
func (t *Tx) MayDelete(table *store.Table, tenant, id string) (may bool, err error) {
	if err := t.writable(); err != nil {
		return false, fmt.Errorf("delete %s %s: %w", table.Name, id, err)
	}
	return t.Keeps(tenant, id), nil
}

// Write writes a row with the version that it has, or deletes it if that is 0. stored is the
// version that the database has, 0 for none, and columns are the values of its columns.
// ErrConflict: the database has another version. WriteCounts must follow before the commit.
// The row must not be changed meanwhile.
func (t *Tx) Write(table *store.Table, tenant string, row store.Row, stored int64, columns []any) error {
	doc := unsafe.String(unsafe.SliceData(row.Doc), len(row.Doc)) // nobody changes it, and the statement copies it
	e := &Change{Version: row.Version, Doc: doc, Keys: row.Keys, Stored: stored, Columns: columns}
	t.count(place{table, tenant, row.ID}, e)
	return t.store(place{table, tenant, row.ID}, e)
}

func (t *Tx) write(p place, e *Change) (changed int64, err error) {
	on := t.conn.on(p.table)
	if e.Version == 0 || e.Stored == Unread {
		if _, err := t.exec(&on.remove, []any{p.tenant, p.id}); err != nil || e.Version == 0 {
			return 1, err // removing a missing row succeeds
		}
	}
	args := make([]any, 0, len(e.Keys)+5)
	args = append(append(args, p.tenant, p.id, e.Version, e.Doc), e.Keys...)
	if e.Stored <= 0 {
		return t.exec(&on.insert, args)
	}
	args = append(args, e.Stored)
	if t.conn.dialect.Rewrites || e.Columns != nil && !slices.Equal(e.Columns, e.Keys) {
		return t.exec(&on.rewrite, args)
	}
	if changed, err = t.exec(&on.touch, args); err != nil || changed > 0 || len(e.Keys) == 0 || e.Columns != nil {
		return changed, err
	}
	return t.exec(&on.rewrite, args)
}

// List implements store.Tx.
func (t *Tx) List(table *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	if err := table.CheckQuery(q); err != nil {
		return nil, err
	}
	q, err := t.nearer(table, tenant, t.conn.dialect.within(q))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", table.Name, err)
	}
	rows, err := t.ask(listStatement(table, tenant, q))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", table.Name, err)
	}
	found, err := t.collect(rows, table)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", table.Name, err)
	}
	return found, nil
}

// Count implements store.Tx.
func (t *Tx) Count(table *store.Table, tenant string, q store.Query) (int, error) {
	if err := table.CheckQuery(q); err != nil {
		return 0, err
	}
	return t.countRows(table, tenant, q)
}

func (t *Tx) countRows(table *store.Table, tenant string, q store.Query) (int, error) {
	n := 0
	rows, err := t.ask(t.conn.count(table, tenant, t.conn.dialect.within(q)))
	if err == nil {
		err = t.each(rows, func() error { return rows.Scan(&n) })
	}
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", table.Name, err)
	}
	return n, nil
}

// Distinct implements store.Tx.
func (t *Tx) Distinct(table *store.Table, tenant, column string) ([]string, error) {
	if err := table.CheckDistinct(column); err != nil {
		return nil, err
	}
	values, err := t.texts(distinctStatement(table, tenant, column))
	if err != nil {
		return nil, fmt.Errorf("distinct %s.%s: %w", table.Name, column, err)
	}
	return values, nil
}

// texts reads an answer of one text column.
func (t *Tx) texts(b *builder) (values []string, err error) {
	rows, err := t.ask(b)
	if err != nil {
		return nil, err
	}
	err = t.each(rows, func() error {
		values = append(values, "")
		return rows.Scan(&values[len(values)-1])
	})
	return values, err
}

// Keeps reports whether the engine can store all these values.
func (t *Tx) Keeps(values ...any) bool { return t.conn.dialect.keeps(values...) }

// Fail makes every later use fail with this error, unless one has failed before.
func (t *Tx) Fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Usable is why it can't be used, nil if it can.
func (t *Tx) Usable() error { return t.usable() }

func (t *Tx) usable() error {
	if t.over {
		return store.ErrOver
	}
	return t.err
}

func (t *Tx) writable() error {
	if err := t.usable(); err != nil {
		return err
	}
	if t.readOnly {
		return store.ErrReadOnly
	}
	return nil
}

func (t *Tx) exec(s *statement, args []any) (int64, error) {
	if err := t.writable(); err != nil {
		return 0, err
	}
	n, err := t.conn.exec(s, args)
	t.err = err
	return n, err
}

func (t *Tx) query(s *statement, args []any) (*sql.Rows, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	rows, err := t.conn.query(s, args)
	t.err = err
	return rows, err
}

func (t *Tx) ask(b *builder) (*sql.Rows, error) {
	if err := t.beginSnapshot(); err != nil {
		return nil, err
	}
	if err := t.usable(); err != nil {
		return nil, err
	}
	return t.query(t.conn.statement(b.String()), b.args)
}

// each calls read for every row and closes the rows.
func (t *Tx) each(rows *sql.Rows, read func() error) error {
	var err error
	for err == nil && rows.Next() {
		err = read()
	}
	t.err = t.conn.mean(errors.Join(err, rows.Close(), rows.Err()))
	return t.err
}

// collect reads whole rows, as selectFrom selects them.
func (t *Tx) collect(rows *sql.Rows, table *store.Table) ([]store.Row, error) {
	var found []store.Row
	dest := make([]any, 3+len(table.Columns))
	err := t.each(rows, func() error {
		found = append(found, store.Row{})
		row := &found[len(found)-1]
		dest[0], dest[1], dest[2] = &row.ID, &row.Version, &row.Doc
		if len(table.Columns) > 0 {
			row.Keys = make([]any, len(table.Columns))
		}
		for i := range row.Keys {
			dest[3+i] = &row.Keys[i]
		}
		return rows.Scan(dest...)
	})
	return found, err
}

// Each runs a query of the engine's own, with parameters $1, $2 …, and calls read for each
// row of its answer. An error of read fails the Tx.
func (t *Tx) Each(text string, args []any, read func(scan func(dest ...any) error) error) error {
	b := &builder{args: args}
	b.WriteString(text)
	rows, err := t.ask(b)
	if err != nil {
		return err
	}
	return t.each(rows, func() error { return read(rows.Scan) })
}
