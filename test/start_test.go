package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func keyed(k string) harness.Header { return harness.Header("Idempotency-Key: " + k) }

func TestAStartIsAcceptedWithEveryStepListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("a", "refund", doc{"orderId": "o"}), bound("b", "note", "text", "a", "ok")))
	a := w.operator.Post("/runs", doc{"planId": plan}, keyed("one"))
	if a.Status != 202 || a.Header.Get("Idempotency-Replayed") != "" {
		t.Error(a, a.Header)
	}
	run := a.OK(t).Is(t, "requestedByName", "test").Is(t, "planId", plan).Is(t, "status", "READY").Is(t, "mode", "LIVE").Is(t, "idempotencyKey", "one").Is(t, "cancelRequested", false).Is(t, "unverifiedSteps", 0)
	run.Is(t, "planSnapshot.id", plan).Is(t, "planDigest", run.At("planSnapshot.planDigest"))
	id := run.At("id").Text()
	if strings.Contains(id, ".") || !strings.HasPrefix(run.At("requestedBy").Text(), "token:") {
		t.Error(run)
	}
	for i, s := range []string{"a", "b"} {
		path := "steps." + string(rune('0'+i)) + "."
		run.Is(t, path+"id", s).Is(t, path+"status", "PENDING").Is(t, path+"attempt", 0).Is(t, path+"idempotencyKey", id+"."+s).Is(t, path+"projectId", shop)
		run.Is(t, path+"request", harness.Absent).Is(t, path+"sideEffect", true)
	}
	run.Is(t, "steps.0.approvalRequired", true).Is(t, "steps.1.approvalRequired", false)
	run.Is(t, "steps.1.dependsOn", []string{"a"}).Is(t, "steps.1.input", doc{"text": doc{"$from": "a.ok"}})
}

func TestRepeatingAStartFindsTheSameRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("n", "note", nil)))
	id := w.operator.Post("/runs", doc{"planId": plan}, keyed("k")).OK(t).At("id").Text()
	w.reaches(t, id, "COMPLETED")
	again := w.operator.Post("/runs", `{ "planId" : "`+plan+`" }`, keyed("k"))
	again.OK(t).Is(t, "id", id).Is(t, "status", "COMPLETED")
	if again.Status != 202 || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Error(again.Status, again.Header)
	}
	w.operator.Aliased().Post("/runs", doc{"planId": plan}, keyed("k")).OK(t).Is(t, "id", id)
	w.principal(t, "OPERATOR").Post("/runs", doc{"planId": plan}, keyed("k")).OK(t).Is(t, "id", id) // one namespace a tenant
	other := w.ready(t, planOf(step("n", "note", nil)))
	w.operator.Post("/runs", doc{"planId": other}, keyed("k")).Refused(t, "idempotency_conflict", id)
	if n := len(w.shop.Seen("POST", "/notes")); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
	w.viewer.Get("/runs").OK(t).Is(t, "total", 1)
}

func TestARepeatFindsItsRunWhateverHasChangedSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	gate := make(chan struct{})
	defer close(gate)
	w.shop.On("GET", "/patient", harness.After(gate, harness.Answering(200, `{}`)))
	plan := w.ready(t, planOf(step("p", "patient", nil)))
	id := w.operator.Post("/runs", doc{"planId": plan}, keyed("k")).OK(t).At("id").Text()
	w.shop.Await(t, "GET", "/patient", 1)
	w.operator.Post("/runs", doc{"planId": plan}, keyed("other")).Refused(t, "capacity")
	w.operator.Post("/runs", doc{"planId": plan}, keyed("k")).OK(t).Is(t, "id", id)
	w.tenantAdmin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t)
	w.tenantAdmin.Post("/models/refund/suspend", doc{"reason": "r"}).OK(t)
	w.operator.Post("/runs", doc{"planId": plan}, keyed("k")).OK(t).Is(t, "id", id)
}

func TestARefusedStartDoesNotBurnItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("n", "note", nil)))
	w.tenantAdmin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t)
	w.operator.Post("/runs", doc{"planId": plan}, keyed("k")).Refused(t, "project_disabled")
	w.operator.Post("/runs", doc{"planId": "none"}, keyed("k")).Refused(t, "not_found")
	w.viewer.Post("/runs", doc{"planId": plan}, keyed("k")).Refused(t, "role_required")
	w.operator.Post("/runs", doc{"planId": plan, "x": 1}, keyed("k")).Refused(t, "invalid_request")
	other := w.ready(t, harness.With(planOf(step("n", "note", nil)), "mode", "DRY_RUN"))
	a := w.operator.Post("/runs", doc{"planId": other}, keyed("k"))
	if a.OK(t); a.Header.Get("Idempotency-Replayed") != "" {
		t.Error(a.Header)
	}
}

