package run

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// cancelAsked ends the run, unless a side effect is in flight: that cannot be undone,
// so the run waits for its outcome to be reconciled (specification 3.2, rule 2).
func (t *transition) cancelAsked(e CancelAsked) error {
	switch t.run.Status {
	case countersign.RunCancelled:
		return nil
	case countersign.RunCompleted, countersign.RunFailed:
		return t.conflict("a run that has ended can't be cancelled")
	case countersign.RunRecoveryRequired:
		if !WaitsForSlot(t.run) {
			return t.conflict("say first what became of the uncertain step: reconcile it")
		}
	}
	t.run.CancelRequested = true
	asked := Note{Action: "runs.cancel", Step: -1, Before: string(t.run.Status), After: string(countersign.RunCancelled), Reason: e.Reason}
	i := t.inFlight()
	if i >= 0 && t.run.Steps[i].SideEffect {
		asked.After = string(countersign.RunRecoveryRequired)
		t.note(asked)
		t.suspendStep(i, "the run was cancelled while the request was on its way")
		t.awaitCall(i)
		return nil
	}
	t.note(asked)
	if i >= 0 {
		s := t.step(i)
		s.Status, s.CompletedAt = countersign.StepCancelled, t.env.Now
	}
	t.becomeCancelled(countersign.Cancellation(e.By, e.Reason))
	return nil
}

// reconciled applies what a person reported about the uncertain step.
func (t *transition) reconciled(e Reconciled) error {
	i := t.uncertain()
	if t.run.Status != countersign.RunRecoveryRequired || i < 0 {
		return t.conflict("only an uncertain outcome is reconciled")
	}
	if safetext.Blank(e.Evidence) {
		return countersign.Invalid("evidence", "say what shows it; it can't be blank")
	}
	if t.resolved(i, e.Resolution) == "" {
		return countersign.Invalid("resolution", "it must be CONFIRMED_COMPLETED, CONFIRMED_NOT_EXECUTED or ABANDON, not %q", e.Resolution)
	}
	if until := t.run.WaitingFor.NotBefore; t.env.Now.Before(until) {
		return t.conflict("the answer to step " + t.run.Steps[i].ID + " may still come; say from " + until.UTC().Format(time.RFC3339Nano) + " on what became of it")
	}
	var out plan.Output
	if e.Resolution == countersign.ConfirmedCompleted {
		var err error
		if out, err = t.confirmedOutput(i, e.Output); err != nil {
			return err
		}
	}
	s := t.step(i)
	var differs []countersign.Discrepancy
	if e.Resolution == countersign.ConfirmedCompleted {
		differs = request.Differs(s.Input, countersign.ObjectValue(e.Output), t.outputField(i))
	}
	s.Reconciliation = &countersign.Reconciliation{Resolution: e.Resolution, Evidence: e.Evidence, By: e.By, At: t.env.Now, Differs: differs}
	t.noteStep("runs.reconcile", i, t.resolved(i, e.Resolution), e.Resolution+": "+e.Evidence+differsWords(differs))
	switch e.Resolution {
	case countersign.ConfirmedCompleted:
		v, _ := Judge(t.expectations(i), out, 0)
		s.NextAt = time.Time{}
		t.completeStep(i, out.Value, v)
	case countersign.ConfirmedNotExecuted:
		if t.settlementOf(i) != nil && !t.run.CancelRequested {
			t.notExecuted(i)
			return nil
		}
		t.reopen(i)
	case countersign.Abandon:
		t.abandon(i)
		return nil
	}
	t.afterReconcile(i)
	return nil
}

// resolved is the status that a resolution gives a step, "" for an unknown one. A run
// that is to be cancelled sends nothing again.
func (t *transition) resolved(i int, resolution string) countersign.StepStatus {
	switch resolution {
	case countersign.ConfirmedCompleted:
		return countersign.StepCompleted
	case countersign.ConfirmedNotExecuted:
		if t.run.CancelRequested {
			return countersign.StepCancelled
		}
		if t.settlementOf(i) != nil {
			return countersign.StepFailed
		}
		return countersign.StepPending
	case countersign.Abandon:
		return countersign.StepAbandoned
	}
	return ""
}

