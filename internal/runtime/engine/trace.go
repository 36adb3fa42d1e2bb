package engine

import (
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
)

// Trace makes the engine trace the steps that it executes. It is called before Start.
func (e *Engine) Trace(t *telemetry.Traces) { e.traces = t }

// startSpan begins the span of a step whose intent was just committed.
func (e *Engine) startSpan(d *execution, m runrepo.Moved) {
	d.step = m.Call.StepID
	if e.traces == nil {
		return
	}
	s := &m.Run.Run().Steps[m.Call.Step]
	d.span = e.traces.Step(m.Run.Trace(), telemetry.StepOf{
		Tenant: m.Run.Ref.Tenant, RunID: m.Run.Ref.RunID, StepID: s.ID, ProjectID: s.ProjectID, Capability: s.Capability, Attempt: m.Call.Attempt,
	})
}

// endSpan ends the span of a step whose outcome was just committed.
func (e *execution) endSpan(event run.Event, m runrepo.Moved) {
	r, is := event.(run.Returned)
	if e.span == nil || !is {
		return
	}
	s := &m.Run.Run().Steps[r.Step]
	code := ""
	if s.Error != nil {
		code = string(s.Error.Code)
	}
	e.span.Became(string(s.Status), code)
	e.span.End()
	e.span = nil
}

// executionFailed logs why an execution ended before its run waits or has ended. Of an answer
// that can't be stored, as by a process that others consider dead, the log has what tells it
// from another: it is all that is left of it.
func (e *Engine) executionFailed(d *execution, ref runrepo.Ref, event run.Event, err error) {
	more := []any{"tenant", ref.Tenant, "run", ref.RunID, "step", d.step, "error", err}
	if answer, is := event.(run.Returned); is {
		more = append(more, "attempt", answer.Attempt, "cause", answer.Outcome.Cause)
		if r := answer.Outcome.Response; r != nil {
			more = append(more, "status", r.StatusCode, "bodySha256", string(r.BodySHA256))
		}
	}
	e.log.ErrorContext(d.span.In(d.ctx), "run not continued", more...)
}
