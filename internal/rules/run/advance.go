package run

import (
	"maps"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
)

// resumed drives a run on: from READY, after a slot was granted, after a restart.
// A run whose step is being sent, or that stands still, is left alone, so that
// being taken twice is harmless.
func (t *transition) resumed() {
	if !t.run.Status.IsActive() || t.inFlight() >= 0 || t.env.Stopping {
		return
	}
	if t.run.Status == countersign.RunReady {
		t.becomeRunning()
	}
	t.advance()
}

// advance begins the next step, or completes the run when none is left. A
// service that stops begins no step, but still ends a run that has none left.
func (t *transition) advance() {
	if t.run.Mode == countersign.ModeDryRun {
		t.rehearse()
		return
	}
	switch i := t.nextStep(); {
	case i < 0:
		t.becomeCompleted()
	case t.env.Stopping:
	case t.mayBegin(i) && t.prepare(i):
		t.approveOrSend(i)
	}
}

// mayBegin asks whether everything that the plan was made from is still as it
// was; false when it isn't, which failed the run.
func (t *transition) mayBegin(i int) bool {
	r := plan.Refusal(t.env.Plan, t.run.Mode, t.env.Standings)
	if r != nil {
		t.failStep(i, r.Code, r.Message)
	}
	return r == nil
}

// prepare resolves the step's inputs and makes the whole request; false when
// that failed the run, because nothing could be sent.
func (t *transition) prepare(i int) bool {
	s := t.step(i)
	input, err := plan.Bind(t.planned(i), t.verifiedOutputs())
	if err != nil {
		t.failStep(i, countersign.CodeNotSent, err.Error())
		return false
	}
	s.Input = input
	project, capability := t.target(i)
	if capability == nil {
		t.failStep(i, countersign.CodeNotSent, "the plan's project has no such capability")
		return false
	}
	req, err := request.Build(project, capability, input)
	if err != nil {
		t.failStep(i, countersign.CodeNotSent, err.Error())
		return false
	}
	digest := request.Digest(req, project.ID, project.Revision, capability.Name)
	s.Request, s.RequestDigest = &req, countersign.StepDigest(digest)
	s.SideEffect, s.ApprovalRequired = capability.HasSideEffect(), capability.NeedsApproval()
	return true
}

// approveOrSend lets the step out if nothing asks for approval, or if it has one that is
// unexpired and for exactly this request; else it asks.
func (t *transition) approveOrSend(i int) {
	s := t.step(i)
	if !s.ApprovalRequired || t.approved(s) {
		t.send(i)
		return
	}
	t.ask(i)
}

func (t *transition) approved(s *countersign.StepRun) bool {
	a := t.env.Approval
	return s.ApprovalID != "" && a != nil && a.ID == s.ApprovalID && a.Status == countersign.ApprovalApproved &&
		t.env.Now.Before(a.ExpiresAt) && a.RequestDigest == s.RequestDigest.Text()
}

// ask stops at the gate with a new approval of exactly what would be sent.
func (t *transition) ask(i int) {
	s := t.step(i)
	a := &countersign.Approval{
		ID: t.env.NewApprovalID, RunID: t.run.ID, StepID: s.ID, Status: countersign.ApprovalPending,
		PlanID: t.run.PlanID, ProjectID: s.ProjectID, Capability: s.Capability, Attempt: s.Attempt + 1,
		Title: t.titleOf(i), Expectation: t.expected(i), Sources: t.sources(i),
		InputSnapshot: maps.Clone(s.Input), Request: *s.Request, RequestDigest: s.RequestDigest.Text(),
		RequestedBy: t.run.RequestedBy, RequestedAt: t.env.Now, ExpiresAt: t.env.Now.Add(t.env.ApprovalTTL),
	}
	t.res.Ask = a
	t.noteStep("approval.request", i, countersign.StepWaitingApproval, "")
	s.Status, s.ApprovalID = countersign.StepWaitingApproval, a.ID
	t.becomeWaitingForApproval(i, a)
}

// send commits the intent: with this step RUNNING in the store, and not before,
// the call may be made. An approval lets one request out, this one.
func (t *transition) send(i int) {
	s := t.step(i)
	project, capability := t.target(i)
	t.noteStep("step.send", i, countersign.StepRunning, "")
	s.Status, s.StartedAt = countersign.StepRunning, t.env.Now
	s.Attempt++
	s.Error, s.Response, s.Verification = nil, nil, nil
	t.res.Call = &Call{Step: i, Attempt: s.Attempt, SideEffect: s.SideEffect, Call: request.Call{
		RunID: t.run.ID, StepID: s.ID, IdempotencyKey: s.IdempotencyKey, Project: project,
		Request: *s.Request, Input: s.Input, Timeout: capability.Timeout(),
	}, AnswerBy: answerBy(s.StartedAt, capability)}
}

// rehearse does everything but open a connection, for every step at once: a
// rehearsal sends nothing, so there is nothing to be saved before (contract 6).
func (t *transition) rehearse() {
	for i := t.nextStep(); i >= 0; i = t.nextStep() {
		if !t.mayBegin(i) || !t.simulate(i) {
			return
		}
	}
	t.becomeCompleted()
}

func (t *transition) simulate(i int) bool {
	s, planned := t.step(i), t.planned(i)
	project, capability := t.target(i)
	if capability == nil {
		t.failStep(i, countersign.CodeNotSent, "the plan's project has no such capability")
		return false
	}
	if project.BaseURL != "" && !t.env.OriginAllowed(project.BaseURL) {
		t.failStep(i, countersign.CodeNotSent, "origin "+project.BaseURL+" is not on the server's list")
		return false
	}
	req, complete, err := request.Preview(project, capability, planned.Input, planned.InputBindings)
	if err != nil {
		t.failStep(i, countersign.CodeNotSent, err.Error())
		return false
	}
	s.Request = &req
	if complete {
		s.RequestDigest = countersign.StepDigest(request.Digest(req, project.ID, project.Revision, capability.Name))
	}
	s.Input, s.Output = plan.Unresolved(planned), countersign.Null
	s.Verification = simulatedVerification(planned.Expectation)
	t.noteStep("step.simulate", i, countersign.StepSimulated, "")
	s.Status, s.StartedAt, s.CompletedAt = countersign.StepSimulated, t.env.Now, t.env.Now
	return true
}
