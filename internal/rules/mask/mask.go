// Package mask decides what of a record is hidden from whoever only looks: the values of
// sensitive fields, and everything from which they could be guessed (contract 5).
package mask

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/repeat"
)

// Sensitive input and output fields are masked for a VIEWER (contract 5). Reviewers see
// them, since they must see what they approve.

var masked = countersign.String("•••")

// ViewerOnly reports whether these are the roles of somebody from whom values are hidden: VIEWER and
// no other.
func ViewerOnly(roles []countersign.Role) bool {
	return len(roles) > 0 && !slices.ContainsFunc(roles, func(r countersign.Role) bool { return r != countersign.RoleViewer })
}

// Run masks a run's steps, and its snapshot if it has one. p is its plan, and open names the
// planning inputs of it that reach no sensitive field.
func Run(r *countersign.Run, p *countersign.Plan, open []string) {
	of := Of(p)
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		h := of.ForStep(r.Steps[i].ID, r.Steps[i].Input)
		if h == nil {
			continue
		}
		if h.step(&r.Steps[i]) {
			r.Error = unknownOf(maskedError(r.Error))
		}
		r.Error = countersign.WithoutQuote(r.Error)
	}
	if of.MasksAnything() {
		r.PlanDigest, r.AgentWords, r.Reason = "", maskedWords(r.AgentWords), maskedReason(r.Reason)
		r.OpenAlike = nil // which call is the same tells of its inputs
		if repeat.IsCall(r.IdempotencyKey) {
			r.IdempotencyKey = masked.Text()
		}
	}
	if r.PlanSnapshot == nil {
		return
	}
	shown := *r.PlanSnapshot
	Plan(&shown, of, open)
	r.PlanSnapshot = &shown
}

// Plan masks the steps of a plan, and everything from which a masked input could be
// guessed.
func Plan(shown *countersign.Plan, of Steps, open []string) {
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
		Project(&shown.ProjectSnapshots[i])
	}
	if of.MasksAnything() {
		shown.PlanDigest = ""
		shown.PlanningInputs = maps.Clone(shown.PlanningInputs)
		maps.DeleteFunc(shown.PlanningInputs, func(name string, _ countersign.Value) bool { return !slices.Contains(open, name) })
	}
}

// Approval masks an approval of a step of a plan.
func Approval(ap *countersign.Approval, p *countersign.Plan) {
	if h := Of(p).ForStep(ap.StepID, ap.InputSnapshot); h != nil {
		h.approval(ap)
	}
}

// WholeApproval masks an approval whose plan is gone, so that nothing says which fields are
// sensitive.
func WholeApproval(ap *countersign.Approval) {
	(&Fields{whole: true}).approval(ap)
}