// confirmedOutput is the selected output of a confirmed step: the outputField of the
// given output if present, else all of it. It must meet the expectation.
func (t *transition) confirmedOutput(i int, given map[string]countersign.Value) (plan.Output, error) {
	field := t.outputField(i)
	out := plan.Output{Value: countersign.Null, OutputField: field}
	if given != nil {
		out.Value = countersign.ObjectValue(given)
	}
	if selected, ok := plan.Select(out.Value, field); ok {
		out = selected
	}
	if _, why := Judge(t.expectations(i), out, 0); why != "" {
		return out, countersign.RefusedAt(countersign.CodeExpectationNotMet, "output", "%s; give in it what the receiver has", why)
	}
	return out, nil
}

// reopen makes the step PENDING: it is sent again with the same key and body, after a
// new approval if one is needed. What was sent may still arrive, whatever a person's evidence
// shows today: only the step's completion takes that back.
func (t *transition) reopen(i int) {
	s := t.step(i)
	s.Status, s.ApprovalID, s.Error = t.resolved(i, countersign.ConfirmedNotExecuted), "", nil
	s.NextAt = time.Time{}
	if s.Status == countersign.StepCancelled {
		s.CompletedAt = t.env.Now
	}
	t.mayHaveHappened(s)
}

// notExecuted ends a step whose receiver can say itself what became of its key: nothing is ever
// sent a second time under a key that it may have withdrawn. What was sent may still arrive.
func (t *transition) notExecuted(i int) {
	s := t.step(i)
	s.NextAt = time.Time{}
	t.mayHaveHappened(s)
	t.failStep(i, countersign.CodeNotExecuted, "a reviewer confirmed that it was not executed; nothing is sent a second time under its key: who wants it done starts a new run")
}

func (t *transition) abandon(i int) {
	s := t.step(i)
	s.NextAt = time.Time{}
	s.Status, s.CompletedAt = countersign.StepAbandoned, t.env.Now
	t.becomeCancelled(countersign.Ending{Code: countersign.CodeAbandoned, Message: "whether step " + s.ID + " took effect stays unknown"})
}

// afterReconcile ends a run that is to be cancelled or has no steps left; any other
// waits for a slot.
func (t *transition) afterReconcile(i int) {
	switch {
	case t.run.CancelRequested:
		t.becomeCancelled(countersign.Ending{Code: countersign.CodeCancelled, Message: "it was cancelled while step " + t.run.Steps[i].ID + " was on its way"})
	case t.nextStep() < 0:
		t.becomeCompleted()
	default:
		t.becomeWaitingForSlot(i)
	}
}

// MayProbe refuses a probe if the run has the maximum number; each is kept as
// evidence. 0 is the default maximum.
func MayProbe(r *countersign.Run, most int) error {
	most = cmp.Or(most, countersign.MaxProbes)
	n := 0
	for i := range r.Steps {
		n += len(r.Steps[i].Probes)
	}
	if n >= most {
		return countersign.RefusedAt(countersign.CodeQuotaExceeded, "probes", "run %s has %d, as many as a run may have; say what they showed", r.ID, n)
	}
	return nil
}

// ProbeKey is the idempotency key of the n-th probe of a step.
func ProbeKey(runID, stepID string, n int) string {
	return runID + "." + stepID + ".probe-" + strconv.Itoa(n)
}

// probing records the intent to send a probe, with the number that its key has. Whether it is
// answered or not, no other probe gets that number.
func (t *transition) probing(e Probing) error {
	if t.run.Status != countersign.RunRecoveryRequired || e.Step != t.uncertain() {
		return t.conflict("only an uncertain step is probed")
	}
	if err := MayProbe(t.run, t.env.MaxProbes); err != nil {
		return err
	}
	s := &t.run.Steps[e.Step]
	e.Probe.N = len(s.Probes) + 1
	s.Probes = append(s.Probes[:len(s.Probes):len(s.Probes)], e.Probe)
	t.res.Probe = &Probed{Step: e.Step, Probe: e.Probe}
	t.note(Note{Action: "runs.probe", Step: e.Step, Before: string(s.Status), After: string(s.Status), Reason: ProbeKey(t.run.ID, s.ID, e.Probe.N), Digest: e.Digest})
	return nil
}

// probed keeps the answer to a probe. It decides nothing, and like a late answer it may come
// when the run has gone on or ended.
func (t *transition) probed(e Probed) {
	s := &t.run.Steps[e.Step]
	at := e.Probe.N - 1
	if at < 0 || at >= len(s.Probes) || s.Probes[at].By != "" && !s.Probes[at].Unanswered() {
		return
	}
	s.Probes = slices.Clone(s.Probes)
	s.Probes[at] = e.Probe
	t.res.ProbeAnswer = &e
	t.note(Note{Action: "steps.probe_answered", Step: e.Step, Before: string(s.Status), After: string(s.Status), Reason: ProbeKey(t.run.ID, s.ID, e.Probe.N) + ": " + probeCame(&e.Probe)})
}

