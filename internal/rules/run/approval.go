package run

import (
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/assertion"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// decided applies a decision on the approval that the run waits for. The approval in Env
// has it already, and is PENDING still where others must approve too.
func (t *transition) decided(e Decided) error {
	i := t.waitingStep()
	a := t.env.Approval
	switch {
	case t.run.Status != countersign.RunWaitingApproval || i < 0 || a == nil || WaitsForSlot(t.run):
		return t.conflict("it waits for no decision")
	case safetext.Blank(e.Reason):
		return countersign.Invalid("reason", "say why; it can't be blank")
	case !t.env.Now.Before(a.ExpiresAt):
		return countersign.Errorf(countersign.CodeApprovalExpired, "approval %s expired at %s", a.ID, a.ExpiresAt.Format(time.RFC3339))
	}
	if err := t.correctable(i, e); err != nil {
		return err
	}
	switch e.Decision {
	case countersign.ApprovalApproved:
		if a.DecisionAssertion != "" && e.Assertion == nil {
			return assertion.Required()
		}
		t.noteDecision(i, e)
		if a.Status == countersign.ApprovalApproved { // else others must approve too
			t.becomeWaitingForSlot(i)
		}
	case countersign.ApprovalRejected:
		t.noteDecision(i, e)
		t.failStep(i, countersign.CodeApprovalRejected, countersign.Rejection(e.By, e.Reason).Message)
	default:
		return countersign.Invalid("decision", "it must be APPROVED or REJECTED, not %q", e.Decision)
	}
	return nil
}

// correctable refuses a suggestion that could start no run: nothing that was approved is
// ever edited, so only a rejection has one, and its inputs must fit the capability.
func (t *transition) correctable(i int, e Decided) error {
	if err := MaySuggest(e.Decision, e.Suggested); err != nil || e.Suggested == nil {
		return err
	}
	if e.Judged {
		return e.Unfit
	}
	return JudgeSuggestion(cost.New(nil, cost.InTurn, 0), t.env.Plan, t.run.Steps[i].ID, e.Suggested)
}

// JudgeSuggestion says why suggested inputs don't fit a step's capability, nil if they do.
func JudgeSuggestion(m *cost.Meter, p *countersign.Plan, stepID string, suggested map[string]countersign.Value) error {
	i := slices.IndexFunc(p.Steps, func(s countersign.Step) bool { return s.ID == stepID })
	if i < 0 {
		return countersign.Invalid("suggestedInput", "the plan has no such step; leave it out")
	}
	_, capability := targetOf(p, p.Steps[i].ProjectID, p.Steps[i].Capability)
	if capability == nil {
		return countersign.Invalid("suggestedInput", "the plan's project has no such capability; leave it out")
	}
	problems := request.CheckInputs(m, capability, request.Given(capability, suggested), nil)
	if m.Over() {
		return m.Err()
	}
	for i := range problems {
		problems[i].Path = "suggestedInput" + strings.TrimPrefix(problems[i].Path, "input")
	}
	if len(problems) > 0 {
		return countersign.Refusal(countersign.CodeInvalidRequest, problems...)
	}
	return nil
}

// MaySuggest refuses suggested inputs with any decision but a rejection.
func MaySuggest(d countersign.ApprovalStatus, suggested map[string]countersign.Value) error {
	if suggested == nil || d == countersign.ApprovalRejected {
		return nil
	}
	return countersign.Invalid("suggestedInput", "it belongs to a REJECTED decision; what is approved is sent as it is")
}

func (t *transition) noteDecision(i int, e Decided) {
	t.noteStep("approvals.decide", i, "", e.Reason)
	n := &t.res.Notes[len(t.res.Notes)-1]
	n.StateDigest = t.env.Approval.StateDigest
	n.Before, n.After, n.Assertion = string(countersign.ApprovalPending), string(e.Decision), e.Assertion
	if t.env.Approval.Status == countersign.ApprovalPending {
		n.After = n.Before
	}
}

// expired handles an approval past its expiresAt: an undecided one fails the run; an
// approved one whose step has not started is requested again. It also permits
// reconciling an uncertain step when the time limit of its call is over.
func (t *transition) expired() {
	if f := t.run.WaitingFor; f != nil && !f.NotBefore.IsZero() && !t.env.Now.Before(f.NotBefore) {
		t.noteStep("step.answer_overdue", t.uncertain(), countersign.StepRecoveryRequired, "the time in which its answer could come is over")
		t.callEnded()
		return
	}
	i := t.waitingStep()
	a := t.env.Approval
	if t.run.Status != countersign.RunWaitingApproval || i < 0 || a == nil || t.env.Now.Before(a.ExpiresAt) {
		return
	}
	if WaitsForSlot(t.run) {
		t.askAgain(i)
		return
	}
	why := "nobody decided in time, so the system rejected it"
	if len(a.Decisions) > 0 {
		why = "too few approved in time, so the system rejected it"
	}
	t.failStep(i, countersign.CodeApprovalExpired, why)
}

// askAgain requests a new approval for a step that was approved but not started.
// Nobody is asked to approve a step that can no longer be sent.
func (t *transition) askAgain(i int) {
	switch {
	case !t.mayBegin(i) || !t.prepare(i):
	case t.judgement.look != nil:
		t.lookLater(i)
	default:
		t.ask(i)
	}
}

func (t *transition) slotGranted() {
	if !WaitsForSlot(t.run) || t.stopped() {
		return
	}
	if t.run.Status == countersign.RunRunning { // a stop held it: nothing else is recorded of its going on
		t.note(Note{Action: "run.release", Step: -1, Before: string(t.run.Status), After: string(t.run.Status)})
	}
	t.becomeRunning()
}

func (t *transition) waitingStep() int { return indexByStatus(t.run, countersign.StepWaitingApproval) }
