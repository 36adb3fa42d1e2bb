package test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

var approved = doc{"decision": "APPROVED", "reason": "looks right"}

func TestARejectionFailsTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}), step("n", "note", nil))
	approval := w.approval(t, id).At("id").Text()
	decided := w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "REJECTED", "reason": "too much"}).OK(t)
	decided.Is(t, "status", "REJECTED").Is(t, "decisionReason", "too much").Has(t, "decidedBy", "token:")
	if decided.At("decidedAt").Text() == "" {
		t.Error(decided)
	}
	run := w.reaches(t, id, "FAILED").Has(t, "error", "approval_rejected: ", "too much")
	run.Is(t, "steps.0.status", "FAILED").Is(t, "steps.0.error.code", "approval_rejected").Is(t, "steps.1.status", "SKIPPED")
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestAnApprovalIsDecidedOnceAndWithAReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	approval := "/approvals/" + w.approval(t, id).At("id").Text()
	for _, bad := range []doc{
		{"decision": "APPROVED"}, {"decision": "APPROVED", "reason": ""}, {"decision": "APPROVED", "reason": " \n\t"}, {"reason": "r"}, {"decision": "PENDING", "reason": "r"},
		{"decision": "approved", "reason": "r"}, {"decision": "APPROVED", "reason": 1},
	} {
		w.approver.Post(approval+"/decision", bad).Refused(t, "invalid_request")
	}
	w.approver.Post(approval+"/decision", approved).OK(t)
	for _, again := range []doc{approved, {"decision": "REJECTED", "reason": "r"}} {
		w.approver.Post(approval+"/decision", again).Refused(t, "state_conflict", "APPROVED")
	}
	w.reaches(t, id, "COMPLETED")
	w.approver.Post("/approvals/none/decision", approved).Refused(t, "not_found")
}

func TestPoliciesSayWhichCallsAskForApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []any
	cases := []struct {
		name, method string
		more         doc
		asks, effect bool
	}{
		{"get", "GET", doc{}, false, false},
		{"get-always", "GET", doc{"approval": "ALWAYS"}, true, false},
		{"get-risk", "GET", doc{"approval": "RISK_BASED"}, false, false},
		{"get-effect", "GET", doc{"sideEffect": true}, true, true},
		{"get-effect-risk", "GET", doc{"sideEffect": true, "approval": "RISK_BASED"}, true, true},
		{"post", "POST", doc{}, true, true},
		{"post-none", "POST", doc{"approval": "NONE"}, false, true},
		{"post-risk", "POST", doc{"approval": "RISK_BASED"}, true, true},
		{"post-risk-idempotent", "POST", doc{"approval": "RISK_BASED", "idempotent": true}, false, true},
		{"post-idempotent", "POST", doc{"idempotent": true}, true, true},
		{"post-read", "POST", doc{"sideEffect": false}, false, false},
		{"post-read-risk", "POST", doc{"sideEffect": false, "approval": "RISK_BASED"}, false, false},
		{"post-read-always", "POST", doc{"sideEffect": false, "approval": "ALWAYS"}, true, false},
		{"delete-risk-idempotent", "DELETE", doc{"approval": "RISK_BASED", "idempotent": true}, true, true},
		{"put-risk-idempotent", "PUT", doc{"approval": "RISK_BASED", "idempotent": true}, false, true},
		{"patch-always-idempotent", "PATCH", doc{"approval": "ALWAYS", "idempotent": true}, true, true},
	}
	for _, c := range cases {
		list = append(list, harness.Capability(c.name, c.method, "/"+c.name, c.more))
	}
	w.register(t, "default-policy", harness.With(harness.Project(w.shop.Origin()), "capabilities", list))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			id := w.run(t, harness.With(step("s", c.name, nil), "projectId", "default-policy"))
			if c.asks {
				w.approve(t, id)
			}
			w.reaches(t, id, "COMPLETED").Is(t, "steps.0.approvalRequired", c.asks).Is(t, "steps.0.sideEffect", c.effect)
			if total := w.viewer.Get("/approvals?runId=" + id).OK(t).At("total").Int(); (total == 1) != c.asks {
				t.Errorf("%d approvals were asked for", total)
			}
		})
	}
}

func TestAnUndecidedApprovalExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("APPROVAL_TTL", "1s"))
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}), step("n", "note", nil))
	harness.Until(t, "the run to end", func() bool { return w.viewer.Get("/runs/" + id).OK(t).At("completedAt").Exists() })
	run := w.reaches(t, id, "FAILED").Has(t, "error", "approval_expired: ").Is(t, "steps.0.error.code", "approval_expired").Is(t, "steps.0.status", "FAILED").Is(t, "steps.1.status", "SKIPPED")
	expired := w.viewer.Get("/approvals/"+run.At("approvalId").Text()).OK(t).Is(t, "status", "REJECTED").Is(t, "decidedBy", "system").Has(t, "decisionReason", "approval_expired")
	asked, expires, decided := instant(t, expired, "requestedAt"), instant(t, expired, "expiresAt"), instant(t, expired, "decidedAt")
	if expires.Sub(asked) != time.Second || decided.Before(expires) {
		t.Errorf("asked for at %s, expires at %s, rejected at %s", asked, expires, decided)
	}
	w.approver.Post("/approvals/"+expired.At("id").Text()+"/decision", approved).Refused(t, "approval_expired")
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "revision", run.At("revision"))
}

func TestAnApprovalThatExpiresBeforeItsStepBeginsIsAskedForAnew(t *testing.T) {
	t.Parallel()
	for _, ttl := range []string{"6s", "20s", "45s"} { // less than the call in flight may take
		if askedForAnew(t, ttl) {
			return
		}
		t.Logf("an approval could not be decided in %s; once more with longer", ttl)
	}
	t.Fatal("no approval was decided in time")
}

// askedForAnew lets a decided approval expire while its step waits for a slot. It returns false if the machine was too slow
// to decide in time.
func askedForAnew(t *testing.T, ttl string) bool {
	t.Helper()
	w := newWorld(t, harness.Set("APPROVAL_TTL", ttl), harness.Set("MAX_ACTIVE_RUNS", "1"))
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	first := w.asksOnce(t, id, "")
	_, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	if !w.decided(first) {
		return false
	}
	second := w.asksOnce(t, id, first)
	if w.viewer.Get("/runs/"+id).OK(t).Is(t, "steps.0.attempt", 0); !w.decided(second) {
		return false
	}
	close(gate)
	w.asksOnce(t, id, second)
	run := w.viewer.Get("/runs/" + id).OK(t)
	if run.At("status").Text() != "COMPLETED" {
		return false // the second one expired as well
	}
	run.Is(t, "steps.0.attempt", 1)
	return true
}

// asksOnce waits until a run has ended or has another approval than before, and returns that approval's id.
func (w *world) asksOnce(t *testing.T, runID, before string) (id string) {
	t.Helper()
	harness.Until(t, "a new approval of run "+runID, func() bool {
		run := w.viewer.Get("/runs/" + runID).OK(t)
		id = run.At("approvalId").Text()
		if run.At("completedAt").Exists() {
			return true
		}
		return id != before && run.At("status").Text() == "WAITING_APPROVAL" && run.At("waitingFor.kind").Text() == "approval"
	})
	return id
}

// decided approves, and reports whether that was in time.
func (w *world) decided(approval string) bool {
	return w.approver.Post("/approvals/"+approval+"/decision", approved).Status == 200
}
