package control

import (
	"cmp"
	"context"

	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// updateInTurn is update for a change that takes the store's writer for long: one that makes or
// reads many rows, or stores a large document. One of them at a time waits for the writer, and
// tenants take turns, so that between two of them the writer has time for what costs little, and
// no tenant's wait behind all of another's.
func (s *Service) updateInTurn(ctx context.Context, a Actor, op access.Operation, subject string, fn func(tx store.Tx) error) (err error) {
	if err := access.Allow(a.Principal, op); err != nil {
		return s.Refuse(ctx, a, op, subject, err)
	}
	busy := s.costly.Do(ctx, a.Tenant, func() { err = s.write(ctx, a, op, subject, fn) })
	return cmp.Or(public(busy), err)
}
