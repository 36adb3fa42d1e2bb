package run

import (
	"maps"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/repeat"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/verdict"
)

// resumed continues a run: from READY, after a slot was granted, after a restart. It
// is idempotent: a run that waits, or whose step is being sent, does not change.
func (t *transition) resumed() {
	if !HoldsSlot(t.run) || t.inFlight() >= 0 || t.lookUnderWay() || t.env.Stopping {
		return
	}
	if t.run.Status == countersign.RunReady && !t.stopped() {
		t.becomeRunning()
	}
	t.advance()
}

// advance starts the next step, or completes the run if none is left. While the
// service stops it starts no step but still completes runs.
func (t *transition) advance() {
	if t.run.Mode != countersign.ModeLive { // nothing else is ever sent
		t.rehearse()
		return
	}
	switch i := t.nextStep(); {
	case i < 0:
		t.becomeCompleted()
	case t.env.Stopping:
	case t.stopped():
		t.hold(i)
	case t.mayBegin(i) && t.prepare(i):
		t.approveOrSend(i)
	}
}

// stopped reports a stop that keeps the run's steps from beginning.
func (t *transition) stopped() bool { return t.env.Stopped && t.run.Mode == countersign.ModeLive }

// mayBegin fails the run and returns false if anything that the plan was made from has
// changed.
func (t *transition) mayBegin(i int) bool {
	r := t.refusal()
	if r != nil {
		t.failStep(i, r.Code, r.Message)
	}
	return r == nil
}

// refusal is why no step may begin, nil if one may.
func (t *transition) refusal() *countersign.Error {
	return plan.Refusal(t.env.Plan, t.run.Mode, t.env.Current)
}

// prepare takes the step's inputs and its request; false if that failed the run.
func (t *transition) prepare(i int) bool {
	j := t.judged(i)
	if j == nil {
		return false
	}
	t.judgement = j
	s := t.step(i)
	if j.input != nil {
		s.Input = j.input
	}
	if j.failure != "" {
		t.failStep(i, countersign.CodeNotSent, j.failure)
		return false
	}
	_, capability := t.target(i)
	req := *j.request
	s.Request, s.RequestDigest = &req, countersign.StepDigest(j.digest)
	s.SideEffect = capability.HasSideEffect()
	t.verdict, t.title = j.verdict, j.title
	if t.alike = (repeat.Alike{}); t.env.Alike != nil && len(j.calls) > 0 {
		t.alike = t.env.Alike(j.calls)
	}
	return t.allowed(i)
}

// allowed takes what the rules say together with the budgets, and fails a step that one of
// them denies. Its record keeps the request that was not sent.
func (t *transition) allowed(i int) bool {
	s := t.step(i)
	rules := verdict.Verdict{Then: t.verdict.Then, Code: countersign.CodeDeniedByRule, Reasons: t.verdict.Reasons}
	t.run.OpenAlike = repeat.Named(t.run.OpenAlike, t.alike.Open)
	all := verdict.Severest(append([]verdict.Verdict{rules, t.open()}, t.budgets(s)...)...)
	t.verdict.Then, t.verdict.Reasons = all.Then, all.Reasons
	if s.ApprovalRequired = t.verdict.Asks(); s.ApprovalRequired {
		t.verdict.Approvals = max(1, t.verdict.Approvals) // a budget asks for one
	}
	if all.Then != verdict.Deny {
		return true
	}
	reason := strings.Join(all.Reasons, "; ")
	t.noteStep("step.deny", i, countersign.StepFailed, reason)
	t.failStep(i, all.Code, reason)
	return false
}

// open asks a person about a call over MCP while another one like it is open, whatever the policy
// says. Starts by other doors are decided by people or their programs, and only told.
func (t *transition) open() verdict.Verdict {
	if !repeat.IsCall(t.run.IdempotencyKey) {
		return verdict.Verdict{Then: verdict.Allow}
	}
	return t.alike.Verdict()
}

// budgets are what the budgets that concern a step say of it.
func (t *transition) budgets(s *countersign.StepRun) []verdict.Verdict {
	if t.env.Budgets == nil || t.run.Mode != countersign.ModeLive {
		return nil
	}
	return budget.Judge(t.env.Budgets(s), s.Input)
}

// approveOrSend sends the step if it needs no approval or has an unexpired one for
// exactly this request; else it requests an approval.
func (t *transition) approveOrSend(i int) {
	if t.judgement.look != nil {
		t.lookOrGoOn(i)
		return
	}
	s := t.step(i)
	if !s.ApprovalRequired || t.approved(s) {
		t.send(i)
		return
	}
	t.ask(i)
}

