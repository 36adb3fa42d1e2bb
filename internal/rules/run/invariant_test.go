package run_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
)

// checkEvent says what must hold after every event, whatever the plan.
func (w *world) checkEvent(e run.Event, env run.Env, res run.Result, err error) {
	w.t.Helper()
	if err != nil {
		w.checkRefusal(res, err)
		return
	}
	w.checkChange(env, res)
	w.checkRun(res)
	w.checkWaiting(res)
	w.checkUncertain(e, res.Run)
	w.checkResolved(e, env)
	w.checkSend(e, env, res)
}

// checkRefusal: a refused event has a code and changes nothing.
func (w *world) checkRefusal(res run.Result, err error) {
	w.t.Helper()
	if countersign.ErrorCode(err) == countersign.CodeInternal {
		w.t.Fatalf("a refusal without a code: %v", err)
	}
	if res.Run != w.run || !res.Unchanged() || res.Call != nil || res.Ask != nil || res.Close != "" {
		w.t.Fatalf("refused with %v, yet it came to %s", err, dumped(res))
	}
}

// checkChange: a change raises the revision by one and names every step that it
// changed; no change has no effects; a terminal run never changes, but that an answer
// which comes too late is kept.
func (w *world) checkChange(env run.Env, res run.Result) {
	w.t.Helper()
	was, is := w.run, res.Run
	changed := encoded(w.t, was) != encoded(w.t, is)
	switch {
	case changed == res.Unchanged():
		w.t.Fatalf("Unchanged is %v:\n%s\n%s", res.Unchanged(), encoded(w.t, was), encoded(w.t, is))
	case !changed && (res.Call != nil || res.Ask != nil || res.Close != ""):
		w.t.Fatalf("nothing changed, yet there are effects: %s", dumped(res))
	case changed && was.Status.IsTerminal() && !onlyLate(w.t, was, is):
		w.t.Fatalf("a terminal run changed:\n%s\n%s", encoded(w.t, was), encoded(w.t, is))
	case changed && (is.Revision != was.Revision+1 || !is.UpdatedAt.Equal(env.Now)):
		w.t.Fatalf("%s at revision %d became %s at revision %d, updated %s", was.Status, was.Revision, is.Status, is.Revision, is.UpdatedAt)
	case changed && len(res.Notes) == 0:
		w.t.Fatalf("a change without an audit record: %s", dumped(res))
	}
	for i := range is.Steps {
		if encoded(w.t, was.Steps[i]) != encoded(w.t, is.Steps[i]) && !slices.Contains(res.Changed, i) && !probes(res.Probe, i) && !probes(res.ProbeAnswer, i) {
			w.t.Fatalf("step %s changed and is not among the changed %v", is.Steps[i].ID, res.Changed)
		}
	}
}

func probes(p *run.Probed, step int) bool { return p != nil && p.Step == step }

// onlyLate reports two runs that differ in late answers and answers to probes alone.
func onlyLate(t fataler, was, is *countersign.Run) bool {
	plain := *is
	plain.Revision, plain.UpdatedAt, plain.Steps = was.Revision, was.UpdatedAt, slices.Clone(is.Steps)
	for i := range plain.Steps {
		plain.Steps[i].Late = was.Steps[i].Late
		plain.Steps[i].Probes = was.Steps[i].Probes
		plain.Steps[i].Looks = was.Steps[i].Looks
	}
	return encoded(t, &plain) == encoded(t, was)
}

// checkResolved: nobody says what became of a side effect while its call may still be
// answered.
func (w *world) checkResolved(e run.Event, env run.Env) {
	w.t.Helper()
	if _, is := e.(run.Reconciled); is && w.onItsWay && env.Now.Before(w.answerBy) {
		w.t.Fatalf("resolved at %s, and an answer may come until %s", env.Now, w.answerBy)
	}
}

