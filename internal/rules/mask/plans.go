package mask

import (
	"slices"

	"github.com/countersign/countersign"
)

// Steps says what of a plan and of each of its steps is masked for a VIEWER.
type Steps struct {
	plan  *countersign.Plan
	steps map[string]*Fields // by id; no entry for steps with nothing to mask
}

// Of finds what the steps of a plan mask: the sensitive fields of their
// capabilities, and each input that is bound, directly or through other steps, from a
// sensitive field. p has its project snapshots.
func Of(p *countersign.Plan) Steps {
	of := Steps{p, make(map[string]*Fields, len(p.Steps))}
	for i := range p.Steps {
		s := &p.Steps[i]
		if h := capabilityFields(p, s.ProjectID, s.Capability); h != nil {
			h.agent = s.AgentID
			of.steps[s.ID] = h
		}
	}
	for of.propagate() {
	}
	for id, h := range of.steps {
		if !h.names.any() && !h.inherited.any() {
			delete(of.steps, id)
		}
	}
	return of
}

// propagate marks the targets of bindings from sensitive fields, once for each binding, and
// reports whether it marked a new one. Repeating it ends, even if bindings form a cycle,
// because the names are finite.
func (of Steps) propagate() (more bool) {
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
func (f *Fields) bind(name, field string, from *Fields) (more bool) {
	whole := from.hidesPath(field) || from.hidesPath(from.capability.OutputField) || (&Fields{names: from.inherited}).hidesPath(field)
	if whole && !f.hides(name) {
		more = f.names.add(name)
	}
	for _, list := range [][]string{from.names.list, from.inherited.list} {
		for _, member := range list {
			more = f.inherited.add(member) || more
		}
	}
	return more
}

// ForStep returns what a step masks once its inputs are known; nil for nothing. If a binding
// supplies a value with sensitive members, their names are masked in the whole step, since
// its answer may repeat them.
func (of Steps) ForStep(stepID string, input map[string]countersign.Value) *Fields {
	h := of.steps[stepID]
	if h == nil {
		return nil
	}
	inner := &Fields{names: h.inherited}
	for name := range of.plan.Step(stepID).InputBindings {
		if inner.mentions(input[name]) {
			all := *h
			all.names = namesOf(h.names.list, h.inherited.list)
			return &all
		}
	}
	if !h.names.any() {
		return nil
	}
	return h
}

// MasksAnything reports whether something of the plan is masked, so that its digest must be
// masked too.
func (of Steps) MasksAnything() bool {
	for _, h := range of.steps {
		if h.names.any() {
			return true
		}
	}
	for _, agent := range of.plan.Agents {
		for capability := range agent.ExecutorInputs {
			if fieldsOf(of.plan, agent.ProjectID, capability) != nil {
				return true
			}
		}
	}
	return false
}

// OpenInputs names the planning inputs of a compiled plan that reach no sensitive field, by
// the bindings that it was compiled with. For a plan that was written by hand it names
// none, since nothing says where its inputs went.
func OpenInputs(p *countersign.Plan, bindings map[string]countersign.ActionBinding) []string {
	fed := map[string]bool{}
	of := Of(p)
	for i := range p.Steps {
		s := &p.Steps[i]
		known := capabilityFields(p, s.ProjectID, s.Capability) != nil
		for input, variable := range bindings[s.ActionID].InputVariables {
			if h := of.steps[s.ID]; !known || h != nil && h.hides(input) {
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
