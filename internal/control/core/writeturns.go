package core

import (
	"cmp"
	"context"

	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// UpdateInTurn is update for a change that takes the store's writer for long: one that makes or
// reads many rows, or stores a large document. One of them at a time waits for the writer, and
// tenants take turns, so that between two of them the writer has time for what costs little, and
// no tenant's wait behind all of another's.
func (s *Core) UpdateInTurn(ctx context.Context, a Actor, op access.Operation, subject string, fn func(tx store.Tx) error) (err error) {
	if err := access.Allow(a.Principal, op); err != nil {
		return s.Refuse(ctx, a, op, subject, err)
	}
	busy := s.costly.Do(ctx, a.Tenant, func() { err = s.Write(ctx, a, op, subject, fn) })
	return cmp.Or(Public(busy), err)
}

// Compute runs work that may take a processor for seconds and tens of megabytes, with the
// reading of what it works on. Little of it runs at once, tenants take turns, and none holds the
// last one, so that simulations delay neither runs nor other tenants' simulations.
func (s *Core) Compute(ctx context.Context, tenant string, f func()) error {
	return Public(s.computations.Do(ctx, tenant, f))
}

// Look is a read in the turn that tenants take at what takes a processor.
func (s *Core) Look(ctx context.Context, a Actor, fn func(tx store.Tx) error) (err error) {
	busy := s.Compute(ctx, a.Tenant, func() { err = s.Read(ctx, fn) })
	return cmp.Or(busy, err)
}