func TestAnIdempotencyKeyIs1To255VisibleCharacters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, harness.With(planOf(step("n", "note", nil)), "mode", "DRY_RUN"))
	start := func(headers ...harness.Header) *harness.Answer {
		return w.operator.Post("/runs", doc{"planId": plan}, headers...)
	}
	start().Refused(t, "idempotency_key_required", "Idempotency-Key")
	start("Idempotency-Key:").Refused(t, "idempotency_key_required")
	for _, bad := range []string{strings.Repeat("k", 256), "a b", "a\tb", "ümlaut"} {
		start(keyed(bad)).Refused(t, "invalid_request", "Idempotency-Key")
	}
	start(keyed("a"), keyed("b")).Refused(t, "invalid_request", "Idempotency-Key")
	for _, good := range []string{"k", strings.Repeat("k", 255), `!"#$%&'()*+,-./:;<=>?@[\]^_{|}~`} {
		start(keyed(good)).OK(t).Is(t, "idempotencyKey", good)
	}
}

func TestAPlanIDThatIsNoIDIsRefusedAsSuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, bad := range []string{"", "a b", "../x", "-a", strings.Repeat("x", 129)} {
		w.operator.Post("/runs", doc{"planId": bad}, key()).Refused(t, "invalid_request", "planId")
	}
	w.operator.Post("/runs", doc{"planId": "nothing"}, key()).Refused(t, "not_found")
}

func TestAKeyWhoseRunIsOutOfScopeIsAConflictWithoutItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-two", harness.Project(w.shop.Origin()))
	mine := w.ready(t, planOf(harness.With(step("n", "note", nil), "projectId", "default-two")))
	theirs := w.ready(t, planOf(step("n", "note", nil)))
	id := w.operator.Post("/runs", doc{"planId": theirs}, keyed("k")).OK(t).At("id").Text()
	limited, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "projectIds": []string{"default-two"}})
	if message := limited.Post("/runs", doc{"planId": mine}, keyed("k")).Refused(t, "idempotency_conflict"); strings.Contains(message, id) {
		t.Error(message)
	}
	limited.Post("/runs", doc{"planId": theirs}, keyed("k")).Refused(t, "project_scope")
}

func TestKeysOfTwoTenantsNeverMeet(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, listedFor("default", "acme"))
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	admin, _ := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR"}, "tenantId": "acme"})
	admin.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	admin.Put("/projects/acme-shop", harness.Project(w.shop.Origin())).OK(t)
	dry := harness.With(planOf(step("n", "note", nil)), "mode", "DRY_RUN")
	mine := w.operator.Post("/runs", doc{"planId": w.ready(t, harness.With(dry, "id", "plan"))}, keyed("k")).OK(t).At("id").Text()
	admin.Post("/plans", harness.With(harness.With(dry, "id", "plan"), "steps.0.projectId", "acme-shop")).OK(t).Is(t, "status", "READY")
	theirs := admin.Post("/runs", doc{"planId": "plan"}, keyed("k"))
	if theirs.OK(t).At("id").Text() == mine || theirs.Header.Get("Idempotency-Replayed") != "" {
		t.Error(theirs)
	}
	admin.Get("/runs/"+mine).Refused(t, "not_found")
}

// TestTheReasonOfAStartIsShownToWhoDecidesAndAudited: what a caller says of a start stands
// on the run, on its approvals and in the audit log, and is part of what its key repeats.
func TestTheReasonOfAStartIsShownToWhoDecidesAndAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("a", "refund", doc{"orderId": "o"})))
	const why = "the first refund was one cent short"
	start := doc{"planId": plan, "reason": why}
	id := w.operator.Post("/runs", start, keyed("k")).OK(t).Is(t, "reason", why).At("id").Text()
	w.reaches(t, id, "WAITING_APPROVAL")
	w.operator.Get("/approvals?runId="+id).OK(t).Is(t, "items.0.runReason", why)
	if said := w.Admin.Get("/audit?action=runs.start&subject=run/" + id).OK(t).At("items.0.reason").Text(); !strings.HasSuffix(said, ": "+why) {
		t.Errorf("the audit log says %q", said)
	}
	w.operator.Post("/runs", start, keyed("k")).OK(t).Is(t, "id", id)
	w.operator.Post("/runs", doc{"planId": plan}, keyed("k")).Refused(t, "idempotency_conflict", id)
	w.operator.Post("/runs", doc{"planId": plan, "reason": strings.Repeat("x", 1001)}, keyed("l")).Refused(t, "invalid_request", "reason")
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "reason", why)
}
