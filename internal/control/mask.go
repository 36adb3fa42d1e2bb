package control

import (
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// Sensitive input and output fields are masked for a VIEWER (contract 5). Reviewers see
// them, since they must see what they approve.

var masked = countersign.String("•••")

// viewerOnly reports whether these are the roles of somebody from whom values are hidden: VIEWER and
// no other.
func viewerOnly(roles []countersign.Role) bool {
	return len(roles) > 0 && !slices.ContainsFunc(roles, func(r countersign.Role) bool { return r != countersign.RoleViewer })
}

// callKey begins the key of a call over MCP; what follows is a digest of its inputs.
const callKey = "mcp "

func isCallKey(key string) bool { return strings.HasPrefix(key, callKey) }

// maskRun masks a run's steps, and its snapshot if it has one. p is its plan, and open names the
// planning inputs of it that reach no sensitive field.
func maskRun(r *countersign.Run, p *countersign.Plan, open []string) {
	of := planMaskOf(p)
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		h := of.forStep(r.Steps[i].ID, r.Steps[i].Input)
		if h == nil {
			continue
		}
		if h.step(&r.Steps[i]) {
			r.Error = maskedError(r.Error)
		}
		r.Error = countersign.WithoutQuote(r.Error)
	}
	if of.masksAnything() {
		r.PlanDigest, r.AgentWords, r.Reason = "", maskedWords(r.AgentWords), maskedReason(r.Reason)
		if isCallKey(r.IdempotencyKey) {
			r.IdempotencyKey = masked.Text()
		}
	}
	if r.PlanSnapshot == nil {
		return
	}
	shown := *r.PlanSnapshot
	maskPlan(&shown, of, open)
	r.PlanSnapshot = &shown
}

// maskPlan masks the steps of a plan, and everything from which a masked input could be
// guessed.
func maskPlan(shown *countersign.Plan, of planMask, open []string) {
	shown.Steps = slices.Clone(shown.Steps)
	for i := range shown.Steps {
		s := &shown.Steps[i]
		h := of.steps[s.ID]
		if h == nil {
			continue
		}
		s.Input, s.Expectation = h.input(s.Input), h.expectation(s.Expectation)
	}
	maskExecutorInputs(shown, of.plan)
	shown.ProjectSnapshots = slices.Clone(shown.ProjectSnapshots)
	for i := range shown.ProjectSnapshots {
		maskProject(&shown.ProjectSnapshots[i])
	}
	if of.masksAnything() {
		shown.PlanDigest = ""
		shown.PlanningInputs = maps.Clone(shown.PlanningInputs)
		maps.DeleteFunc(shown.PlanningInputs, func(name string, _ countersign.Value) bool { return !slices.Contains(open, name) })
	}
}

// maskApproval masks an approval of a step of a plan.
func maskApproval(ap *countersign.Approval, p *countersign.Plan) {
	if h := planMaskOf(p).forStep(ap.StepID, ap.InputSnapshot); h != nil {
		h.approval(ap)
	}
}

// maskWholeApproval masks an approval whose plan is gone, so that nothing says which fields are
// sensitive.
func maskWholeApproval(ap *countersign.Approval) {
	(&fieldMask{whole: true}).approval(ap)
}
