package approvals

import (
	"cmp"
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Two calls with the same capability and title may be the same action twice. A reviewer of
// one call sees the other while its outcome is unknown.

// similarBatch bounds how many open recoveries or approvals are in memory at a time.
const similarBatch = 16

// call identifies what a step does: its capability and the capability's title.
type call struct{ project, capability, title string }

// RecoveriesLike lists the runs in scope whose uncertain step has the capability and the
// title of an approval, newest first; none if the approval has no title.
func (s *ReviewService) RecoveriesLike(ctx context.Context, a core.Actor, approvalID string) (runs []string, err error) {
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		runs = nil
		rec, err := reach.Approval(tx, a, approvalID)
		if err != nil {
			return err
		}
		asked := call{rec.ProjectID, rec.Capability, rec.Title}
		if shown, err := s.showsTitle(tx, a, rec.Approval); err != nil || !shown {
			return err
		}
		where, err := records.InScope(tx, store.Runs, a.Principal)
		if err != nil {
			return err
		}
		return records.Runs.EachReadable(tx, a.Tenant, store.Query{
			Where: append(where, store.Equal("status", string(countersign.RunRecoveryRequired))), Order: core.NewestFirst,
		}, similarBatch, func(r *records.Run) error {
			found, err := s.uncertainCalls(tx, a, &r.Run)
			if slices.Contains(found, asked) {
				runs = append(runs, r.ID)
			}
			_, err = s.Passes(store.Runs, a.Tenant, r.ID, err)
			return err
		}, s.Damaged(store.Runs, a.Tenant))
	})
	return runs, err
}

// ApprovalsLike lists the pending approvals in scope that have the capability and the
// title of a run's uncertain step, newest first.
func (s *ReviewService) ApprovalsLike(ctx context.Context, a core.Actor, runID string) (approvals []string, err error) {
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		approvals = nil
		rec, err := reach.Run(tx, a, runID)
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
		titles := make([]string, len(uncertain))
		for i, c := range uncertain {
			titles[i] = c.title
		}
		where = append(where, store.Equal("status", string(countersign.ApprovalPending)), core.Within("title", titles))
		return records.Approvals.EachReadable(tx, a.Tenant, store.Query{Where: where, Order: core.NewestFirst}, similarBatch, func(ap *records.Approval) error {
			if !slices.Contains(uncertain, call{ap.ProjectID, ap.Capability, ap.Title}) {
				return nil
			}
			shown, err := s.showsTitle(tx, a, ap.Approval)
			if shown {
				approvals = append(approvals, ap.ID)
			}
			_, err = s.Passes(store.Approvals, a.Tenant, ap.ID, err)
			return err
		}, s.Damaged(store.Approvals, a.Tenant))
	})
	return approvals, err
}

// showsTitle reports whether the actor may see the approval's whole title. Titles are compared
// unmasked: masked ones would make different calls look alike, and telling an actor that
// two hidden titles are equal would reveal what is masked.
func (s *ReviewService) showsTitle(tx store.Tx, a core.Actor, ap countersign.Approval) (bool, error) {
	title := ap.Title
	err := s.MaskApprovalFor(tx, a, &ap)
	return title != "" && ap.Title == title, err
}

// uncertainCalls returns the calls of a run whose outcome is unknown and whose whole title
// the actor may see. Steps may be large, so they are read only if the plan has a
// capability with a title.
func (s *ReviewService) uncertainCalls(tx store.Tx, a core.Actor, r *countersign.Run) (out []call, err error) {
	p, err := s.Repo.Plan(tx, a.Tenant, r.PlanID, r.PlanDigest)
	if err != nil || !slices.ContainsFunc(p.Steps, func(s countersign.Step) bool { return capabilityIn(p, s.ProjectID, s.Capability).Title != "" }) {
		return nil, err
	}
	m := cost.New(context.Background(), cost.InTurn, 0)
	err = runrepo.EachStep(tx, runrepo.Ref{Tenant: a.Tenant, RunID: r.ID}, 0, func(step *countersign.StepRun) {
		if step.Status != countersign.StepRecoveryRequired {
			return
		}
		title := request.TitleOf(m, capabilityIn(p, step.ProjectID, step.Capability), step.Input)
		if title != "" && !m.Over() && title == titleFor(a, p, step, title) {
			out = append(out, call{step.ProjectID, step.Capability, title})
		}
	})
	return out, err
}

// titleFor returns the title of a step's call, masked for the actor.
func titleFor(a core.Actor, p *countersign.Plan, step *countersign.StepRun, title string) string {
	if core.Masks(a) {
		if h := mask.Of(p).ForStep(step.ID, step.Input); h != nil {
			return h.Title(step.Input)
		}
	}
	return title
}

// capabilityIn finds a capability of a plan's projects; an empty one if there is none.
func capabilityIn(p *countersign.Plan, projectID, name string) *countersign.Capability {
	_, c := mask.TargetOf(p, projectID, name)
	return cmp.Or(c, &countersign.Capability{})
}
