package mcp

import (
	"cmp"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// arguments are those of a capability's tool.
type arguments struct {
	Input          map[string]countersign.Value `json:"input,omitzero" nullable:"false"`
	Mode           string                       `json:"mode,omitempty" enum:"DRY_RUN,LIVE"`
	Expectation    *countersign.Expectation     `json:"expectation,omitempty"`
	IdempotencyKey string                       `json:"idempotencyKey,omitempty"`
}

// starter starts runs of one capability, with the agent's current revision: without
// sessions, the revision that the client saw is unknown.
func (v *toolRequest) starter(capability string) func([]byte) (runState, error) {
	return func(data []byte) (runState, error) {
		var in arguments
		if err := exactjson.Decode(data, &in); err != nil {
			return runState{}, err
		}
		key, err := v.key(in)
		if err != nil {
			return runState{}, err
		}
		start := countersign.AgentRunStart{Mode: in.Mode, Capability: capability, Inputs: in.Input, Expectation: in.Expectation}
		started, err := v.control.StartCurrentAgentRun(v.ctx, v.actor, v.offer.Agent.ID, start, key)
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
		state.Replayed = started.Replayed
		return state, err
	}
}

// key is the idempotency key of a start. A LIVE start must name its own: clients retry
// calls, and a generated key would start a second run for the same work. A repeated
// rehearsal is harmless.
func (v *toolRequest) key(in arguments) (string, error) {
	switch {
	case in.IdempotencyKey == "" && in.Mode == countersign.ModeLive:
		return "", countersign.Errorf(countersign.CodeIdempotencyKeyRequired, "idempotencyKey: a LIVE call names its piece of work, such as refund-of-A-48213; repeating it finds the same run")
	case in.IdempotencyKey != "" && !countersign.ValidIdempotencyKey(in.IdempotencyKey):
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "idempotencyKey: it is 1 to %d visible ASCII characters", countersign.MaxKeyLength)
	}
	return cmp.Or(in.IdempotencyKey, v.cfg.NewID("mcp")), nil
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
		return runState{}, countersign.Errorf(countersign.CodeInvalidRequest, "runId: send the runId that a call answered")
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
