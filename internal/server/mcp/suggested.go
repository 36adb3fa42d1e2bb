package mcp

import (
	"maps"

	"github.com/countersign/countersign"
)

// state is a run as tools return it, with what a reviewer who rejected it suggests.
func (v *toolRequest) state(r *countersign.Run) (runState, error) {
	out, err := v.stateOf(r)
	if err != nil || r.Status != countersign.RunFailed || len(r.Steps) == 0 {
		return out, err
	}
	suggested, err := v.control.SuggestedInput(v.ctx, v.actor, r.ID)
	if err != nil || suggested == nil {
		return out, err
	}
	fixed := v.offer.Agent.ExecutorInputs[r.Steps[len(r.Steps)-1].Capability]
	suggested = maps.Clone(suggested)
	maps.DeleteFunc(suggested, func(name string, _ countersign.Value) bool { // a call that gives a fixed input is refused
		_, is := fixed[name]
		return is
	})
	out.SuggestedInput = bounded(countersign.ObjectValue(suggested))
	return out, nil
}
