package control

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/ledger"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/request"
	"github.com/countersign/countersign/internal/store"
)

// Of two calls with the same capability and title, one may be the other once more: who
// decides about one should know of the other while nobody knows how it ended.

// alikeLooked is how many open recoveries, or approvals, are looked through.
const alikeLooked = 200

// call is what a step does, in the words of its capability.
type call struct{ project, capability, title string }

// RecoveriesLike are the runs in scope whose uncertain step has the capability and the
// title of an approval, the newest first; none where it has no title.
func (s *Service) RecoveriesLike(ctx context.Context, a Actor, approvalID string) (runs []string, err error) {
	err = s.view(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		runs = nil
		rec, err := reachApproval(tx, a, approvalID)
		if err != nil {
			return err
		}
		ap := rec.Approval
		if err := s.maskApproval(tx, a, &ap); err != nil || ap.Title == "" {
			return err
		}
		where, err := records.InScope(tx, store.Runs, a.Principal)
		if err != nil {
			return err
		}
		open, err := records.Runs.List(tx, a.Tenant, store.Query{
			Where: append(where, store.Equal("status", string(countersign.RunRecoveryRequired))), Order: newestFirst, Limit: alikeLooked,
		})
		if err != nil {
			return err
		}
		for i := range open {
			found, err := s.uncertainCalls(tx, a, &open[i].Run)
			if err != nil {
				return err
			}
			if slices.Contains(found, call{ap.ProjectID, ap.Capability, ap.Title}) {
				runs = append(runs, open[i].ID)
			}
		}
		return nil
	})
	return runs, err
}

// ApprovalsLike are the approvals in scope that wait for a decision and have the
// capability and the title of a run's uncertain step, the newest first.
func (s *Service) ApprovalsLike(ctx context.Context, a Actor, runID string) (approvals []string, err error) {
	err = s.view(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		approvals = nil
		rec, err := reachRun(tx, a, runID)
		if err != nil {
			return err
		}
		uncertain, err := s.uncertainCalls(tx, a, &rec.Run)
		if err != nil || len(uncertain) == 0 {
			return err
		}
		where, err := records.InScope(tx, store.Approvals, a.Principal)
		if err != nil {
			return err
		}
		waiting, err := records.Approvals.List(tx, a.Tenant, store.Query{
			Where: append(where, store.Equal("status", string(countersign.ApprovalPending))), Order: newestFirst, Limit: alikeLooked,
		})
		if err != nil {
			return err
		}
		for i := range waiting {
			ap := waiting[i].Approval
			if err := s.maskApproval(tx, a, &ap); err != nil {
				return err
			}
			if slices.Contains(uncertain, call{ap.ProjectID, ap.Capability, ap.Title}) {
				approvals = append(approvals, ap.ID)
			}
		}
		return nil
	})
	return approvals, err
}

// uncertainCalls are the titled calls of a run whose outcome nobody knows, as this actor
// may see their titles.
func (s *Service) uncertainCalls(tx store.Tx, a Actor, r *countersign.Run) (out []call, err error) {
	p, err := s.ledger.Plan(tx, a.Tenant, r.PlanID, r.PlanDigest)
	if err != nil {
		return nil, err
	}
	err = ledger.EachStep(tx, ledger.Ref{Tenant: a.Tenant, RunID: r.ID}, 0, func(step *countersign.StepRun) {
		if step.Status != countersign.StepRecoveryRequired {
			return
		}
		if title := titleFor(a, p, step); title != "" {
			out = append(out, call{step.ProjectID, step.Capability, title})
		}
	})
	return out, err
}

// titleFor is the title of a step's call, without what the actor must not see.
func titleFor(a Actor, p *countersign.Plan, step *countersign.StepRun) string {
	if masks(a) {
		if h := hiddenIn(p).with(step.ID, step.Input); h != nil {
			return h.title(step.Input)
		}
	}
	for i := range p.ProjectSnapshots {
		project := &p.ProjectSnapshots[i]
		if c := project.Capability(step.Capability); c != nil && project.ID == step.ProjectID {
			return request.TitleOf(c, step.Input)
		}
	}
	return ""
}
