package transfer

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// atOnce bounds the rows in memory and in one commit. In most tables a document has some
// hundred bytes; the largest have about a mebibyte, the bound of a request's body.
const atOnce = 64

// page is some rows of one tenant in a table.
type page struct {
	table  *store.Table
	tenant string
	rows   []store.Row
}

func (p page) load(tx store.Whole) error {
	for _, row := range p.rows {
		if err := tx.Load(p.table, p.tenant, row); err != nil {
			return fmt.Errorf("tenant %q: %w", p.tenant, err)
		}
	}
	return nil
}

// walk reads all rows in the canonical order: tables in the order of store.Tables, tenants and
// ids by their bytes.
func walk(ctx context.Context, tx store.Whole, do func(page) error) error {
	return places(tx, func(t *store.Table, tenant string) error { return pages(ctx, tx, page{table: t, tenant: tenant}, do) })
}

// places lists the tables with the tenants that have rows in them.
func places(tx store.Whole, do func(t *store.Table, tenant string) error) error {
	for _, t := range store.Tables() {
		tenants, err := tx.Tenants(t)
		if err != nil {
			return err
		}
		for _, tenant := range tenants {
			if err := do(t, tenant); err != nil {
				return err
			}
		}
	}
	return nil
}

// pages reads by id, so that the last page costs no more than the first one.
func pages(ctx context.Context, tx store.Whole, p page, do func(page) error) error {
	q := store.Query{Limit: atOnce}
	for after := ""; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, err := tx.List(p.table, p.tenant, q)
		if err != nil {
			return err
		}
		full := len(rows) == atOnce
		if len(q.Where) > 0 && len(rows) > 0 && rows[0].ID == after {
			rows = rows[1:]
		}
		if len(rows) > 0 {
			after = rows[len(rows)-1].ID
		}
		p.rows = slices.DeleteFunc(rows, func(row store.Row) bool { return p.stays(row.ID) })
		if len(p.rows) > 0 {
			err = do(p)
		}
		if err != nil || !full {
			return err
		}
		q.Where = []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{after}}}
	}
}

// stays reports whether a row is left out of the copy.
func (p page) stays(id string) bool {
	return p.table == store.Meta && p.tenant == store.Realm && (id == markID || id == records.CopiedID || records.IsReplicaID(id) || records.IsLimitID(id))
}