// checkRun: steps never overlap, dependencies come first, and a status of the
// run implies those of its steps.
func (w *world) checkRun(res run.Result) {
	w.t.Helper()
	r := res.Run
	count, done := map[countersign.StepStatus]int{}, map[string]bool{}
	unverified := 0
	for i := range r.Steps {
		s := &r.Steps[i]
		count[s.Status]++
		done[s.ID] = s.Status == countersign.StepCompleted || s.Status == countersign.StepSimulated
		if s.Status == countersign.StepCompleted && s.Verification.Status == countersign.VerificationNotRequested {
			unverified++
		}
	}
	busy := count[countersign.StepRunning] + count[countersign.StepWaitingApproval] + count[countersign.StepRecoveryRequired]
	finished := count[countersign.StepCompleted] + count[countersign.StepSimulated]
	open := busy + count[countersign.StepPending]
	may := func(s countersign.StepRun) bool {
		return mayHaveHappened(s) || r.Status.IsTerminal() && sentElsewhere(r, s)
	}
	wrong := ""
	switch {
	case busy > 1:
		wrong = "two steps at a time"
	case r.Status == countersign.RunCompleted && finished != len(r.Steps):
		wrong = "COMPLETED with a step that is not"
	case r.Status == countersign.RunFailed && count[countersign.StepFailed] != 1, r.Status != countersign.RunFailed && count[countersign.StepFailed] > 0:
		wrong = "FAILED without its one FAILED step, or the reverse"
	case r.Status.IsTerminal() && open > 0:
		wrong = "an open step in a run that ended"
	case r.Status.IsTerminal() == r.CompletedAt.IsZero():
		wrong = "completedAt is set exactly when the run ended"
	case (r.Error != "") != (r.Status == countersign.RunFailed || r.Status == countersign.RunCancelled):
		wrong = "error is set exactly when the run failed or was cancelled"
	case r.MayHaveHappened != slices.ContainsFunc(r.Steps, may):
		wrong = "mayHaveHappened is said of a run exactly when it is of a step"
	case slices.ContainsFunc(r.Steps, func(s countersign.StepRun) bool { return s.MayHaveHappened != may(s) }):
		wrong = "mayHaveHappened is said of a side effect that was answered 2xx and FAILED, or was confirmed as not executed and isn't COMPLETED, or that a restored run ended without, and of nothing else"
	case r.WaitingFor != nil && !r.WaitingFor.RestoredAt.Equal(r.RestoredAt):
		wrong = "what a restored run waits for doesn't say so"
	case unverified != r.UnverifiedSteps:
		wrong = "unverifiedSteps"
	}
	if wrong != "" {
		w.t.Fatalf("%s: %s", wrong, encoded(w.t, r))
	}
	w.checkDependencies(r, done)
}

// sentElsewhere reports a side effect that the store which a restored one replaces may have sent.
func sentElsewhere(r *countersign.Run, s countersign.StepRun) bool {
	return !r.RestoredAt.IsZero() && r.Mode == countersign.ModeLive && s.SideEffect && s.Status != countersign.StepCompleted
}

// mayHaveHappened reports a side effect that was answered 2xx and failed, or of which a person
// confirmed that a sending was not executed: it may still arrive.
func mayHaveHappened(s countersign.StepRun) bool {
	if r := s.Reconciliation; r != nil && s.Status != countersign.StepCompleted && (r.Resolution == countersign.ConfirmedNotExecuted || s.Attempt > 1) {
		return true
	}
	ended := s.Status == countersign.StepFailed || s.Status == countersign.StepCancelled && s.SettledBy != nil
	return ended && s.SideEffect && s.Response != nil && s.Response.StatusCode/100 == 2 &&
		(s.Error.Code == countersign.CodeExpectationNotMet || s.Error.Code == countersign.CodeOutputMissing)
}

func (w *world) checkDependencies(r *countersign.Run, done map[string]bool) {
	w.t.Helper()
	for i := range r.Steps {
		s := &r.Steps[i]
		begun := s.Attempt > 0 || s.Status == countersign.StepWaitingApproval || s.Status == countersign.StepSimulated
		for _, d := range s.DependsOn {
			if begun && !done[d] {
				w.t.Fatalf("step %s is %s before its dependency %s is done", s.ID, s.Status, d)
			}
		}
	}
}

