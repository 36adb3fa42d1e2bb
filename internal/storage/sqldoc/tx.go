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

	// -- of a function in a batch
	batch       *Batch
	inSavepoint bool     // writes are not deferred
	mayPutOff   bool     // see Batch.PutOff
	again       bool     // the function must run again, in a savepoint
	undo        []undo   // the entries that it has changed
	offline     bool     // the database can't be asked yet
	draft       *drafted // what it has seen; nil: it doesn't run in a Draft
}

var (
	_ store.Tx     = (*Tx)(nil)
	_ store.Turner = (*Tx)(nil)
)

// End makes every later use an error, so that a Tx that outlives its function can't use the
// next transaction.
func (t *Tx) End() { t.over = true }

// Err returns the error of the statement that failed, if any did. An id that
// isn't there or a version that differs is an answer, not a failure.
func (t *Tx) Err() error { return t.err }

// Get implements store.Tx.
func (t *Tx) Get(table *store.Table, tenant, id string) (store.Row, error) {
	p := place{table, tenant, id}
	if t.batch == nil {
		return t.fetch(p)
	}
	if err := t.usable(); err != nil {
		return store.Row{}, fmt.Errorf("get %s %s: %w", table.Name, id, err)
	}
	e, err := t.batch.read(t, p)
	switch {
	case err != nil:
		return store.Row{}, err
	case e.version == 0:
		return store.Row{}, missing(p)
	}
	return e.row(id), nil
}

// row is the entry as Get gives it.
func (e *entry) row(id string) store.Row {
	return store.Row{ID: id, Version: e.version, Keys: slices.Clone(e.keys), Doc: []byte(e.doc)}
}

func missing(p place) error { return fmt.Errorf("%s %q: %w", p.table.Name, p.id, store.ErrNotFound) }

// fetch reads a row of the database.
func (t *Tx) fetch(p place) (store.Row, error) {
	if !t.keeps(p.tenant, p.id) {
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
	if err := t.writable(); err != nil {
		return fmt.Errorf("put %s %s: %w", p.table.Name, p.id, err)
	}
	if !t.keeps(p.tenant, p.id, string(row.Doc)) || !t.keeps(row.Keys...) {
		return fmt.Errorf("put %s %q: %w", p.table.Name, p.id, errText)
	}
	if t.batch != nil {
		return t.batch.put(t, p, row, expected, version)
	}
	return t.store(p, &entry{version: version, doc: string(row.Doc), keys: row.Keys, stored: expected, dirty: true})
}

// Delete implements store.Tx.
func (t *Tx) Delete(table *store.Table, tenant, id string) error {
	p := place{table, tenant, id}
	if err := t.writable(); err != nil {
		return fmt.Errorf("delete %s %s: %w", table.Name, id, err)
	}
	if !t.keeps(tenant, id) {
		return nil
	}
	if t.batch != nil {
		return t.batch.remove(t, p)
	}
	return t.store(p, &entry{stored: unread, dirty: true})
}

// Write writes a row with the version that it has, or deletes it if that is 0. stored is the
// version that the database has, 0 for none, and columns are the values of its columns.
// ErrConflict: the database has another version. WriteCounts must follow before the commit.
// The row must not be changed meanwhile.
func (t *Tx) Write(table *store.Table, tenant string, row store.Row, stored int64, columns []any) error {
	doc := unsafe.String(unsafe.SliceData(row.Doc), len(row.Doc)) // nobody changes it, and the statement copies it
	e := &entry{version: row.Version, doc: doc, keys: row.Keys, stored: stored, columns: columns, dirty: true}
	t.count(place{table, tenant, row.ID}, e)
	return t.store(place{table, tenant, row.ID}, e)
}

// store writes an entry to the database. ErrConflict: the row wasn't at the entry's stored
// version.
func (t *Tx) store(p place, e *entry) error {
	changed, err := t.write(p, e)
	switch {
	case err != nil:
		return fmt.Errorf("write %s %s: %w", p.table.Name, p.id, err)
	case changed == 0:
		return conflict(p, e.stored)
	}
	return nil
}

func conflict(p place, expected int64) error {
	return fmt.Errorf("%s %s is not at version %d: %w", p.table.Name, p.id, expected, store.ErrConflict)
}

func (t *Tx) write(p place, e *entry) (changed int64, err error) {
	on := t.conn.on(p.table)
	if e.version == 0 || e.stored == unread {
		if _, err := t.exec(&on.remove, []any{p.tenant, p.id}); err != nil || e.version == 0 {
			return 1, err // removing a missing row succeeds
		}
	}
	args := make([]any, 0, len(e.keys)+5)
	args = append(append(args, p.tenant, p.id, e.version, e.doc), e.keys...)
	if e.stored <= 0 {
		return t.exec(&on.insert, args)
	}
	args = append(args, e.stored)
	if t.conn.dialect.Rewrites || e.columns != nil && !slices.Equal(e.columns, e.keys) {
		return t.exec(&on.rewrite, args)
	}
	if changed, err = t.exec(&on.touch, args); err != nil || changed > 0 || len(e.keys) == 0 || e.columns != nil {
		return changed, err
	}
	return t.exec(&on.rewrite, args)
}

// List implements store.Tx.
func (t *Tx) List(table *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	if err := table.CheckQuery(q); err != nil {
		return nil, err
	}
	if err := t.flushTable(table); err != nil {
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
	if t.batch != nil {
		return t.tally(table, tenant, q)
	}
	return t.countRows(table, tenant, q)
}

// tally counts in a batch: by what is known, else by what the database has and the batch has
// yet to write.
func (t *Tx) tally(table *store.Table, tenant string, q store.Query) (int, error) {
	if err := t.usable(); err != nil {
		return 0, fmt.Errorf("count %s: %w", table.Name, err)
	}
	key := table.CountKey(tenant, q.Where)
	if n, ok := t.batch.tallied(key); ok {
		return n, t.sawCount(table, key, n)
	}
	if t.offline {
		return 0, t.notCached()
	}
	asked := tally{table: table, tenant: tenant, where: q.Where, asked: true}
	if t.wants(nil, []tally{asked}) {
		return 0, ErrPutOff
	}
	more, ok := t.batch.unwritten(asked)
	if !ok {
		if err := t.flushTable(table); err != nil {
			return 0, err
		}
	}
	n, err := t.countRows(table, tenant, q)
	if err != nil {
		return 0, err
	}
	asked.n = n + more
	t.batch.remember(key, asked)
	return asked.n, nil
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
	if err := t.flushTable(table); err != nil {
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

func (t *Tx) keeps(values ...any) bool { return t.conn.dialect.keeps(values...) }

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
	if t.offline {
		return 0, t.notCached()
	}
	n, err := t.conn.exec(s, args)
	t.err = err
	return n, err
}

func (t *Tx) query(s *statement, args []any) (*sql.Rows, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if t.offline {
		return nil, t.notCached()
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
