package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestADryRunTokenDecidesNothingAndSendsNothing: a token that is limited to DRY_RUN can't start, approve, reconcile or probe anything LIVE.
func TestADryRunTokenDecidesNothingAndSendsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dry, _ := w.token(t, doc{"roles": []string{"ADMIN", "APPROVER"}, "modes": []string{"DRY_RUN"}})
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	a := w.asked(t, w.operator)
	id, run := a.At("id").Text(), a.At("runId").Text()
	for _, decision := range []string{"APPROVED", "REJECTED"} {
		dry.Post("/approvals/"+id+"/decision", doc{"decision": decision, "reason": "r"}).Refused(t, "role_required", "DRY_RUN")
	}
	w.approve(t, run)
	w.reaches(t, run, "RECOVERY_REQUIRED")
	dry.Post("/runs/"+run+"/probe", doc{"stepId": "r"}).Refused(t, "role_required", "DRY_RUN")
	dry.Post("/runs/"+run+"/reconcile", reconcile("ABANDON", nil)).Refused(t, "role_required", "DRY_RUN")
	dry.Post("/projects/"+shop+"/health-check", nil).Refused(t, "role_required", "DRY_RUN")
	dry.Post("/runs/"+run+"/cancel", doc{"reason": "r"}).Refused(t, "role_required") // as OPERATOR, too: see the matrix
	live, _ := w.token(t, doc{"roles": []string{"ADMIN", "APPROVER"}, "modes": []string{"LIVE"}})
	live.Post("/runs/"+run+"/probe", doc{"stepId": "r"}).OK(t)
	live.Post("/projects/"+shop+"/health-check", nil).OK(t)
	live.Post("/runs/"+run+"/reconcile", reconcile("ABANDON", nil)).OK(t)
}
