package run

import (
	"fmt"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
)

// returned takes in what became of a call. Only the answer to the attempt that
// is open decides; any other that nobody has taken in is kept as evidence.
func (t *transition) returned(e Returned) {
	s := &t.run.Steps[e.Step]
	t.env.Stopping = t.env.Stopping || e.RecordOnly
	switch {
	case t.run.Status == countersign.RunRunning && s.Status == countersign.StepRunning && s.Attempt == e.Attempt:
		t.applyOutcome(e)
	case isLate(s, e):
		t.late(e)
	}
}

// isLate reports what became of a call after nobody waited for it any more: whatever
// it is for a side effect, which a person has to judge or has judged already; an
// answer for a read that was cancelled, since not getting one is what a cancel asks
// for.
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

// late keeps such an answer, whatever state the run is in by now: a record must not
// deny what this process saw. It is evidence and decides nothing; but with it the
// call of that attempt has ended, and a resolution need not wait for it.
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
	s.Response = e.Outcome.Response
	switch classify(e.Outcome, s.Attempt) {
	case answered:
		t.verify(e.Step, e.Outcome)
	case refused:
		t.failStep(e.Step, countersign.CodeReceiverRefused, fmt.Sprintf("the receiver refused the request with %d", e.Outcome.Response.StatusCode))
	case notSent:
		t.failStep(e.Step, countersign.CodeNotSent, e.Outcome.Cause)
	case uncertain:
		t.outcomeUnknown(e.Step, uncertainCause(e.Outcome))
	}
}

// outcomeUnknown stops at a side effect; a read changed nothing and simply failed.
func (t *transition) outcomeUnknown(i int, cause string) {
	if t.run.Steps[i].SideEffect {
		t.suspendStep(i, cause)
		return
	}
	t.failStep(i, countersign.CodeOutcomeUnknown, cause)
}

// verify selects the output of a 2xx answer, judges it, and goes on.
func (t *transition) verify(i int, o request.Outcome) {
	field := t.outputField(i)
	out, ok := plan.Select(o.Body, field)
	if !ok {
		t.failAnswered(i, countersign.CodeOutputMissing, "the answer has no field "+field)
		return
	}
	v := Verify(t.planned(i).Expectation, out, o.Response.StatusCode)
	s := t.step(i)
	s.Output, s.Verification = out.Value, &v
	if v.Status == countersign.VerificationFailed {
		t.failAnswered(i, countersign.CodeExpectationNotMet, unmet(t.planned(i).Expectation, v))
		return
	}
	t.noteStep("step.complete", i, countersign.StepCompleted, v.Status)
	t.completeStep(i, out.Value, v)
	t.advance()
}

// failAnswered fails a step that was answered 2xx, and not as expected: a side effect
// may have happened all the same, and its record says so.
func (t *transition) failAnswered(i int, code countersign.Code, msg string) {
	if s := t.step(i); s.SideEffect {
		s.MayHaveHappened, t.run.MayHaveHappened = true, true
	}
	t.failStep(i, code, msg)
}

// outcomeClass is what an outcome means before the step's kind is asked.
type outcomeClass int

const (
	answered outcomeClass = iota
	refused
	notSent
	uncertain
)

// classify classifies an outcome (contract 6). A 4xx other than 408 is a refusal;
// but a 409 from the second attempt on is uncertain: the first may have done it.
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
	case status == 408, status == 409 && attempt > 1:
		return uncertain
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
