package linearizability

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// slots reads in one snapshot how many slots are counted as held, and how many runs are READY or RUNNING.
func (f *fixture) slots(ctx context.Context) (counted, active int, err error) {
	err = f.store.View(ctx, func(tx store.Tx) error {
		counted, err = tx.Count(store.Unfinished, store.Realm, store.Query{Where: []store.Filter{store.Equal("state", records.Active)}})
		if err != nil {
			return err
		}
		active, err = tx.Count(store.Runs, tenant, store.Query{Where: []store.Filter{
			{Column: "status", Op: store.In, Values: []any{string(countersign.RunReady), string(countersign.RunRunning)}},
		}})
		return err
	})
	return counted, active, err
}
