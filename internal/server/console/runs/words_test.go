package runs

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

// told is a run of three steps, LIVE, of which the second is of interest.
func told(change func(*countersign.Run)) *countersign.Run {
	r := &countersign.Run{ID: "run-1", Mode: countersign.ModeLive, Status: countersign.RunRunning, Steps: []countersign.StepRun{
		{ID: "a", Name: "Read", Status: countersign.StepCompleted, Attempt: 1},
		{ID: "b", Name: "Refund", Status: countersign.StepPending, Attempt: 1, SideEffect: true, Request: &countersign.Request{Method: "POST", URL: "https://pay.example/v1/refunds"}},
		{ID: "c", Name: "Tell", Status: countersign.StepPending},
	}}
	change(r)
	return r
}

func waitingFor(status countersign.RunStatus, kind string) func(*countersign.Run) {
	return func(r *countersign.Run) {
		r.Status = status
		r.WaitingFor = &countersign.WaitingFor{Kind: kind, StepID: "b", ApprovalID: "apr-1", ExpiresAt: time.Unix(1, 0)}
		if kind == countersign.WaitReconcile {
			r.Steps[1].Error = &countersign.StepError{Code: countersign.CodeOutcomeUnknown, Message: "no answer within 10 s"}
		}
	}
}

func failedWith(code countersign.Code, message string) func(*countersign.Run) {
	return func(r *countersign.Run) {
		r.Status, r.Error = countersign.RunFailed, string(code)+": "+message
		r.Steps[1].Status, r.Steps[1].Error = countersign.StepFailed, &countersign.StepError{Code: code, Message: message}
		r.Steps[1].Response = &countersign.Response{StatusCode: 422}
		r.Steps[2].Status = countersign.StepSkipped
	}
}

func cancelledWith(text string, resolution string) func(*countersign.Run) {
	return func(r *countersign.Run) {
		r.Status, r.Error = countersign.RunCancelled, text
		r.Steps[1].Status, r.Steps[2].Status = countersign.StepCancelled, countersign.StepCancelled
		if resolution != "" {
			r.Steps[1].Reconciliation = &countersign.Reconciliation{Resolution: resolution, By: "user:mara@x.example"}
		}
	}
}

func completed(mode string, unverified int) func(*countersign.Run) {
	return func(r *countersign.Run) {
		r.Status, r.Mode, r.UnverifiedSteps = countersign.RunCompleted, mode, unverified
	}
}

