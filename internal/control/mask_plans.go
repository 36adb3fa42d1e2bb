package control

import (
	"slices"

	"github.com/countersign/countersign"
)

// hiding says what of a plan and of each of its steps is masked for a VIEWER.
type hiding struct {
	plan  *countersign.Plan
	steps map[string]*hidden // by id; no entry for steps with nothing to mask
}

// hiddenIn finds what the steps of a plan mask: the sensitive fields of their
// capabilities, and each input that is bound, directly or through other steps, from a
// sensitive field. p has its project snapshots.
func hiddenIn(p *countersign.Plan) hiding {
	of := hiding{p, make(map[string]*hidden, len(p.Steps))}
	for i := range p.Steps {
		s := &p.Steps[i]
		if h := contractIn(p, s.ProjectID, s.Capability); h != nil {
			of.steps[s.ID] = h
		}
	}
	for of.spread() {
	}
	for id, h := range of.steps {
		if len(h.names) == 0 && len(h.brought) == 0 {
			delete(of.steps, id)
		}
	}
	return of
}

// spread marks the targets of bindings from sensitive fields, once for each binding, and
// reports whether it marked a new one. Repeating it ends, even if bindings form a cycle,
// because the names are finite.
func (of hiding) spread() (more bool) {
	for i := range of.plan.Steps {
		s := &of.plan.Steps[i]
		to := of.steps[s.ID]
		for name, b := range s.InputBindings {
			if from := of.steps[b.StepID]; to != nil && from != nil && to.bind(name, b.Field, from) {
				more = true
			}
		}
	}
	return more
}

// bind marks an input that is bound from a sensitive field of another step's output.
func (h *hidden) bind(name, field string, from *hidden) (more bool) {
	whole := from.on(field) || from.on(from.capability.OutputField) || (&hidden{names: from.brought}).on(field)
	if whole && !h.has(name) {
		h.names, more = append(h.names, name), true
	}
	for _, member := range slices.Concat(from.names, from.brought) {
		if !slices.Contains(h.brought, member) {
			h.brought, more = append(h.brought, member), true
		}
	}
	return more
}

// with returns what a step masks once its inputs are known; nil for nothing. If a binding
// supplies a value with sensitive members, their names are masked in the whole step, since
// its answer may repeat them.
func (of hiding) with(stepID string, input map[string]countersign.Value) *hidden {
	h := of.steps[stepID]
	if h == nil {
		return nil
	}
	inner := &hidden{names: h.brought}
	for name := range of.plan.Step(stepID).InputBindings {
		if inner.mentions(input[name]) {
			all := *h
			all.names = slices.Concat(h.names, h.brought)
			return &all
		}
	}
	if len(h.names) == 0 {
		return nil
	}
	return h
}

// hidesPlan reports that something of the plan is masked, so that its digest must be too.
func (of hiding) hidesPlan() bool {
	for _, h := range of.steps {
		if len(h.names) > 0 {
			return true
		}
	}
	for _, agent := range of.plan.Agents {
		for capability := range agent.ExecutorInputs {
			if hiddenFor(of.plan, agent.ProjectID, capability) != nil {
				return true
			}
		}
	}
	return false
}

// openInputs names the planning inputs of a compiled plan that reach no sensitive field, by
// the bindings that it was compiled with. For a plan that was written by hand it names
// none, since nothing says where its inputs went.
func openInputs(p *countersign.Plan, bindings map[string]countersign.ActionBinding) []string {
	fed := map[string]bool{}
	of := hiddenIn(p)
	for i := range p.Steps {
		s := &p.Steps[i]
		known := contractIn(p, s.ProjectID, s.Capability) != nil
		for input, variable := range bindings[s.ActionID].InputVariables {
			if h := of.steps[s.ID]; !known || h != nil && h.has(input) {
				fed[variable] = true
			}
		}
	}
	var open []string
	for name := range p.PlanningInputs {
		if !fed[name] {
			open = append(open, name)
		}
	}
	slices.Sort(open)
	return open
}
