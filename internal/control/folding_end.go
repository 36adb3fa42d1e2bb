package control

import (
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/store"
)

const (
	// foldsEnd is how long the end of a service takes for all that was counted, also
	// without a store: a supervisor waits some seconds longer than the grace.
	foldsEnd = 5 * time.Second
	// foldsAtOnce is how many records share a transaction then.
	foldsAtOnce = 500
)

// recordFolds records what was counted when the service ends: a tenant's together, as
// far as there is time.
func (s *Service) recordFolds() {
	ctx, cancel := context.WithTimeout(context.Background(), foldsEnd)
	defer cancel()
	told := map[string][]countersign.AuditRecord{}
	for _, k := range s.folds.all() {
		if ended := s.folds.end(k); ended.count > 0 {
			told[k.tenant] = append(told[k.tenant], ended.told(s.cfg.Now()))
		}
	}
	for tenant, records := range told {
		for span := range slices.Chunk(records, foldsAtOnce) {
			err := s.store.Update(ctx, func(tx store.Tx) error { return audit.Append(tx, tenant, span) })
			if err != nil {
				s.log.Warn("refusals not recorded", "tenant", tenant, "records", len(span), "count", refusalsIn(span), "error", err)
			}
		}
	}
}

func refusalsIn(records []countersign.AuditRecord) (n int64) {
	for _, r := range records {
		n += r.Count
	}
	return n
}