// checkWaiting: a run says what it waits for exactly when it stands still, and
// names what would move it.
func (w *world) checkWaiting(res run.Result) {
	w.t.Helper()
	r := res.Run
	held := r.Status.IsActive() && r.WaitingFor != nil && r.WaitingFor.Kind == countersign.WaitStop && r.Mode == countersign.ModeLive
	standing := r.Status == countersign.RunWaitingApproval || r.Status == countersign.RunRecoveryRequired || held
	if standing != (r.WaitingFor != nil) {
		w.t.Fatalf("%s with waitingFor %s", r.Status, dumped(r.WaitingFor))
	}
	if !standing {
		return
	}
	f := r.WaitingFor
	i := slices.IndexFunc(r.Steps, func(s countersign.StepRun) bool { return s.ID == f.StepID })
	fits := false
	switch s := &r.Steps[i]; f.Kind {
	case countersign.WaitApproval:
		fits = r.Status == countersign.RunWaitingApproval && s.Status == countersign.StepWaitingApproval && f.Role == "APPROVER" &&
			f.ApprovalID == s.ApprovalID && r.ApprovalID == f.ApprovalID && f.Operation == "POST /approvals/"+f.ApprovalID+"/decision" && !f.ExpiresAt.IsZero()
	case countersign.WaitReconcile:
		if !f.NotBefore.IsZero() && !f.NotBefore.Equal(w.answerBy) {
			w.t.Fatalf("waits until %s for an answer that comes until %s", f.NotBefore, w.answerBy)
		}
		fits = r.Status == countersign.RunRecoveryRequired && s.Status == countersign.StepRecoveryRequired && f.Role == "APPROVER" &&
			f.Operation == "POST /runs/run-1/reconcile" && f.ExpiresAt.IsZero()
	case countersign.WaitSlot, countersign.WaitStop:
		looked := w.plan.ProjectSnapshots[0].Capability(s.Capability).Precondition != nil // before another approval is asked for
		approved := r.Status == countersign.RunWaitingApproval && s.Status == countersign.StepWaitingApproval && (looked || !f.ExpiresAt.IsZero())
		resolved := r.Status == countersign.RunRecoveryRequired && !r.CancelRequested && f.ExpiresAt.IsZero() &&
			(s.Status == countersign.StepCompleted || s.Status == countersign.StepPending)
		fits = (approved || resolved || held && s.Status == countersign.StepPending) && f.Role == "" && f.Operation == ""
		if f.Kind == countersign.WaitStop {
			fits = (approved || resolved || held && s.Status == countersign.StepPending) && f.Role == "ADMIN" && f.Operation == "POST /go"
		}
	}
	if !fits {
		w.t.Fatalf("waitingFor does not fit: %s", encoded(w.t, r))
	}
}

// checkUncertain: the outcome of a side effect that nobody knows makes the run
// RECOVERY_REQUIRED and nothing else (S2).
func (w *world) checkUncertain(e run.Event, is *countersign.Run) {
	w.t.Helper()
	ret, ok := e.(run.Returned)
	if !ok {
		return
	}
	s := &w.run.Steps[ret.Step]
	if w.run.Status != countersign.RunRunning || s.Status != countersign.StepRunning || s.Attempt != ret.Attempt || !s.SideEffect {
		return
	}
	o := ret.Outcome
	open := o.Certainty == request.Unknown || o.Certainty == request.Returned &&
		(o.Response.StatusCode < 200 || o.Response.StatusCode >= 500 || o.Response.StatusCode/100 == 3 || o.Response.StatusCode == 408 || o.Response.StatusCode == 409 && (s.Attempt > 1 || speaksOfAnother(o.Response.Body)))
	recovery := is.Status == countersign.RunRecoveryRequired && is.Steps[ret.Step].Status == countersign.StepRecoveryRequired
	if open != recovery {
		w.t.Fatalf("%s to attempt %d made the run %s", dumped(o), s.Attempt, is.Status)
	}
}

// speaksOfAnother reads the body of a 409 as anybody would who decodes it whole.
func speaksOfAnother(body string) bool {
	var b struct {
		Error string `json:"error"`
	}
	return json.Unmarshal([]byte(strings.TrimPrefix(body, "\ufeff")), &b) == nil && (b.Error == "in_progress" || b.Error == "in_doubt") || strings.HasPrefix(body, `{"error":"in_doubt"`)
}

// sending is one request that was let out.
type sending struct {
	step, approval string
	request        countersign.Request
	mayRepeat      bool // a person confirmed that it had no effect, or it was a read and the process died
}

