package control

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// checkLimitsOfStart refuses a run that would exceed a limit. Other conflicts are checked before
// it, slots after it.
func (s *Service) checkLimitsOfStart(tx store.Tx, tenant string, p *countersign.Plan) error {
	if err := s.checkApprovalLimit(tx, tenant, p); err != nil {
		return err
	}
	if err := s.checkHeldLimit(tx, tenant, p.Mode); err != nil {
		return err
	}
	return s.runs.Free(tx, tenant, p.Mode)
}

// checkApprovalLimit refuses the start of a run that will ask for an approval while the tenant
// has as many pending ones as it may. Runs that were started before may still ask, so there
// can be more than the limit.
func (s *Service) checkApprovalLimit(tx store.Tx, tenant string, p *countersign.Plan) error {
	if p.Mode != countersign.ModeLive {
		return nil
	}
	count, err := tx.Count(store.Approvals, tenant, store.Query{Where: []store.Filter{store.Equal("status", string(countersign.ApprovalPending))}})
	most := s.cfg.Quotas.Approvals
	if err != nil || count < most {
		return err
	}
	if will, err := asks(tx, tenant, p); err != nil || !will {
		return err
	}
	return quota.Exceeded("tenant "+tenant, most, "pending approvals", "decide some of them, or cancel their runs")
}

// asks reports whether a step of the plan needs an approval. It reads the revisions of the
// projects, since the plan may have no snapshots.
func asks(tx store.Tx, tenant string, p *countersign.Plan) (bool, error) {
	for _, ref := range p.Projects {
		project, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(ref.ID, ref.Revision))
		if err != nil {
			return false, err
		}
		for i := range p.Steps {
			if p.Steps[i].ProjectID != ref.ID {
				continue
			}
			if c := project.Capability(p.Steps[i].Capability); c != nil && gate.Judge(gate.OfPlan(p), c, p.Steps[i].Input, p.Steps[i].InputBindings).Asks() || c != nil && budget.MayAsk(c.Budgets) {
				return true, nil
			}
		}
	}
	return false, nil
}

// Quotas returns the configured limits of a tenant, an agent and a run.
func (s *Service) Quotas() quota.Bounds { return s.cfg.Quotas }
