package audit

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// span is how many records are read at once to find one.
const span = 100

// LatestBefore reads the newest record about a subject, before a place in the log, that fits; ok is
// false for none.
func LatestBefore(tx store.Tx, tenant, subject string, before int64, fits func(*countersign.AuditRecord) bool) (found Sealed, ok bool, err error) {
	for before > 0 {
		rows, err := tx.List(store.Audit, tenant, store.Query{
			Where: []store.Filter{store.Equal("subject", subject), {Column: "seq", Op: store.AtMost, Values: []any{before - 1}}},
			Order: []store.Order{{Column: "seq", Descending: true}}, Limit: span,
		})
		if err != nil {
			return found, false, err
		}
		for _, row := range rows {
			if found, err = unseal(row); err != nil {
				return found, false, err
			}
			if fits(&found.Record) {
				return found, true, nil
			}
			before = found.Record.Seq
		}
		if len(rows) < span {
			break
		}
	}
	return Sealed{}, false, nil
}
