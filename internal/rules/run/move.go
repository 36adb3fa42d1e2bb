package run

import (
	"cmp"
	"slices"
	"time"

	"github.com/countersign/countersign"
)

// Status changes: one function for each status of the run, which sets every field
// that depends on it.

func (t *transition) become(s countersign.RunStatus, waiting *countersign.WaitingFor) {
	if t.before.Status.IsTerminal() {
		panic("run: a terminal run never changes") // no caller can get here: S1
	}
	if t.run.Status != s {
		t.note(Note{Action: "run." + runActions[s], Step: t.at, Before: string(t.run.Status), After: string(s), Reason: cmp.Or(t.reason, t.run.Error)})
	}
	t.run.Status = s
	t.wait(waiting)
}

// wait sets what the run waits for, which says whether the store was restored meanwhile.
func (t *transition) wait(f *countersign.WaitingFor) {
	if f != nil {
		f.RestoredAt = t.run.RestoredAt
	}
	t.run.WaitingFor = f
}

var runActions = map[countersign.RunStatus]string{
	countersign.RunRunning: "run", countersign.RunWaitingApproval: "wait", countersign.RunRecoveryRequired: "recovery_required",
	countersign.RunCompleted: "complete", countersign.RunFailed: "fail", countersign.RunCancelled: "cancel",
}

func (t *transition) becomeRunning() { t.become(countersign.RunRunning, nil) }

// becomeWaitingForSlot keeps the status: the run continues when a slot is free, and no
// stop stands. Its approval can still expire meanwhile.
func (t *transition) becomeWaitingForSlot(step int) { t.wait(t.queued(step)) }

func (t *transition) queued(step int) *countersign.WaitingFor {
	f := &countersign.WaitingFor{Kind: countersign.WaitSlot, Since: t.env.Now, StepID: t.run.Steps[step].ID}
	if a := t.env.Approval; a != nil && t.run.Steps[step].Status == countersign.StepWaitingApproval {
		f.ApprovalID, f.ExpiresAt = a.ID, a.ExpiresAt
		if _, c := t.target(step); c != nil && c.Precondition != nil && !t.env.Now.Before(a.ExpiresAt) {
			f.ExpiresAt = time.Time{} // another is asked for once a slot is free, after a look
		}
	}
	return AsWaited(f, t.env.Stopped)
}

// hold keeps a step from beginning while a stop stands, and gives the slot back. A step
// that was approved waits as before it got its slot, so that its approval can expire.
func (t *transition) hold(step int) {
	now := string(t.run.Status)
	t.note(Note{Action: "run.hold", Step: step, Before: now, After: now, Reason: "LIVE steps are stopped"})
	if t.run.Steps[step].Status == countersign.StepWaitingApproval {
		t.become(countersign.RunWaitingApproval, t.queued(step))
		return
	}
	t.wait(t.queued(step))
}

func (t *transition) becomeWaitingForApproval(step int, a *countersign.Approval) {
	t.run.ApprovalID = a.ID
	t.become(countersign.RunWaitingApproval, &countersign.WaitingFor{
		Kind: countersign.WaitApproval, Since: t.env.Now, Role: string(countersign.RoleApprover),
		Operation: "POST /approvals/" + a.ID + "/decision", StepID: t.run.Steps[step].ID,
		ApprovalID: a.ID, ExpiresAt: a.ExpiresAt, EscalatesAt: firstEscalation(a),
	})
}

// firstEscalation is when the first others may decide an approval, zero for never.
func firstEscalation(a *countersign.Approval) (first time.Time) {
	for _, e := range a.Escalations {
		if first.IsZero() || e.At.Before(first) {
			first = e.At
		}
	}
	return first
}

func (t *transition) becomeRecoveryRequired(step int) {
	t.become(countersign.RunRecoveryRequired, &countersign.WaitingFor{
		Kind: countersign.WaitReconcile, Since: t.env.Now, Role: string(countersign.RoleApprover),
		Operation: "POST /runs/" + t.run.ID + "/reconcile", StepID: t.run.Steps[step].ID,
	})
}

