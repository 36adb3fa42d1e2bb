package models

import (
	"context"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// CountModels counts, once for each store, the bytes of the models that an older release
// stored. It reads them in spans, each in a View, so that nothing waits for it. Replicas of
// this release may write and count meanwhile. What a replica of the older release writes
// behind the counted span stays uncounted.
func (s *ModelService) CountModels(ctx context.Context) error {
	return s.Config.Unreadable.EachTenant(ctx, s.Store, "count of models", func(tenant string) error { return s.countModelsOf(ctx, tenant) })
}

func (s *ModelService) countModelsOf(ctx context.Context, tenant string) error {
	for {
		var next records.CountedModels
		all := false
		err := s.Store.View(ctx, func(tx store.Tx) (err error) {
			next, all, err = records.NextModels(tx, tenant)
			return err
		})
		if err != nil || all {
			return err
		}
		if err := s.Store.Update(ctx, next.Store); err != nil {
			return err
		}
	}
}
