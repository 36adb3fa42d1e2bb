package control

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/ledger"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// mayLeaveCall refuses to cancel one more LIVE run that is RUNNING while many calls of
// the tenant's cancelled runs are under way. A cancel gives the slot back, but a side
// effect that has begun isn't ended: without a bound, starts and cancels in turn would
// hold ever more connections.
func (s *Service) mayLeaveCall(tx store.Tx, tenant string, rec *records.Run) error {
	if rec.Mode != countersign.ModeLive || rec.Status != countersign.RunRunning {
		return nil
	}
	left, err := ledger.LeftCalls(tx, tenant, s.cfg.Now())
	if err == nil && left >= countersign.MaxLeftCalls {
		err = countersign.Errorf(countersign.CodeCapacity, "%d calls of cancelled runs of this tenant may still be answered; cancel this run when one of them has ended", left)
	}
	return err
}
