package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// The order of checks is 401, 403 role, 413, 400, then 404 and 403 scope, the idempotency replay, other 409, 503 (contract 2). Each test
// violates several at once and names the expected answer.

func TestAuthenticationComesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := w.As("")
	nobody.Put("/models/a%2Fb?x=1", padded(`{"bad`, limit+1)).Refused(t, "unauthenticated")
	nobody.Post("/runs", "").Refused(t, "unauthenticated")
	nobody.Get("/models/none?limit=0").Refused(t, "unauthenticated")
	nobody.Get("/tenants").Refused(t, "unauthenticated")
}

func TestTheRoleComesBeforeTheBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.viewer.Put("/models/a%2Fb?x=1", padded(`{"bad`, limit+1)).Refused(t, "role_required", "OPERATOR")
	w.viewer.Post("/runs", "").Refused(t, "role_required")
	w.viewer.Post("/models/none/suspend", doc{}).Refused(t, "role_required", "ADMIN")
	w.operator.Post("/approvals/none/decision", doc{}).Refused(t, "role_required", "APPROVER")
	w.viewer.Get("/metrics?x=1").Refused(t, "role_required")
	limited, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "projectIds": []string{shop}})
	limited.Post("/tokens", "").Refused(t, "project_scope")
	limited.Get("/audit?limit=0").Refused(t, "project_scope")
}

func TestTheSizeComesBeforeTheContent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.operator.Put("/models/a%2Fb?x=1", padded(`{"bad`, limit+1)).Refused(t, "payload_too_large")
	w.operator.Post("/runs", padded(`{"bad`, limit+1)).Refused(t, "payload_too_large")
	w.operator.Post("/models/none/compile-plan", padded(`{`, limit+1), "Content-Type: text/plain").Refused(t, "payload_too_large")
}

func TestTheContentComesBeforeTheResource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limited, _ := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}, "projectIds": []string{"default-other"}})
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	limited.Post("/runs/"+id+"/cancel", doc{}).Refused(t, "invalid_request")
	limited.Post("/runs/"+id+"/cancel", doc{"reason": " "}).Refused(t, "invalid_request", "reason")
	limited.Post("/runs/"+id+"/reconcile", doc{"resolution": "ABANDON", "evidence": " "}).Refused(t, "invalid_request", "evidence")
	limited.Post("/approvals/none/decision", doc{"decision": "APPROVED", "reason": ""}).Refused(t, "invalid_request", "reason")
	limited.Put("/projects/"+shop, bare("ftp://x")).Refused(t, "invalid_request")
	limited.Put("/projects/"+shop, bare("http://elsewhere.example")).Refused(t, "origin_not_allowed")
	w.operator.Post("/models/none/simulate", doc{}).Refused(t, "invalid_request")
	w.operator.Post("/runs", doc{"planId": "none"}).Refused(t, "idempotency_key_required")
	w.operator.Post("/models/none/simulate?x=1", doc{"scenarioId": "s"}).Refused(t, "invalid_request")
	w.tenantAdmin.Post("/models/none/suspend", doc{"reason": " "}).Refused(t, "invalid_request")
}

func TestTheResourceAndItsScopeComeBeforeConflicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limited, _ := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}, "projectIds": []string{"default-other"}})
	done := w.run(t, step("n", "note", nil))
	w.reaches(t, done, "COMPLETED")
	limited.Post("/runs/"+done+"/cancel", doc{"reason": "r"}).Refused(t, "project_scope")
	limited.Post("/runs/"+done+"/reconcile", reconcile("ABANDON", nil)).Refused(t, "project_scope")
	limited.Post("/runs/"+done+"/probe", doc{"stepId": "n"}).Refused(t, "project_scope")
	limited.Post("/projects/"+shop+"/enable", doc{"expectedRevision": 9}).Refused(t, "project_scope")
	limited.Put("/projects/"+shop, harness.With(harness.Project(w.shop.Origin()), "expectedRevision", 9)).Refused(t, "project_scope")
	invalid := w.operator.Post("/plans", planOf(step("a", "nothing", nil))).OK(t).At("id").Text()
	limited.Post("/runs", doc{"planId": invalid}, key()).Refused(t, "project_scope")
}

func TestTheReplayComesBeforeOtherConflictsAndCapacity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	plan := w.ready(t, planOf(step("n", "note", nil)))
	other := w.ready(t, planOf(step("n", "note", doc{"x": 1})))
	w.reaches(t, w.operator.Post("/runs", doc{"planId": plan}, keyed("k")).OK(t).At("id").Text(), "COMPLETED")
	_, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	defer close(gate)
	w.operator.Post("/runs", doc{"planId": plan}, keyed("k")).OK(t)
	w.operator.Post("/runs", doc{"planId": other}, keyed("k")).Refused(t, "idempotency_conflict")
	w.tenantAdmin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t)
	w.operator.Post("/runs", doc{"planId": other}, keyed("k")).Refused(t, "idempotency_conflict")
	w.operator.Post("/runs", doc{"planId": other}, keyed("free")).Refused(t, "project_disabled") // before capacity
}

// TestAUsedKeyIsToldBeforeWhatIsUnknown: whoever sends one key with other content has mixed up two
// pieces of work, whether or not what it names exists.
func TestAUsedKeyIsToldBeforeWhatIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.operator.Post("/runs", doc{"planId": w.ready(t, planOf(step("n", "note", nil)))}, keyed("k")).OK(t).At("id").Text()
	rehearser, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "modes": []string{"DRY_RUN"}})
	for path, body := range map[string]doc{
		"/runs":                        {"planId": "none"},
		"/agents/default-x/runs":       harness.With(agentRun("LIVE", "note", nil), "expectation", doc{"field": "ok", "equals": true}),
		"/teams/none/runs":             {"expectedRevision": 1, "mode": "LIVE"},
		"/projects/default-ghost/runs": {"capability": "note", "mode": "LIVE"},
	} {
		w.operator.Post(path, body, keyed("k")).Refused(t, "idempotency_conflict", id)
		w.operator.Post(path, body, key()).Refused(t, "not_found")
		if path != "/runs" { // a plan has the mode
			rehearser.Post(path, body, keyed("k")).Refused(t, "role_required")
		}
		w.operator.Post(path, harness.With(body, "other", 1), keyed("k")).Refused(t, "invalid_request")
	}
}
