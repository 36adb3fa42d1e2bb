package store

import "context"

// Ending makes a Tx of a View that reads nothing more once its context has ended: whoever asked
// doesn't wait for the answer any more.
func Ending(ctx context.Context, tx Tx) Tx {
	if ctx.Done() == nil {
		return tx
	}
	return ending{tx, ctx}
}

type ending struct {
	Tx
	ctx context.Context
}

func (e ending) Get(t *Table, tenant, id string) (Row, error) {
	if err := e.ctx.Err(); err != nil {
		return Row{}, err
	}
	return e.Tx.Get(t, tenant, id)
}

// Look implements Looker.
func (e ending) Look(t *Table, tenant, id string) (Row, error) {
	if err := e.ctx.Err(); err != nil {
		return Row{}, err
	}
	return Look(e.Tx, t, tenant, id)
}

func (e ending) List(t *Table, tenant string, q Query) ([]Row, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	return e.Tx.List(t, tenant, q)
}

func (e ending) Count(t *Table, tenant string, q Query) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.Tx.Count(t, tenant, q)
}

func (e ending) Distinct(t *Table, tenant, column string) ([]string, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	return e.Tx.Distinct(t, tenant, column)
}
