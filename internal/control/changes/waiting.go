package changes

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// WaitingChanges is how many open changes the actor may decide at this moment.
func (s *DecisionService) WaitingChanges(ctx context.Context, a core.Actor) (n int, err error) {
	if access.Allow(a.Principal, access.DecideChange) != nil {
		return 0, nil
	}
	err = s.View(ctx, a, access.ReadChanges, func(tx store.Tx) error {
		n = 0
		open, _, err := s.open(tx, a.Tenant)
		if err != nil {
			return err
		}
		for _, o := range open.Items {
			rec, _, err := s.readable(tx, a.Tenant, o.ID)
			if err != nil {
				return err
			}
			if rec == nil {
				continue
			}
			waits, err := s.waitsFor(tx, a, rec)
			if err != nil {
				return err
			}
			if waits {
				n++
			}
		}
		return nil
	})
	return n, err
}

// waitsFor reports a change that the actor may decide.
func (s *DecisionService) waitsFor(tx store.Tx, a core.Actor, r *records.Change) (bool, error) {
	if s.lapsed(r) || r.Status != countersign.ChangeProposed || reached(a, r) != nil || mayFollow(a, r) != nil {
		return false, nil
	}
	_, _, err := s.mayDecide(tx, a, r)
	if countersign.ErrorCode(err) != "" {
		return false, nil
	}
	return err == nil, err
}