func (t *transition) approved(s *countersign.StepRun) bool {
	a := t.env.Approval
	return s.ApprovalID != "" && a != nil && a.ID == s.ApprovalID && a.Status == countersign.ApprovalApproved && !a.Superseded && !t.env.Unbacked &&
		t.env.Now.Before(a.ExpiresAt) && a.RequestDigest == s.RequestDigest.Text()
}

// ask requests an approval of exactly the request that would be sent.
func (t *transition) ask(i int) {
	s := t.step(i)
	a := &countersign.Approval{
		ID: t.env.NewApprovalID(), RunID: t.run.ID, StepID: s.ID, Status: countersign.ApprovalPending,
		PlanID: t.run.PlanID, ProjectID: s.ProjectID, Capability: s.Capability, Attempt: s.Attempt + 1,
		ApprovalsNeeded: int64(t.verdict.Approvals), Groups: t.verdict.Groups, Reasons: t.verdict.Reasons, Escalations: t.escalations(),
		Title: t.title, Expectation: t.expected(i), Sources: t.sources(i),
		AgentWords:    t.run.AgentWords,
		RunReason:     t.run.Reason,
		InputSnapshot: maps.Clone(s.Input), Request: *s.Request, RequestDigest: s.RequestDigest.Text(),
		RequestedBy: t.run.RequestedBy, RequestedAt: t.env.Now, ExpiresAt: t.env.Now.Add(t.env.ApprovalTTL), RestoredAt: t.run.RestoredAt,
	}
	a.OpenAlike = t.alike.Open
	if repeat.IsCall(t.run.IdempotencyKey) {
		a.AskedAgainAfter = t.alike.AskedAgainAfter()
	}
	t.res.Ask = a
	t.askedNote = len(t.res.Notes)
	t.noteStep("approval.request", i, countersign.StepWaitingApproval, "")
	s.Status, s.ApprovalID = countersign.StepWaitingApproval, a.ID
	t.becomeWaitingForApproval(i, a)
}

// escalations say from when others may decide in place of the groups.
func (t *transition) escalations() (out []countersign.Escalation) {
	for _, e := range t.verdict.Escalations {
		out = append(out, countersign.Escalation{At: t.env.Now.Add(e.After), Groups: e.Groups, For: e.For})
	}
	return out
}

// send records the intent: the call may be made only when the store has this step as
// RUNNING. An approval permits one sending, this one.
func (t *transition) send(i int) {
	s := t.step(i)
	project, capability := t.target(i)
	keys := t.answerKeys(project.ID)
	t.noteStep("step.send", i, countersign.StepRunning, "")
	t.res.Notes[len(t.res.Notes)-1].AnswerKeys = keys
	t.res.Notes[len(t.res.Notes)-1].StateDigest = s.StateDigest
	s.AskedAgain = 0
	s.Status, s.StartedAt = countersign.StepRunning, t.env.Now
	s.Attempt++
	s.Error, s.Response, s.Verification, s.AnsweredBy = nil, nil, nil, nil
	t.res.Call = &Call{Step: i, Attempt: s.Attempt, SideEffect: s.SideEffect, Call: request.Call{
		RunID: t.run.ID, StepID: s.ID, IdempotencyKey: s.IdempotencyKey, Project: project,
		Request: *s.Request, Input: s.Input, Timeout: capability.Timeout(),
		OnceOnly: s.SideEffect && !capability.Idempotent, AnswerKeys: keys,
	}, AnswerBy: answerBy(s.StartedAt, capability)}
}

// rehearse simulates all steps at once without opening a connection. Nothing is sent,
// so nothing must be saved first (contract 6).
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
	j := t.judged(i)
	switch {
	case j == nil:
		return false
	case j.failure != "":
		t.failStep(i, countersign.CodeNotSent, j.failure)
		return false
	}
	req := *j.request
	s.Request = &req
	if j.complete {
		s.RequestDigest = countersign.StepDigest(j.digest)
	}
	s.WouldCheck = j.look.wouldCheck()
	s.WouldBe, s.ApprovalRequired = j.verdict.WouldBe(), j.verdict.Asks()
	s.Input, s.Output = plan.Unresolved(planned), countersign.Null
	s.Verification = simulatedVerification(t.expectations(i))
	t.noteStep("step.simulate", i, countersign.StepSimulated, "")
	s.Status, s.StartedAt, s.CompletedAt = countersign.StepSimulated, t.env.Now, t.env.Now
	return true
}
