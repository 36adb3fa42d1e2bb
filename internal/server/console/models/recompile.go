package models

import (
	"maps"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
)

// earlierPlan is another plan of the same model: its steps by action, and the inputs
// that it was planned with.
type earlierPlan struct {
	steps  map[string]countersign.Step
	inputs map[string]countersign.Value
}

// variable is the input that had this value when the plan was made, "" if none or
// several had: a plan stores values, not their origin.
func (e earlierPlan) variable(value countersign.Value) string {
	found := ""
	for id, had := range e.inputs {
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

// loadEarlierPlan reads the plan that prefills the form.
func loadEarlierPlan(v *web.Request, d *compileData, planID string) error {
	if planID == "" {
		return nil
	}
	p, err := v.Control.Plan(v.R.Context(), v.Actor, planID)
	if err != nil || p.ModelID != d.ID {
		return err
	}
	d.From, d.earlier = p.ID, earlierPlan{map[string]countersign.Step{}, map[string]countersign.Value{}}
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
