package mcp

import (
	"context"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// starter starts runs of one capability.
func (v *toolRequest) starter(tool string, c *countersign.Capability) func([]byte) (runState, error) {
	return func(data []byte) (runState, error) {
		inputs, said, err := v.read(tool, c, data)
		if err != nil {
			return runState{}, err
		}
		usual := v.cfg.Rest
		if v.msg.tasks && v.msg.revision < revision2026 { // which is answered at once
			usual = 0
		}
		ctx, until, end := v.waiting(said.wait.or(usual))
		defer end()
		start := countersign.AgentRunStart{Mode: v.mode, Capability: c.Name, Inputs: inputs}
		started, err := v.control.CallAgent(ctx, v.actor, v.offer.Agent.ID, start, said.AgentWords, time.Until(until))
		if err != nil {
			return runState{}, err
		}
		run := &started.Run
		if goesOn(run) {
			// Started: from here on, no error may suggest that it wasn't.
			if rested, err := v.atRest(ctx, run.ID, until, goesOn); err == nil {
				run = rested
			}
			if isActive(run) {
				if settled, err := v.atRest(ctx, run.ID, time.Now().Add(settles), isActive); err == nil {
					run = settled
				}
			}
		}
		state, err := v.state(run, started.Effects)
		if state.Replayed = started.Replayed; state.Replayed {
			state.Message = repeatedWords(state.Outcome, state.Message)
		}
		if err == nil {
			err = v.asItIsTaken(state, run)
		}
		return state, err
	}
}

// asItIsTaken says what is answered instead of the tool's answer, to a client that takes tasks or
// shows addresses.
func (v *toolRequest) asItIsTaken(state runState, run *countersign.Run) error {
	switch f := formOf(v.msg); {
	case v.msg.tasks && f != nil:
		t, err := v.asTask(state, run)
		if err != nil {
			return err
		}
		v.instead = f.created(t)
	case v.shows(state):
		v.shown = &state
	}
	return nil
}

// status reads a run of this agent.
func (v *toolRequest) status(data []byte) (runState, error) {
	var in struct {
		RunID       string            `json:"runId"`
		WaitSeconds countersign.Value `json:"waitSeconds,omitzero"`
	}
	if err := exactjson.Decode(data, &in); err != nil {
		return runState{}, err
	}
	if !countersign.ValidID(in.RunID) {
		return runState{}, countersign.Invalid("runId", "send the runId that a call answered")
	}
	wait, goes := v.cfg.Rest, isActive // who doesn't say how long is told at once that a person has to act
	if !in.WaitSeconds.IsZero() && !in.WaitSeconds.IsNull() {
		p, err := patienceOf(in.WaitSeconds)
		if err != nil {
			return runState{}, err
		}
		wait, goes = time.Duration(p), goesOn
	}
	ctx, until, end := v.waiting(wait)
	defer end()
	run, err := v.atRest(ctx, in.RunID, until, goes)
	if err != nil {
		return runState{}, err
	}
	return v.state(run, "")
}

// settles is how long who doesn't wait waits for the gate: whether a person is asked is known then.
const settles = 200 * time.Millisecond

// goesOn reports a run that may come to an end while somebody waits, by itself or by a person's
// approval. Where nobody knows what became of it, waiting is of no use.
func goesOn(r *countersign.Run) bool {
	return !r.Status.IsTerminal() && r.Status != countersign.RunRecoveryRequired
}

// isActive reports a run that goes on by itself at once.
func isActive(r *countersign.Run) bool { return r.Status.IsActive() && r.WaitingFor == nil }

// waiting bounds how long the message waits. One more than may wait answers at once; all do when
// the service stops.
func (v *toolRequest) waiting(wait time.Duration) (ctx context.Context, until time.Time, end func()) {
	ctx, stop := context.WithCancel(v.ctx)
	detach := context.AfterFunc(v.life, stop)
	if wait <= 0 || !v.waits.begin(v.actor) {
		return ctx, time.Now(), func() { detach(); stop() }
	}
	return ctx, time.Now().Add(wait), func() { detach(); stop(); v.waits.end(v.actor) }
}

// atRest is a run of this agent once it doesn't go on, or after a while as it is then: most runs
// end by then, which saves the model a call.
func (v *toolRequest) atRest(ctx context.Context, runID string, until time.Time, goes func(*countersign.Run) bool) (*countersign.Run, error) {
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
	return v.follow(ctx, w, until, goes)
}

// follow waits while the run goes on. What it has changed to is masked as all that is read, and
// seen only by who may still see it.
func (v *toolRequest) follow(ctx context.Context, w control.Watched, until time.Time, goes func(*countersign.Run) bool) (*countersign.Run, error) {
	run, changed := &w.Now, false
	enough := time.NewTimer(time.Until(until))
	defer enough.Stop()
	for over := false; goes(run) && !over; {
		select {
		case run = <-w.Changes.C:
			changed = true
		case <-enough.C:
			over = true
		case <-ctx.Done():
			over = true
		}
	}
	if !changed {
		return run, nil
	}
	seen, err := v.control.Masked(context.WithoutCancel(v.ctx), v.actor, run)
	return &seen, err
}