// TestEveryStandOfARunHasItsSentence goes through the design's tables: what a run
// waits for, its statuses and its errors.
func TestEveryStandOfARunHasItsSentence(t *testing.T) {
	self := countersign.Errorf(countersign.CodeSelfApproval, "x")
	role := countersign.Errorf(countersign.CodeRoleRequired, "x")
	nobody := viewerRights{MaxActive: 4, Approve: role, Reconcile: role}
	for name, c := range map[string]struct {
		run                    func(*countersign.Run)
		by                     viewerRights
		class, sentence, extra string
		href                   string
	}{
		"approval, may": {waitingFor(countersign.RunWaitingApproval, countersign.WaitApproval), viewerRights{}, "wait",
			"Waiting for your decision.", "“Refund”: POST pay.example/v1/refunds.", "/console/approvals/apr-1"},
		"approval, asked for it": {waitingFor(countersign.RunWaitingApproval, countersign.WaitApproval), viewerRights{Approve: self}, "wait",
			"Waiting for an approver’s decision.", "You requested this run, so someone else must decide.", ""},
		"approval, role": {waitingFor(countersign.RunWaitingApproval, countersign.WaitApproval), nobody, "wait",
			"Waiting for an approver’s decision.", "Your role can't decide.", ""},
		"approved, no slot": {waitingFor(countersign.RunWaitingApproval, countersign.WaitSlot), viewerRights{MaxActive: 4}, "run",
			"Approved. The run continues when a slot is free.", "At most 4 runs are active at once", "/console/runs?status=RUNNING"},
		"reconcile": {waitingFor(countersign.RunRecoveryRequired, countersign.WaitReconcile), viewerRights{}, "unc",
			"“Refund” may or may not have been done.", "No answer within 10 s. An approver records what happened, with evidence. Nothing is sent until then.", "/console/recovery/run-1"},
		"reconcile, role": {waitingFor(countersign.RunRecoveryRequired, countersign.WaitReconcile), nobody, "unc",
			"“Refund” may or may not have been done.", "Your role can't decide.", ""},
		"reconcile after cancel": {func(r *countersign.Run) {
			waitingFor(countersign.RunRecoveryRequired, countersign.WaitReconcile)(r)
			r.CancelRequested = true
		}, viewerRights{}, "unc", "Cancelled, but “Refund” was already in progress.", "Either way, the run ends cancelled", "/console/recovery/run-1"},
		"slot": {waitingFor(countersign.RunRecoveryRequired, countersign.WaitSlot), viewerRights{MaxActive: 1}, "run",
			"Waiting for a free slot.", "At most 1 run is active at once", "/console/runs?status=RUNNING"},
		"ready":         {func(r *countersign.Run) { r.Status = countersign.RunReady }, nobody, "run", "The run starts automatically.", "", ""},
		"between steps": {func(*countersign.Run) {}, nobody, "run", "Nothing is waiting for you. The run continues automatically.", "", ""},
		"sending": {func(r *countersign.Run) { r.Steps[1].Status = countersign.StepRunning }, nobody, "run",
			"Nothing is waiting for you. Step 2 waits for pay.example.", "At most", ""},
		"completed":            {completed(countersign.ModeLive, 0), nobody, "ok", "Done. All 3 steps are verified.", "", ""},
		"completed, unasked":   {completed(countersign.ModeLive, 2), nobody, "ok", "Done. 2 of 3 steps had nothing to verify.", "", ""},
		"completed, one step":  {func(r *countersign.Run) { completed(countersign.ModeLive, 0)(r); r.Steps = r.Steps[:1] }, nobody, "ok", "Done. The step is verified.", "", ""},
		"rehearsed":            {func(r *countersign.Run) { completed(countersign.ModeDryRun, 0)(r); r.Steps[1].ApprovalRequired = true }, nobody, "idle", "Rehearsed. Nothing was sent; 1 step will ask for approval.", "", ""},
		"rehearsed, no asking": {completed(countersign.ModeDryRun, 0), nobody, "idle", "Rehearsed. Nothing was sent; no step will ask for approval.", "", ""},
		"receiver_refused": {failedWith(countersign.CodeReceiverRefused, "the receiver refused the request with 422"), nobody, "fail",
			"The run failed at step 2: pay.example refused the request with 422.", "Change the input and run it again. Step 3 was skipped.", ""},
		"expectation_not_met": {mayHave(failedWith(countersign.CodeExpectationNotMet, `status is "pending", expected "closed"`)), nobody, "fail",
			`The run failed at step 2: the answer was not what was expected (status is "pending", expected "closed").`, "Answered, not as expected; it may have taken effect: check at pay.example.", ""},
		"output_missing": {mayHave(failedWith(countersign.CodeOutputMissing, "the answer has no field id")), nobody, "fail",
			"The run failed at step 2: the answer has no field id.", "Answered, not as expected; it may have taken effect", ""},
		"output_missing, of a read": {failedWith(countersign.CodeOutputMissing, "the answer has no field id"), nobody, "fail",
			"The run failed at step 2: the answer has no field id.", "Step 3 was skipped.", ""},
		"not_sent": {failedWith(countersign.CodeNotSent, "the credential is not set"), nobody, "fail",
			"The run failed at step 2: nothing was sent: the credential is not set.", "Correct the connection and start a new run.", ""},
		"outcome_unknown": {failedWith(countersign.CodeOutcomeUnknown, "connection lost"), nobody, "fail",
			"The run failed at step 2: no usable answer came (connection lost).", "nothing was changed", ""},
		"approval_rejected": {failedWith(countersign.CodeApprovalRejected, "user:mara@x.example rejected it: the parcel: empty"), nobody, "fail",
			"The run failed at step 2: mara@x.example rejected it: “the parcel: empty”", "", ""},
		"approval_expired": {failedWith(countersign.CodeApprovalExpired, "nobody decided in time"), nobody, "fail",
			"The run failed at step 2: nobody decided in time, so the system rejected it.", "", ""},
		"drift": {failedWith(countersign.CodeDrift, "model m changed from revision 7 to 8 after the plan was made; make the plan again"), nobody, "fail",
			"The run failed at step 2: model m changed from revision 7 to 8 after the plan was made; make the plan again.", "", ""},
		"project_disabled": {failedWith(countersign.CodeProjectDisabled, "project p is disabled; an ADMIN enables it"), nobody, "fail",
			"The run failed at step 2: project p is disabled; an ADMIN enables it.", "", ""},
		"cancelled": {cancelledWith("cancelled: user:mara@x.example: called: off", ""), nobody, "idle",
			"Cancelled by mara@x.example: “called: off”", "Step 3 was not started.", ""},
		"cancelled on its way": {cancelledWith("cancelled: it was cancelled while step b was on its way", countersign.ConfirmedNotExecuted), nobody, "idle",
			"Cancelled while “Refund” was on its way; mara@x.example confirmed that it did not happen.", "", ""},
		"abandoned": {cancelledWith("abandoned: whether step b took effect stays unknown", countersign.Abandon), nobody, "idle",
			"Abandoned: it is unknown whether “Refund” was done.", "", ""},
	} {
		got := calloutOf(told(c.run), &countersign.Plan{}, c.by)
		detail := got.Detail
		if sentence := got.Sentence; sentence != c.sentence || !strings.Contains(detail, c.extra) || got.Class != "call--"+c.class || got.Href != c.href {
			t.Errorf("%s: %q, %q, %s, %q", name, sentence, detail, got.Class, got.Href)
		}
	}
}

func TestWordsOfEveryErrorOfAStep(t *testing.T) {
	for _, code := range []countersign.Code{
		countersign.CodeReceiverRefused, countersign.CodeOutputMissing, countersign.CodeExpectationNotMet, countersign.CodeNotSent, countersign.CodeOutcomeUnknown,
		countersign.CodeApprovalRejected, countersign.CodeApprovalExpired, countersign.CodeDrift, countersign.CodeProjectDisabled,
	} {
		r := told(failedWith(code, "message"))
		if reason, _ := failure(code, "message", r, 1); reason == "" || strings.HasSuffix(reason, ".") {
			t.Errorf("%s: %q", code, reason)
		}
	}
}

// mayHave is what is said of a side effect beside.
func mayHave(failed func(*countersign.Run)) func(*countersign.Run) {
	return func(r *countersign.Run) {
		failed(r)
		r.MayHaveHappened = true
	}
}

// TestWhoHasDecidedIsNotAskedAgain: the sentence says why somebody else must act.
func TestWhoHasDecidedIsNotAskedAgain(t *testing.T) {
	for code, want := range map[countersign.Code]string{
		countersign.CodeStateConflict: "You have decided already; somebody else must decide, too.",
		countersign.CodeSelfApproval:  "You requested this run, so someone else must decide.",
		countersign.CodeProjectScope:  "You can't decide this.",
	} {
		if got := BarredWords(countersign.Errorf(code, "")); got != want {
			t.Errorf("%s: %s", code, got)
		}
	}
}
