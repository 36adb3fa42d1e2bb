package control

import (
	"slices"

	"github.com/countersign/countersign"
)

// hiding is what a plan and each of its steps keep from whoever only views.
type hiding struct {
	plan  *countersign.Plan
	steps map[string]*hidden // by id; none of those that keep nothing
}

// hiddenIn finds what the steps of a plan keep: the sensitive fields of their
// capabilities, and each input that is bound from a field that is sensitive where it
// comes from, through any number of bindings. p has its project snapshots.
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

// spread takes what is sensitive along every binding once, and reports whether that
// made more of it. The names are finite, so it ends, also in a plan whose bindings
// make a cycle.
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

// bind notes that an input takes a field of another step's output.
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

// with is what a step keeps, nil for nothing, once its inputs are known: where a
// binding brings a value with sensitive members, these are sensitive in all of the
// step, since its answer may repeat them.
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

// hidesPlan reports a plan that isn't shown whole: its digest is of what is masked.
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

// openInputs are the planning inputs of a compiled plan that feed nothing sensitive,
// by the bindings that it was compiled with. A plan that was written by hand has none
// that is known to: nothing says where its inputs went.
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
