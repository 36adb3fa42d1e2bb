package runs

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// checkLimitsOfStart refuses a run that would exceed a limit. Other conflicts are checked before
// it, slots after it.
func (s *StartService) checkLimitsOfStart(tx store.Tx, tenant string, o startRequest) error {
	if err := s.checkAgentAsks(tx, tenant, o); err != nil {
		return err
	}
	if err := s.checkApprovalLimit(tx, tenant, o.mode, o.known.Asks); err != nil {
		return err
	}
	if err := s.checkHeldLimit(tx, tenant, o.mode); err != nil {
		return err
	}
	return s.Repo.Free(tx, tenant, o.mode)
}

// checkApprovalLimit refuses the start of a run that will ask for an approval while the tenant
// has as many pending ones as it may. Runs that were started before may still ask, so there
// can be more than the limit.
func (s *StartService) checkApprovalLimit(tx store.Tx, tenant, mode string, asks bool) error {
	if mode != countersign.ModeLive || !asks {
		return nil
	}
	count, err := tx.Count(store.Approvals, tenant, store.Query{Where: []store.Filter{store.Equal("status", string(countersign.ApprovalPending))}})
	most := s.Config.Quotas.Approvals
	if err != nil || count < most {
		return err
	}
	return quota.Exceeded("tenant "+tenant, most, "pending approvals", "decide some of them, or cancel their runs")
}

// Quotas returns the configured limits of a tenant, an agent and a run.
func (s *StartService) Quotas() quota.Bounds { return s.Config.Quotas }

// checkHeldLimit refuses a LIVE start while a stop holds as many runs of the tenant as may
// wait for approvals: it would be held too.
func (s *StartService) checkHeldLimit(tx store.Tx, tenant, mode string) error {
	if mode != countersign.ModeLive {
		return nil
	}
	stopped, err := runrepo.Stopped(tx, tenant)
	if err != nil || !stopped {
		return err
	}
	held, err := tx.Count(store.Unfinished, store.Realm, store.Query{Where: append(records.UnfinishedOf(tenant), store.Equal("state", records.Queued))})
	if most := s.Config.Quotas.Approvals; err == nil && held >= most {
		return quota.Exceeded("tenant "+tenant, most, "runs that wait for the end of a stop", "lift it by POST /go, or cancel some of them")
	}
	return err
}