// probeCame says what came of a probe, without its content.
func probeCame(p *countersign.ProbeRecord) string {
	if p.Error != "" || p.Response == nil {
		return cmp.Or(countersign.WithoutQuote(p.Error), "no answer")
	}
	return "answered " + strconv.Itoa(p.Response.StatusCode)
}

// setAside ends a run whose next step can't be committed, or has a person find out about the
// side effect whose intent is stored. A read that was let out has changed nothing: no person
// finds out about one, so it fails, and says that it was let out.
func (t *transition) setAside() {
	i := t.inFlight()
	if i >= 0 && t.run.Steps[i].SideEffect {
		t.suspendStep(i, "what came of the request could not be committed, again and again")
		t.awaitCall(i) // who sets it aside may be another process than the one that sends
		return
	}
	if i < 0 {
		i = t.nextStep()
	}
	if t.run.Status.IsTerminal() || t.run.Status == countersign.RunRecoveryRequired || i < 0 {
		return
	}
	t.noteStep("step.set_aside", i, countersign.StepFailed, "")
	t.failStep(i, countersign.CodeSetAside, "the step could not be committed, again and again; it was set aside so that others go on, and "+setAsideAfter(&t.run.Steps[i]))
}

// setAsideAfter says what of a step was sent before it was set aside.
func setAsideAfter(s *countersign.StepRun) string {
	switch {
	case s.Attempt == 0:
		return "nothing of it was sent"
	case s.SideEffect:
		return "it was not sent again"
	}
	return "the answer to its read, which changes nothing, is lost"
}

// answerMargin is how late after its intent a call may start, and how long after its
// timeout storing the outcome may take.
const answerMargin = 5 * time.Second

// answerBy is the latest time at which the outcome of a call is known.
func answerBy(begun time.Time, c *countersign.Capability) time.Time {
	return begun.Add(c.Timeout() + answerMargin)
}

// awaitCall prevents reconciling an uncertain step while its call is in flight: the
// answer could contradict the resolution.
func (t *transition) awaitCall(i int) {
	if _, c := t.target(i); c != nil {
		waiting := *t.run.WaitingFor
		waiting.NotBefore = answerBy(t.run.Steps[i].StartedAt, c)
		t.run.WaitingFor = &waiting
		t.askFrom(i, waiting.NotBefore)
	}
}

// callEnded permits reconciling: no answer can come anymore.
func (t *transition) callEnded() {
	if f := t.run.WaitingFor; f != nil && !f.NotBefore.IsZero() {
		waiting := *f
		waiting.NotBefore = time.Time{}
		t.run.WaitingFor = &waiting
		if i := t.uncertain(); i >= 0 {
			t.askFrom(i, t.env.Now)
		}
	}
}

// lostReason says why the outcome of a request is unknown.
func (r Restarted) lostReason(what string) string {
	switch {
	case r.Untended:
		return "what came of the " + what + " could not be stored"
	case r.Adopted:
		return "the replica that sent the " + what + " is gone, or cut off from the store"
	}
	return "the service stopped while the " + what + " was on its way"
}

// restarted recovers a run that nobody drives. A side effect with an intent but no
// outcome may have been sent, so it is never resent automatically. A read is executed
// again, with a new approval if it needs one.
func (t *transition) restarted(e Restarted) {
	if f := t.run.WaitingFor; f != nil && !f.NotBefore.IsZero() {
		if e.Adopted {
			return // its sender may only be cut off from the store: the answer may still come to it
		}
		t.noteStep("step.answer_lost", t.uncertain(), countersign.StepRecoveryRequired, e.lostReason("request")+"; its answer can't come any more")
		t.callEnded()
		return
	}
	t.lookLost(e)
	i := t.inFlight()
	if t.run.Status != countersign.RunRunning || i < 0 {
		return
	}
	if t.run.Steps[i].SideEffect {
		t.suspendStep(i, e.lostReason("request"))
		if e.Adopted {
			t.awaitCall(i)
		}
		return
	}
	s := t.step(i)
	t.noteStep("step.restart", i, countersign.StepPending, e.lostReason("read"))
	s.Status, s.ApprovalID = countersign.StepPending, ""
}
