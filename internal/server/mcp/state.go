package mcp

import (
	"fmt"
	"time"

	"github.com/countersign/countersign"
)

// runState is a run as tools return it: what a model needs to continue, with the field
// names of `GET /runs/{id}`.
type runState struct {
	Outcome        string                  `json:"outcome"`
	URL            string                  `json:"url,omitempty"` // where a person acts
	RunID          string                  `json:"runId"`
	ID             string                  `json:"id"` // the same, as the API names it
	AgentID        string                  `json:"agentId"`
	PlanID         string                  `json:"planId"`
	Status         countersign.RunStatus   `json:"status"`
	Mode           string                  `json:"mode"`
	WaitingFor     *countersign.WaitingFor `json:"waitingFor,omitempty"`
	Error          string                  `json:"error,omitempty"`
	Note           string                  `json:"note,omitempty"` // a warning that belongs to the error
	IdempotencyKey string                  `json:"idempotencyKey"`
	Replayed       bool                    `json:"replayed,omitempty"` // an earlier call made the run
	Steps          []stepState             `json:"steps"`

	UnverifiedSteps int  `json:"unverifiedSteps,omitempty"`
	MayHaveHappened bool `json:"mayHaveHappened,omitempty"`

	RestoredAt time.Time `json:"restoredAt,omitzero"`

	SuggestedInput countersign.Value `json:"suggestedInput,omitzero"` // what a reviewer who rejected it would approve
}

type stepState struct {
	ID           string                 `json:"id"`
	Capability   string                 `json:"capability"`
	Status       countersign.StepStatus `json:"status"`
	Request      countersign.Value      `json:"request,omitzero"`
	Output       countersign.Value      `json:"output,omitzero"`
	Verification countersign.Value      `json:"verification,omitzero"`
	Error        *countersign.StepError `json:"error,omitempty"`

	WouldBe         string `json:"wouldBe,omitempty"` // of a rehearsed step: ALLOW, ASK or DENIED
	MayHaveHappened bool   `json:"mayHaveHappened,omitempty"`
}

func (v *toolRequest) stateOf(r *countersign.Run) (runState, error) {
	out := runState{
		Outcome: outcomeOf(r), URL: v.address(r), RunID: r.ID, ID: r.ID, AgentID: r.AgentID, PlanID: r.PlanID, Status: r.Status, Mode: r.Mode, WaitingFor: r.WaitingFor, Error: r.Error, IdempotencyKey: r.IdempotencyKey,
		Steps: make([]stepState, len(r.Steps)), UnverifiedSteps: r.UnverifiedSteps, MayHaveHappened: r.MayHaveHappened, Note: r.HappenedWords(), RestoredAt: r.RestoredAt,
	}
	if !r.Status.IsTerminal() && out.Note == "" {
		out.Note = countersign.RestoredWords(r.RestoredAt)
	}
	for i := range r.Steps {
		var err error
		if out.Steps[i], err = stepOf(&r.Steps[i]); err != nil {
			return runState{}, err
		}
	}
	return out, nil
}

func stepOf(s *countersign.StepRun) (out stepState, err error) {
	out = stepState{ID: s.ID, Capability: s.Capability, Status: s.Status, Output: bounded(s.Output), Error: s.Error, WouldBe: s.WouldBe, MayHaveHappened: s.MayHaveHappened}
	if s.Request != nil {
		if out.Request, err = countersign.ValueOf(s.Request); err != nil {
			return out, err
		}
	}
	if s.Verification != nil {
		out.Verification, err = countersign.ValueOf(s.Verification)
	}
	out.Request, out.Verification = bounded(out.Request), bounded(out.Verification)
	return out, err
}

// bounded omits a value that is larger than lists show (contract 1), to spare the
// model's context. Reading the run returns it.
func bounded(v countersign.Value) countersign.Value {
	text := v.Raw()
	if len(text) <= countersign.MaxListedValue {
		return v
	}
	return countersign.RawValue(fmt.Sprintf(`{"$omitted":{"bytes":%d,"sha256":%q}}`, len(text), countersign.SHA256Hex([]byte(text))))
}
