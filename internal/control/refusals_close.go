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
	// foldsEnd bounds how long a stopping service tries to record its counts, also if the
	// store is unavailable: a supervisor waits only some seconds longer than the grace.
	foldsEnd = 5 * time.Second
	// foldsAtOnce is how many records then share a transaction.
	foldsAtOnce = 500
)

// recordFolds records all counts when the service stops, tenant by tenant, until foldsEnd.
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
