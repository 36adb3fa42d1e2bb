package runs

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// SuggestedInput is what whoever rejected a run's latest approval would approve instead,
// nil for nothing. Who may read a run may read it: an agent can't read approvals, and is
// whom the suggestion is for.
func (s *RunService) SuggestedInput(ctx context.Context, a core.Actor, runID string) (out map[string]countersign.Value, err error) {
	err = s.View(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		rec, err := reach.Run(tx, a, runID)
		if err != nil || rec.ApprovalID == "" {
			return err
		}
		ap, _, err := records.Approvals.Get(tx, a.Tenant, rec.ApprovalID)
		if err != nil || ap.SuggestedInput == nil {
			return err
		}
		err = s.MaskApprovalFor(tx, a, &ap.Approval)
		out = ap.SuggestedInput
		return err
	})
	return out, err
}