// checkSend: a request goes out once an attempt, after its intent, and only
// where the gate lets it (D1, D2, D3, D5).
func (w *world) checkSend(e run.Event, env run.Env, res run.Result) {
	w.t.Helper()
	w.noteRepeats(e, res.Run)
	begun := -1
	for i := range res.Run.Steps {
		if res.Run.Steps[i].Attempt != w.run.Steps[i].Attempt {
			begun = i
		}
	}
	if res.Call == nil {
		if begun >= 0 {
			w.t.Fatalf("step %s has a new attempt and no call", res.Run.Steps[begun].ID)
		}
		return
	}
	c, s := res.Call, &res.Run.Steps[res.Call.Step]
	if begun != c.Step || s.Status != countersign.StepRunning || s.Attempt != c.Attempt || s.Attempt != w.run.Steps[c.Step].Attempt+1 {
		w.t.Fatalf("call of %s, attempt %d, does not fit its step: %s attempt %d", s.ID, c.Attempt, s.Status, s.Attempt)
	}
	if res.Run.Mode != countersign.ModeLive || env.Stopping || env.Stopped || plan.Refusal(env.Plan, countersign.ModeLive, env.Current) != nil {
		w.t.Fatalf("call of %s in a run that may not send", s.ID)
	}
	w.checkRequest(c, s, res.Run)
	w.checkRepeat(s, *s.Request)
	w.checkGate(s, env)
	w.sent = append(w.sent, sending{step: s.ID, approval: s.ApprovalID, request: *s.Request})
}

func (w *world) noteRepeats(e run.Event, is *countersign.Run) {
	for i := range is.Steps {
		s := &is.Steps[i]
		_, restarted := e.(run.Restarted)
		r, reconciled := e.(run.Reconciled)
		again := restarted && !s.SideEffect && w.run.Steps[i].Status == countersign.StepRunning ||
			reconciled && r.Resolution == countersign.ConfirmedNotExecuted && w.run.Steps[i].Status == countersign.StepRecoveryRequired
		for n := range w.sent {
			if again && w.sent[n].step == s.ID {
				w.sent[n].mayRepeat = true
			}
		}
	}
}

// checkRequest: the key is the step's for life, and what is sent is what the
// record shows and the digest is of, made of the verified outputs alone.
func (w *world) checkRequest(c *run.Call, s *countersign.StepRun, r *countersign.Run) {
	w.t.Helper()
	digest := request.Digest(c.Request, "acme-shop", shop().Revision, s.Capability)
	if c.RunID != r.ID || c.StepID != s.ID || c.IdempotencyKey != r.ID+"."+s.ID || s.IdempotencyKey != c.IdempotencyKey || digest != s.RequestDigest.Text() ||
		encoded(w.t, c.Request) != encoded(w.t, *s.Request) || c.SideEffect != s.SideEffect {
		w.t.Fatalf("the call of %s is not what its record shows", s.ID)
	}
	for name, b := range w.plan.Step(s.ID).InputBindings {
		from := w.index(b.StepID)
		out := plan.Output{Value: r.Steps[from].Output, OutputField: shop().Capability(r.Steps[from].Capability).OutputField}
		v, ok := out.Field(b.Field)
		if r.Steps[from].Status != countersign.StepCompleted || !ok || !v.Equal(s.Input[name]) {
			w.t.Fatalf("input %s of %s is %s, not the verified %s.%s", name, s.ID, s.Input[name].Raw(), b.StepID, b.Field)
		}
	}
}

// checkRepeat: a second attempt is allowed once, and sends the same bytes.
func (w *world) checkRepeat(s *countersign.StepRun, r countersign.Request) {
	w.t.Helper()
	for _, before := range w.sent {
		if before.step == s.ID && (!before.mayRepeat || encoded(w.t, before.request) != encoded(w.t, r)) {
			w.t.Fatalf("step %s was sent again without a reason, or with other bytes", s.ID)
		}
	}
}

// checkGate: where approval is needed there is one, APPROVED, unexpired, of
// exactly these bytes, and it let nothing else out.
func (w *world) checkGate(s *countersign.StepRun, env run.Env) {
	w.t.Helper()
	if !shop().Capability(s.Capability).NeedsApproval() {
		return
	}
	a := env.Approval
	if a == nil || a.ID != s.ApprovalID || a.Status != countersign.ApprovalApproved || !env.Now.Before(a.ExpiresAt) ||
		a.RequestDigest != s.RequestDigest.Text() || a.StepID != s.ID || a.Attempt != s.Attempt || strings.TrimSpace(a.DecisionReason) == "" {
		w.t.Fatalf("step %s was sent on the approval %s", s.ID, dumped(a))
	}
	if slices.ContainsFunc(w.sent, func(before sending) bool { return before.approval == a.ID }) {
		w.t.Fatalf("approval %s let two requests out", a.ID)
	}
}
