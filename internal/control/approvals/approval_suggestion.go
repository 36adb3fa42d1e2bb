package approvals

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/store"
)

// judgedSuggestion says whether suggested inputs fit the step of an approval.
type judgedSuggestion struct {
	judged bool
	unfit  error // why they don't
}

// judgeSuggestion checks suggested inputs: an approval's run, plan and step never change.
// Whether the actor may decide it is for the turn to write to say, which comes first.
func (s *ApprovalService) judgeSuggestion(ctx context.Context, a core.Actor, id string, suggested map[string]countersign.Value) (j judgedSuggestion, err error) {
	if suggested == nil {
		return j, nil
	}
	var p *countersign.Plan
	var stepID string
	err = s.View(ctx, a, access.DecideApproval, func(tx store.Tx) error {
		rec, err := reach.Approval(tx, a, id)
		if err != nil {
			return err
		}
		of, err := reach.Run(tx, a, rec.RunID)
		if err != nil {
			return err
		}
		stepID = rec.StepID
		p, err = s.Repo.Plan(tx, a.Tenant, of.PlanID, of.PlanDigest)
		return err
	})
	if err != nil {
		return j, core.RefusedLater(err)
	}
	err = s.Judge(ctx, a, func(m *cost.Meter) { j = judgedSuggestion{true, run.JudgeSuggestion(m, p, stepID, suggested)} })
	if countersign.ErrorCode(err) == countersign.CodeInvalidRequest {
		j.unfit, err = err, nil
	}
	return j, err
}
