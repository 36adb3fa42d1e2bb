package batches

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// Tx is the store.Tx of a function in a batch: it reads what the batch knows, and defers what it writes.
type Tx struct {
	direct      sqldoc.Tx // asks the database
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
	_ store.Whole  = (*Tx)(nil)
	_ store.Turner = (*Tx)(nil)
)

// End makes every later use an error, so that a Tx that outlives its function can't use the
// next transaction.
func (t *Tx) End() { t.direct.End() }

// Err is the error of the statement that failed, or why the function must run again.
func (t *Tx) Err() error { return t.direct.Err() }

// fail makes the function fail, whatever it makes of the error.
func (t *Tx) fail(err error) error {
	t.direct.Fail(err)
	return err
}

// Get implements store.Tx.
func (t *Tx) Get(table *store.Table, tenant, id string) (store.Row, error) {
	if err := t.direct.Usable(); err != nil {
		return store.Row{}, fmt.Errorf("get %s %s: %w", table.Name, id, err)
	}
	e, err := t.batch.read(t, place{table, tenant, id})
	switch {
	case err != nil:
		return store.Row{}, err
	case e.version == 0:
		return store.Row{}, sqldoc.Missing(table, id)
	}
	return e.row(id), nil
}

// row is the entry as Get gives it.
func (e *entry) row(id string) store.Row {
	return store.Row{ID: id, Version: e.version, Keys: slices.Clone(e.keys), Doc: []byte(e.doc)}
}

// Put implements store.Tx.
func (t *Tx) Put(table *store.Table, tenant string, row store.Row, expected int64) error {
	if err := table.CheckRow(row); err != nil {
		return err
	}
	return t.put(place{table, tenant, row.ID}, row, expected, expected+1)
}

func (t *Tx) put(p place, row store.Row, expected, version int64) error {
	if err := t.direct.MayPut(p.table, p.tenant, row); err != nil {
		return err
	}
	return t.batch.put(t, p, row, expected, version)
}

// Delete implements store.Tx.
func (t *Tx) Delete(table *store.Table, tenant, id string) error {
	if may, err := t.direct.MayDelete(table, tenant, id); !may {
		return err
	}
	return t.batch.remove(t, place{table, tenant, id})
}

// List implements store.Tx.
func (t *Tx) List(table *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	if err := table.CheckQuery(q); err != nil {
		return nil, err
	}
	if err := t.flushTable(table); err != nil {
		return nil, err
	}
	return t.direct.List(table, tenant, q)
}

// Count implements store.Tx: by what is known, else by what the database has and the batch has
// yet to write.
func (t *Tx) Count(table *store.Table, tenant string, q store.Query) (int, error) {
	if err := table.CheckQuery(q); err != nil {
		return 0, err
	}
	if err := t.direct.Usable(); err != nil {
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
	n, err := t.direct.Count(table, tenant, q)
	if err != nil {
		return 0, err
	}
	asked.n = n + more
	t.batch.remember(key, asked)
	return asked.n, nil
}

// Distinct implements store.Tx.
func (t *Tx) Distinct(table *store.Table, tenant, column string) ([]string, error) {
	if err := table.CheckDistinct(column); err != nil {
		return nil, err
	}
	if err := t.flushTable(table); err != nil {
		return nil, err
	}
	return t.direct.Distinct(table, tenant, column)
}

// Tenants implements store.Whole.
func (t *Tx) Tenants(table *store.Table) ([]string, error) {
	if err := t.flushTable(table); err != nil {
		return nil, err
	}
	return t.direct.Tenants(table)
}

// Load implements store.Whole.
func (t *Tx) Load(table *store.Table, tenant string, row store.Row) error {
	if err := table.CheckLoad(row); err != nil {
		return err
	}
	return t.put(place{table, tenant, row.ID}, row, 0, row.Version)
}
