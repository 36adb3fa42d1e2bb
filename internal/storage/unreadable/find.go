package unreadable

import (
	"errors"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// atOnce bounds the rows in memory, of which one may have mebibytes.
const atOnce = 32

// meanRow bounds what is read where rows are large, on the average.
const meanRow = 4 << 10

// Find looks at a tenant's latest rows of a table, by their ids. It gives those that can't be
// read, and how many it has looked at: most, or fewer where they are large.
func Find(tx store.Tx, t *store.Table, tenant string, most int) (found []Record, looked int, err error) {
	bytes := 0
	q := store.Query{Order: []store.Order{{Column: "id", Descending: true}}, Limit: atOnce}
	for looked < most && bytes/meanRow < most {
		rows, err := tx.List(t, tenant, q)
		if errors.Is(err, store.ErrDamaged) {
			return append(found, Record{Tenant: tenant, Kind: t.Name, ID: "some rows"}), looked, nil
		}
		if err != nil {
			return found, looked, err
		}
		full := len(rows) == atOnce
		if len(q.Where) > 0 && len(rows) > 0 && rows[0].ID == q.Where[0].Values[0] {
			rows = rows[1:]
		}
		for _, row := range rows {
			bytes += len(row.Doc)
			if records.Readable(t, row) != nil {
				found = append(found, Record{Tenant: tenant, Kind: t.Name, ID: row.ID})
			}
		}
		looked += len(rows)
		if !full {
			break
		}
		q.Where = []store.Filter{{Column: "id", Op: store.AtMost, Values: []any{rows[len(rows)-1].ID}}}
	}
	return found, looked, nil
}
