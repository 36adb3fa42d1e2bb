package storewide

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// MarkRuns sets, once for each store, the marks of unfinished runs that an older release has
// stored. It reads the list in spans, each run in a turn of its own, so that nothing waits for it.
func (s *StoreService) MarkRuns(ctx context.Context) error {
	var done bool
	err := s.Store.View(ctx, func(tx store.Tx) error {
		_, _, err := records.CredentialMarks.Get(tx, store.Realm, records.RunsMarkedID)
		if done = err == nil; errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return err
	})
	if err != nil || done {
		return err
	}
	if err := s.Config.Unreadable.EachTenant(ctx, s.Store, "marks of runs", func(tenant string) error { return s.markRunsOf(ctx, tenant) }); err != nil {
		return err
	}
	return s.Store.Update(ctx, func(tx store.Tx) error {
		_, _, err := records.CredentialMarks.Get(tx, store.Realm, records.RunsMarkedID)
		if !errors.Is(err, store.ErrNotFound) { // another replica was faster
			return err
		}
		_, err = records.CredentialMarks.Put(tx, store.Realm, records.RunsMarkedID, &records.CredentialsBound{At: s.Config.Now()}, 0)
		return err
	})
}

// markedAtOnce is how many entries of the list are read at once.
const markedAtOnce = 100

func (s *StoreService) markRunsOf(ctx context.Context, tenant string) error {
	for last := ""; ; {
		var rows []store.Row
		err := s.Store.View(ctx, func(tx store.Tx) (err error) {
			rows, err = tx.List(store.Unfinished, store.Realm, store.Query{Where: records.UnfinishedAfter(tenant, last), Limit: markedAtOnce})
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			last = records.UnfinishedOfRow(row).RunID
			err := s.Store.Update(ctx, func(tx store.Tx) error { return s.Repo.MarkAnew(tx, runrepo.Ref{Tenant: tenant, RunID: last}) })
			if _, err = s.Passes(store.Runs, tenant, last, err); err != nil {
				return err
			}
		}
	}
}
