package mcp

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// starter starts runs of one capability.
func (v *toolRequest) starter(tool string, c *countersign.Capability) func([]byte) (runState, error) {
	return func(data []byte) (runState, error) {
		inputs, said, err := v.read(tool, c, data)
		if err != nil {
			return runState{}, err
		}
		start := countersign.AgentRunStart{Mode: v.mode, Capability: c.Name, Inputs: inputs}
		started, err := v.control.CallAgent(v.ctx, v.actor, v.offer.Agent.ID, start, said)
		if err != nil {
			return runState{}, err
		}
		run := &started.Run
		if run.Status.IsActive() {
			// Started: from here on, no error may suggest that it wasn't.
			if rested, err := v.atRest(run.ID); err == nil {
				run = rested
			}
		}
		state, err := v.state(run)
		if started.Effects != "" { // what is left of an archived run says it, and no step
			state.Outcome = outcomeBy(run, started.Effects)
		}
		state.Replayed = started.Replayed
		return state, err
	}
}

// status reads a run of this agent.
func (v *toolRequest) status(data []byte) (runState, error) {
	var in struct {
		RunID string `json:"runId"`
	}
	if err := exactjson.Decode(data, &in); err != nil {
		return runState{}, err
	}
	if !countersign.ValidID(in.RunID) {
		return runState{}, countersign.Invalid("runId", "send the runId that a call answered")
	}
	run, err := v.atRest(in.RunID)
	if err != nil {
		return runState{}, err
	}
	return v.state(run)
}

// atRest is a run of this agent once it has ended or needs a person, or after a short
// wait as it is then: most runs end by then, which saves the model a call.
func (v *toolRequest) atRest(runID string) (*countersign.Run, error) {
	w, err := v.control.Watch(v.ctx, v.actor, runID)
	if countersign.ErrorCode(err) == countersign.CodeRoleRequired {
		return nil, countersign.Errorf(countersign.CodeNotFound, "there is no run %s", runID) // an agent token must not learn whether the run exists
	}
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if w.Now.AgentID != v.offer.Agent.ID {
		return nil, countersign.Errorf(countersign.CodeNotFound, "agent %s has no run %s", v.offer.Agent.ID, runID)
	}
	run := &w.Now
	enough := time.NewTimer(v.cfg.Rest)
	defer enough.Stop()
	for run.Status.IsActive() && run.WaitingFor == nil {
		select {
		case run = <-w.Changes.C:
		case <-enough.C:
			return run, nil
		case <-v.ctx.Done():
			return run, nil
		}
	}
	return run, nil
}
