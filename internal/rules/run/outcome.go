package run

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
)

// returned applies the outcome of a call. Only the answer to the current attempt
// decides; any other, if not recorded yet, is kept as evidence.
func (t *transition) returned(e Returned) {
	s := &t.run.Steps[e.Step]
	t.env.Stopping = t.env.Stopping || e.RecordOnly
	switch {
	case !e.Evidence && t.run.Status == countersign.RunRunning && s.Status == countersign.StepRunning && s.Attempt == e.Attempt:
		t.applyOutcome(e)
	case isLate(s, e):
		t.late(e)
	}
}

// isLate reports whether an outcome came after the run had stopped waiting for it and is
// worth keeping: for the current attempt of a side effect, any outcome once the step is in
// recovery or reconciled; for an earlier attempt, an answer; for a read, an answer that came
// after its step was cancelled. What is no newer than the late answer on record is ignored.
func isLate(s *countersign.StepRun, e Returned) bool {
	switch {
	case e.Attempt < 1 || e.Attempt > s.Attempt || s.Late != nil && s.Late.Attempt >= e.Attempt:
		return false
	case e.Attempt < s.Attempt || !s.SideEffect:
		return e.Outcome.Response != nil && (s.SideEffect || s.Status == countersign.StepCancelled)
	default:
		return s.Status == countersign.StepRecoveryRequired || s.Reconciliation != nil
	}
}

// late records a late answer, whatever status the run has: a record must not
// contradict what this process saw. It is evidence and decides nothing, but it ends
// the call of its attempt, so a resolution need not wait any longer.
func (t *transition) late(e Returned) {
	s := t.step(e.Step)
	s.Late = &countersign.LateAnswer{At: t.env.Now, Attempt: e.Attempt, Response: e.Outcome.Response, Output: e.Outcome.Body, Error: e.Outcome.Cause}
	t.noteStep("steps.late", e.Step, s.Status, e.Outcome.Cause)
	if e.Attempt == s.Attempt {
		t.callEnded()
	}
}

func (t *transition) applyOutcome(e Returned) {
	s := t.step(e.Step)
	s.Response, s.AnsweredBy = e.Outcome.Response, e.Outcome.AnsweredBy
	switch classify(e.Outcome, s.Attempt) {
	case answered:
		t.verify(e.Step, e.Outcome)
	case withdrawn:
		t.withdrawn(e.Step)
	case refused:
		t.failStep(e.Step, countersign.CodeReceiverRefused, fmt.Sprintf("the receiver refused the request with %d", e.Outcome.Response.StatusCode))
	case notSent:
		t.failStep(e.Step, countersign.CodeNotSent, e.Outcome.Cause)
	case uncertain:
		t.outcomeUnknown(e.Step, uncertainCode(e.Outcome), uncertainCause(e.Outcome))
	}
}

// outcomeUnknown suspends a side effect; a read changed nothing and just fails.
func (t *transition) outcomeUnknown(i int, code countersign.Code, cause string) {
	if t.run.Steps[i].SideEffect {
		t.suspendStep(i, cause)
		t.step(i).Error.Code = code
		return
	}
	t.failStep(i, code, cause)
}

// uncertainCode is why nobody knows: an answer that the receiver didn't sign is no answer.
func uncertainCode(o request.Outcome) countersign.Code {
	if o.Unsigned {
		return countersign.CodeAnswerUnsigned
	}
	return countersign.CodeOutcomeUnknown
}

// verify selects the output of a 2xx answer, verifies it and continues the run.
func (t *transition) verify(i int, o request.Outcome) {
	field := t.outputField(i)
	out, ok := plan.Select(o.Body, field)
	if !ok {
		t.failAnswered(i, countersign.CodeOutputMissing, "the answer has no field "+field)
		return
	}
	v, why := Judge(t.expectations(i), out, o.Response.StatusCode)
	s := t.step(i)
	s.Output, s.Verification = out.Value, &v
	if v.Status == countersign.VerificationFailed {
		t.failAnswered(i, countersign.CodeExpectationNotMet, why)
		return
	}
	t.noteStep("step.complete", i, countersign.StepCompleted, v.Status)
	t.completeStep(i, out.Value, v)
	t.advance()
}

// failAnswered fails a step with a 2xx answer that was not as expected. A side effect
// may have happened all the same, and its record says so.
func (t *transition) failAnswered(i int, code countersign.Code, msg string) {
	if s := t.step(i); s.SideEffect {
		t.mayHaveHappened(s)
	}
	t.failStep(i, code, msg)
}

// mayHaveHappened marks a side effect that no status denies.
func (t *transition) mayHaveHappened(s *countersign.StepRun) {
	s.MayHaveHappened, t.run.MayHaveHappened = true, true
}

// happened takes the mark back from a step of which it is known that it took effect.
func (t *transition) happened(s *countersign.StepRun) {
	s.MayHaveHappened = false
	t.run.MayHaveHappened = slices.ContainsFunc(t.run.Steps, func(s countersign.StepRun) bool { return s.MayHaveHappened })
}

// outcomeClass is the meaning of an outcome, for reads and side effects alike.
type outcomeClass int

const (
	answered outcomeClass = iota
	refused
	withdrawn // refused, for the key was withdrawn before; signed
	notSent
	uncertain
)

// classify classifies an outcome (contract 6, 12.1). A 4xx other than 408 is a refusal; but
// a 409 from the second attempt on is uncertain, because the first attempt may have
// succeeded. So is one that speaks of another request with this key, at any attempt: a
// proxy may have sent the first attempt twice.
func classify(o request.Outcome, attempt int) outcomeClass {
	switch {
	case o.Certainty == request.NotSent:
		return notSent
	case o.Certainty == request.Unknown || o.Response == nil:
		return uncertain
	}
	switch status := o.Response.StatusCode; {
	case status >= 200 && status < 300:
		return answered
	case status == 408, status == 409 && (attempt > 1 || o.OfAnother || request.SpeaksOfAnother(o.Response.Body)):
		return uncertain
	case status == 410 && o.AnsweredBy != nil && request.SaysError(o.Response.Body, "key_withdrawn"):
		return withdrawn
	case status >= 400 && status < 500:
		return refused
	default:
		return uncertain
	}
}

func uncertainCause(o request.Outcome) string {
	switch {
	case o.Cause != "":
		return o.Cause
	case o.Response != nil:
		return "the receiver answered " + strconv.Itoa(o.Response.StatusCode) + ", which does not say what happened"
	default:
		return "no usable answer came"
	}
}
