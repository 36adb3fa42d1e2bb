package notify

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// sweep deletes the notices of approvals that expired long ago, and the addresses mailed long
// ago. It reads a bounded number of each, and the next sweep continues after them.
func (n *Notifier) sweep(ctx context.Context) error {
	old := n.cfg.Now().Add(-keepFor)
	next, nextMail := "", ""
	err := n.store.Update(ctx, func(tx store.Tx) error {
		rows, err := tx.List(store.Meta, store.Realm, store.Query{
			Where: []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{n.from}}, {Column: "id", Op: store.AtMost, Values: []any{records.AfterNotice}}},
			Limit: sweepBatch,
		})
		if err != nil {
			return err
		}
		next = records.FirstNotice
		if len(rows) == sweepBatch {
			next = rows[len(rows)-1].ID
		}
		if nextMail, err = sweepMailed(tx, n.mails, old); err != nil {
			return err
		}
		for _, row := range rows {
			var rec records.Notice
			if err := records.Decode(row, &rec); err != nil {
				return err
			}
			if rec.ExpiresAt.Before(old) {
				if err := tx.Delete(store.Meta, store.Realm, row.ID); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		n.from, n.mails = next, nextMail
	}
	return err
}

// sweepMailed deletes the records of addresses that were mailed long ago, among a bounded
// number. It returns the id at which the next sweep begins.
func sweepMailed(tx store.Tx, from string, old time.Time) (next string, err error) {
	rows, err := tx.List(store.Meta, store.Realm, store.Query{Where: records.MailedFrom(from), Limit: sweepBatch})
	if err != nil {
		return from, err
	}
	for _, row := range rows {
		var rec records.Mailed
		if err := records.Decode(row, &rec); err != nil {
			return from, err
		}
		if rec.At.Before(old) {
			if err := tx.Delete(store.Meta, store.Realm, row.ID); err != nil {
				return from, err
			}
		}
	}
	if len(rows) < sweepBatch {
		return records.FirstMailed, nil
	}
	return rows[len(rows)-1].ID, nil
}
