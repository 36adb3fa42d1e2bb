package mcp

import (
	"github.com/countersign/countersign"
)

// state is a run as tools return it, with what a reviewer who rejected it suggests. effects are
// what its side effects came to, "" for what its steps say.
func (v *toolRequest) state(r *countersign.Run, effects countersign.Effects) (runState, error) {
	out, err := v.stateOf(r)
	if effects != "" { // what is left of an archived run says it, and no step
		out.Outcome = outcomeBy(r, effects)
	}
	if err == nil && r.Status == countersign.RunFailed && len(r.Steps) > 0 {
		err = v.suggest(r, &out)
	}
	out.Message = messageOf(out.Outcome, r, !out.SuggestedInput.IsZero())
	return out, err
}

func (v *toolRequest) suggest(r *countersign.Run, out *runState) error {
	suggested, err := v.control.SuggestedInput(v.ctx, v.actor, r.ID)
	if err != nil || suggested == nil {
		return err
	}
	capability := r.Steps[len(r.Steps)-1].Capability
	fixed, names := v.offer.Agent.ExecutorInputs[capability], propertiesOf(v.capability(capability))
	shown := make(map[string]countersign.Value, len(suggested))
	for name, value := range suggested { // a call that gives a fixed input is refused
		if _, is := fixed[name]; !is {
			shown[names.property(name)] = value
		}
	}
	out.SuggestedInput = bounded(countersign.ObjectValue(shown))
	return nil
}