func (t *transition) becomeCompleted() {
	t.run.CompletedAt = t.env.Now
	t.become(countersign.RunCompleted, nil)
}

// becomeFailed ends the run; steps that never started are SKIPPED.
func (t *transition) becomeFailed(why countersign.Ending) {
	t.finish(countersign.RunFailed, why, countersign.StepSkipped)
}

// becomeCancelled ends the run; steps that never started are CANCELLED.
func (t *transition) becomeCancelled(why countersign.Ending) {
	t.finish(countersign.RunCancelled, why, countersign.StepCancelled)
}

func (t *transition) finish(s countersign.RunStatus, why countersign.Ending, open countersign.StepStatus) {
	t.run.Error = why.String()
	t.run.CompletedAt = t.env.Now
	for i := range t.run.Steps {
		switch t.run.Steps[i].Status {
		case countersign.StepPending, countersign.StepWaitingApproval:
			t.step(i).Status = open
			t.step(i).Looking = 0
			t.step(i).CompletedAt = t.env.Now
		}
	}
	t.mayHaveBeenSent()
	t.closeApproval()
	t.become(s, nil)
}

// mayHaveBeenSent marks the side effects of a restored run that it ends without: the store that
// this one replaces may have gone on with it, and this one knows nothing of that. A withdrawn key
// is so for both.
func (t *transition) mayHaveBeenSent() {
	if t.run.RestoredAt.IsZero() || t.run.Mode != countersign.ModeLive {
		return
	}
	for i := range t.run.Steps {
		if s := &t.run.Steps[i]; s.SideEffect && s.Status != countersign.StepCompleted && !s.Withdrawn() {
			t.mayHaveHappened(t.step(i))
		}
	}
}

// closeApproval makes the system reject an approval that is no longer needed.
func (t *transition) closeApproval() {
	a := t.env.Approval
	if a == nil || a.Status != countersign.ApprovalPending {
		return
	}
	t.res.Close = t.run.Error
	t.note(Note{
		Action: "approval.close", Step: t.indexOf(a.StepID), Reason: t.run.Error, Digest: a.RequestDigest,
		Before: string(countersign.ApprovalPending), After: string(countersign.ApprovalRejected),
	})
}

func (t *transition) indexOf(stepID string) int {
	return slices.IndexFunc(t.run.Steps, func(s countersign.StepRun) bool { return s.ID == stepID })
}

// completeStep completes a step whose outcome is verified, or needs no verification.
func (t *transition) completeStep(i int, output countersign.Value, v countersign.Verification) {
	s := t.step(i)
	s.Status, s.Output, s.Verification = countersign.StepCompleted, output, &v
	s.Error, s.CompletedAt = nil, t.env.Now
	t.happened(s)
	if v.Status == countersign.VerificationNotRequested {
		t.run.UnverifiedSteps++
	}
}

// failStep fails a step and with it the run.
func (t *transition) failStep(i int, code countersign.Code, msg string) {
	s := t.step(i)
	t.at = i
	s.Status, s.Error, s.CompletedAt = countersign.StepFailed, &countersign.StepError{Code: code, Message: msg}, t.env.Now
	t.becomeFailed(countersign.Ending{Code: code, Message: msg})
}

// suspendStep stops at an unknown outcome: the step is never resent before a person
// has reconciled it.
func (t *transition) suspendStep(i int, msg string) {
	s := t.step(i)
	t.at, t.reason = i, msg
	s.Status = countersign.StepRecoveryRequired
	s.Error = &countersign.StepError{Code: countersign.CodeOutcomeUnknown, Message: msg}
	t.becomeRecoveryRequired(i)
	t.askFrom(i, t.env.Now)
}

func (t *transition) noteStep(action string, i int, after countersign.StepStatus, reason string) {
	s := &t.run.Steps[i]
	t.note(Note{Action: action, Step: i, Before: string(s.Status), After: string(after), Reason: reason, Digest: s.RequestDigest.Text()})
}
