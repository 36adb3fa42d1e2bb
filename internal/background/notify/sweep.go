package notify

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
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
		if nextMail, err = n.sweepMailed(tx, n.mails, old); err != nil {
			return err
		}
		for _, row := range rows {
			var rec records.Notice
			err := records.Decode(row, &rec)
			if err := n.cfg.Unreadable.Pass(unreadable.Record{Kind: "notice", ID: row.ID}, err); err != nil {
				return err
			}
			if err == nil && rec.ExpiresAt.Before(old) {
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
func (n *Notifier) sweepMailed(tx store.Tx, from string, old time.Time) (next string, err error) {
	rows, err := tx.List(store.Meta, store.Realm, store.Query{Where: records.MailedFrom(from), Limit: sweepBatch})
	if err != nil {
		return from, err
	}
	for _, row := range rows {
		var rec records.Mailed
		err := records.Decode(row, &rec)
		if err := n.cfg.Unreadable.Pass(unreadable.Record{Kind: "mail", ID: row.ID}, err); err != nil {
			return from, err
		}
		if err == nil && rec.At.Before(old) {
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
