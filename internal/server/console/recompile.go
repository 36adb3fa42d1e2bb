package console

import (
	"maps"

	"github.com/countersign/countersign"
)

// memory is an earlier plan of the same model: its steps by action, and what it was
// planned with.
type memory struct {
	steps  map[string]countersign.Step
	inputs map[string]countersign.Value
}

// variable is the one that had a value when the plan was made, "" for none or
// several: a plan keeps values and not where they came from.
func (m memory) variable(value countersign.Value) string {
	found := ""
	for id, had := range m.inputs {
		if !had.Equal(value) || had.IsNull() {
			continue
		}
		if found != "" {
			return ""
		}
		found = id
	}
	return found
}

// remind reads an earlier plan.
func (v *pageRequest) remind(d *compileData, planID string) error {
	if planID == "" {
		return nil
	}
	p, err := v.control.Plan(v.r.Context(), v.actor, planID)
	if err != nil || p.ModelID != d.ID {
		return err
	}
	d.From, d.earlier = p.ID, memory{map[string]countersign.Step{}, map[string]countersign.Value{}}
	for _, s := range p.Steps {
		if _, seen := d.earlier.steps[s.ActionID]; !seen {
			d.earlier.steps[s.ActionID] = s
		}
	}
	for _, s := range d.Document.Scenarios {
		if s.ID == p.ScenarioID {
			for id, value := range s.Inputs {
				d.earlier.inputs[id] = value.Value
			}
		}
	}
	maps.Copy(d.earlier.inputs, p.PlanningInputs)
	return nil
}
