package mcp

import (
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// runState is a run as tools return it: what a model needs to continue, with the field
// names of `GET /runs/{id}`.
type runState struct {
	Outcome        string                  `json:"outcome"`
	Message        string                  `json:"message"` // what it means, and what to do
	URL            *string                 `json:"url"`     // where a person acts; null where nobody needs to
	RunID          string                  `json:"runId"`
	StartedAt      time.Time               `json:"startedAt"`
	EndedAt        time.Time               `json:"endedAt,omitzero"`
	ID             string                  `json:"id"` // the same, as the API names it
	AgentID        string                  `json:"agentId"`
	PlanID         string                  `json:"planId"`
	Status         countersign.RunStatus   `json:"status"`
	Mode           string                  `json:"mode"`
	WaitingFor     *countersign.WaitingFor `json:"waitingFor,omitempty"`
	Error          string                  `json:"error,omitempty"`
	Note           string                  `json:"note,omitempty"` // a warning that belongs to the error
	IdempotencyKey string                  `json:"idempotencyKey"`
	Replayed       bool                    `json:"replayed"` // an earlier call made the run
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
	Response     *stepAnswer            `json:"response,omitempty"` // of a FAILED step

	WouldBe         string `json:"wouldBe,omitempty"` // of a rehearsed step: ALLOW, ASK or DENIED
	MayHaveHappened bool   `json:"mayHaveHappened,omitempty"`
}

func (v *toolRequest) stateOf(r *countersign.Run) (runState, error) {
	out := runState{
		Outcome: outcomeOf(r), URL: given(v.address(r)), RunID: r.ID, StartedAt: r.CreatedAt, EndedAt: r.CompletedAt, ID: r.ID, AgentID: r.AgentID, PlanID: r.PlanID, Status: r.Status, Mode: r.Mode, WaitingFor: r.WaitingFor, Error: r.Error, IdempotencyKey: r.IdempotencyKey,
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
	out = stepState{Response: answerOf(s), ID: s.ID, Capability: s.Capability, Status: s.Status, Output: bounded(s.Output), Error: s.Error, WouldBe: s.WouldBe, MayHaveHappened: s.MayHaveHappened}
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

// stepAnswer is what the API answered to a step that FAILED.
type stepAnswer struct {
	StatusCode int    `json:"statusCode"`
	Body       string `json:"body,omitempty"` // its beginning, quoted
}

func answerOf(s *countersign.StepRun) *stepAnswer {
	if s.Status != countersign.StepFailed || s.Response == nil {
		return nil
	}
	a := &stepAnswer{StatusCode: s.Response.StatusCode}
	if s.Response.Body != "" {
		a.Body = quoted + strconv.Quote(safetext.Text(s.Response.Body))
	}
	return a
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
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
