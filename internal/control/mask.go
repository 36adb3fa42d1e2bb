package control

import (
	"errors"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// Sensitive input and output fields are masked for a VIEWER (contract 5). Reviewers see
// them, since they must see what they approve.

var masked = countersign.String("•••")

// masks reports whether the actor's only role is VIEWER.
func masks(a Actor) bool {
	return len(a.Roles) > 0 && !slices.ContainsFunc(a.Roles, func(r countersign.Role) bool { return r != countersign.RoleViewer })
}

// maskFor masks the run's steps if the actor must not see them.
func (s *Service) maskFor(tx store.Tx, a Actor, r *countersign.Run) error {
	if !masks(a) {
		return nil
	}
	p, err := s.runs.Plan(tx, a.Tenant, r.PlanID, r.PlanDigest)
	if err != nil {
		return err
	}
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
		return nil
	}
	stored, err := s.runs.ReadPlan(tx, a.Tenant, r.PlanID)
	if err != nil {
		return err
	}
	shown := *r.PlanSnapshot
	maskPlan(&shown, of, stored.OpenInputs)
	r.PlanSnapshot = &shown
	return nil
}

// maskPlanFor masks a plan's steps if the actor must not see them. open names the planning
// inputs that reach no sensitive field.
func maskPlanFor(tx store.Tx, a Actor, p *countersign.Plan, open []string) error {
	if !masks(a) {
		return nil
	}
	whole, err := runrepo.WithProjects(tx, a.Tenant, *p)
	if err == nil {
		maskPlan(p, planMaskOf(&whole), open)
	}
	return err
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
		maskCapabilities(&shown.ProjectSnapshots[i])
	}
	if of.masksAnything() {
		shown.PlanDigest = ""
		shown.PlanningInputs = maps.Clone(shown.PlanningInputs)
		maps.DeleteFunc(shown.PlanningInputs, func(name string, _ countersign.Value) bool { return !slices.Contains(open, name) })
	}
}

func (s *Service) maskApproval(tx store.Tx, a Actor, ap *countersign.Approval) error {
	if !masks(a) {
		return nil
	}
	stored, err := s.runs.ReadPlan(tx, a.Tenant, ap.PlanID)
	if errors.Is(err, store.ErrNotFound) {
		(&fieldMask{whole: true}).approval(ap) // nothing says which fields are sensitive
		return nil
	}
	if err != nil {
		return err
	}
	p, err := s.runs.Plan(tx, a.Tenant, ap.PlanID, stored.PlanDigest)
	if err != nil {
		return err
	}
	if h := planMaskOf(p).forStep(ap.StepID, ap.InputSnapshot); h != nil {
		h.approval(ap)
	}
	return nil
}
