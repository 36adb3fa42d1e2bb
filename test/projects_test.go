package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// bare is a project without authentication, and so with reads only.
func bare(origin string) doc {
	return doc{"name": "Bare", "adapter": "HTTP_JSON", "baseUrl": origin, "capabilities": []any{harness.Capability("read", "GET", "/x", doc{})}}
}

func TestANewProjectIsDisabledAndAnEditDisablesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.Project(w.shop.Origin())
	made := w.tenantAdmin.Put("/projects/default-new", harness.With(p, "enabled", true)).OK(t)
	made.Is(t, "id", "default-new").Is(t, "revision", 1).Is(t, "enabled", false).Is(t, "secretConfigured", true).Is(t, "baseUrl", w.shop.Origin())
	for _, field := range []string{"createdAt", "updatedAt"} {
		if made.At(field).Text() == "" {
			t.Errorf("%s is missing", field)
		}
	}
	edit := harness.With(harness.With(harness.With(p, "name", "Other"), "expectedRevision", 1), "enabled", true)
	w.tenantAdmin.Put("/projects/"+shop, edit).OK(t).Is(t, "revision", 2).Is(t, "enabled", false).Is(t, "name", "Other").Is(t, "health", harness.Absent)
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "revision", 2).Is(t, "enabled", false)
}

func TestAPutWithoutAnyDifferenceIsAnEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	same := harness.With(harness.Project(w.shop.Origin()), "expectedRevision", 1)
	w.tenantAdmin.Put("/projects/"+shop, same).OK(t).Is(t, "revision", 2).Is(t, "enabled", false)
}

func TestAPutThatDiffersOnlyByEnabledIsTheToggle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.With(harness.Project(w.shop.Origin()), "expectedRevision", 1)
	w.tenantAdmin.Put("/projects/"+shop, harness.With(p, "enabled", false)).OK(t).Is(t, "revision", 1).Is(t, "enabled", false)
	w.tenantAdmin.Put("/projects/"+shop, harness.With(p, "enabled", true)).OK(t).Is(t, "revision", 1).Is(t, "enabled", true)
	w.tenantAdmin.Put("/projects/"+shop, harness.With(harness.With(p, "enabled", false), "expectedRevision", 2)).Refused(t, "revision_conflict", "revision 1")
	slash := harness.With(harness.With(p, "enabled", false), "baseUrl", strings.ToUpper(w.shop.Origin())+"/") // the same origin
	w.tenantAdmin.Put("/projects/"+shop, slash).OK(t).Is(t, "revision", 1).Is(t, "enabled", false)
	w.tenantAdmin.Put("/projects/default-new", harness.Project(w.shop.Origin())).OK(t)
	w.tenantAdmin.Put("/projects/default-new", harness.With(p, "enabled", true)).Refused(t, "health_check_required")
}

func TestProjectsAreEditedByCompareAndSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.Project(w.shop.Origin())
	for _, expected := range []any{nil, 0, 2} {
		edit := harness.With(p, "name", "Other")
		if expected != nil {
			edit["expectedRevision"] = expected
		}
		w.tenantAdmin.Put("/projects/"+shop, edit).Refused(t, "revision_conflict", "revision 1")
	}
	w.tenantAdmin.Put("/projects/default-none", harness.With(p, "expectedRevision", 1)).Refused(t, "revision_conflict")
	for _, path := range []string{"/enable", "/disable"} {
		w.tenantAdmin.Post("/projects/"+shop+path, doc{"expectedRevision": 2}).Refused(t, "revision_conflict", "revision 1")
		w.tenantAdmin.Post("/projects/"+shop+path, doc{}).Refused(t, "invalid_request", "expectedRevision")
		w.tenantAdmin.Post("/projects/default-none"+path, doc{"expectedRevision": 1}).Refused(t, "not_found")
	}
}

func TestEnablingNeedsAHealthyCheckOfThePresentRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.Project(w.shop.Origin())
	enable := func() *harness.Answer {
		return w.tenantAdmin.Post("/projects/default-new/enable", doc{"expectedRevision": 1})
	}
	w.tenantAdmin.Put("/projects/default-new", p).OK(t)
	enable().Refused(t, "health_check_required", "health-check")
	w.shop.On("GET", "/health", harness.Answering(503, `{}`))
	check := w.tenantAdmin.Post("/projects/default-new/health-check", nil).OK(t)
	check.Is(t, "projectId", "default-new").Is(t, "revision", 1).Is(t, "healthy", false).Is(t, "statusCode", 503)
	if check.At("error").Text() == "" || check.At("checkedAt").Text() == "" || !check.At("latencyMs").Exists() {
		t.Error(check)
	}
	enable().Refused(t, "health_check_required")
	w.shop.On("GET", "/health", harness.Typed(204, "text/plain", ""))
	w.tenantAdmin.Post("/projects/default-new/health-check", nil).OK(t).Is(t, "healthy", true).Is(t, "statusCode", 204).Is(t, "error", harness.Absent)
	enable().OK(t).Is(t, "enabled", true).Is(t, "revision", 1)
	enable().OK(t).Is(t, "enabled", true)
	w.shop.On("GET", "/health", harness.Redirecting(302, "/elsewhere"))
	w.tenantAdmin.Post("/projects/default-new/health-check", nil).OK(t).Is(t, "healthy", false).Is(t, "statusCode", 302)
	w.viewer.Get("/projects/default-new").OK(t).Is(t, "enabled", true) // connectivity only
	w.tenantAdmin.Post("/projects/default-new/disable", doc{"expectedRevision": 1, "reason": "r"}).OK(t).Is(t, "enabled", false).Is(t, "revision", 1)
	enable().Refused(t, "health_check_required") // only the latest check counts
	w.tenantAdmin.Put("/projects/"+shop, harness.With(harness.With(p, "name", "N"), "expectedRevision", 1)).OK(t)
	w.tenantAdmin.Post("/projects/"+shop+"/enable", doc{"expectedRevision": 2}).Refused(t, "health_check_required")
	w.tenantAdmin.Post("/projects/default-none/health-check", nil).Refused(t, "not_found")
}

func TestAHealthCheckReadsTheHealthPathAsTheProjectWould(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.shop.Seen("GET", "/health")[0]
	if err := harness.CheckSignature(q, harness.Secret); err != nil {
		t.Error(err)
	}
	if q.Header.Get("X-Runtime-Run-Id") != "health-check" || q.Header.Get("X-Runtime-Step-Id") != "health-check" || q.Header.Get("Idempotency-Key") == "" {
		t.Errorf("the headers are %v", q.Header)
	}
	w.tenantAdmin.Post("/projects/"+shop+"/health-check", nil).OK(t)
	if again := w.shop.Seen("GET", "/health")[1]; again.Header.Get("Idempotency-Key") == q.Header.Get("Idempotency-Key") {
		t.Error("two checks have one key")
	}
	w.register(t, "default-bare", bare(w.shop.Origin())) // healthPath is / by default
	if len(w.shop.Seen("GET", "/")) != 1 {
		t.Error("/ was not asked for")
	}
}

func TestAReceiverThatCannotBeReachedIsUnhealthy(t *testing.T) {
	t.Parallel()
	const nobody = "http://127.0.0.1:1"
	s := harness.Start(t, harness.Set("CONNECTION_ORIGINS", nobody))
	s.Admin.Put("/projects/default-gone", bare(nobody)).OK(t)
	check := s.Admin.Post("/projects/default-gone/health-check", nil).OK(t).Is(t, "healthy", false).Is(t, "statusCode", 0)
	if check.At("error").Text() == "" {
		t.Error(check)
	}
}

func TestLocalEchoIsAlwaysHealthy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-echo", doc{"name": "Echo", "adapter": "LOCAL_ECHO", "capabilities": []any{harness.Capability("say", "POST", "/say", doc{})}})
}

func TestAProjectIDBeginsWithItsTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.Project(w.shop.Origin())
	for _, id := range []string{"shop", "acme-shop", "default", "default-", "defaultx-shop", "Default-shop"} {
		w.tenantAdmin.Put("/projects/"+id, p).Refused(t, "invalid_request", "default-")
		w.tenantAdmin.Get("/projects/"+id).Refused(t, "not_found")
		w.tenantAdmin.Post("/projects/"+id+"/health-check", nil).Refused(t, "not_found")
		w.tenantAdmin.Post("/projects/"+id+"/enable", doc{"expectedRevision": 1}).Refused(t, "not_found")
	}
}

func TestNoEditUnderAnUnfinishedRunWhichIsNamedWithWhatMovesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	waiting := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	approval := w.approval(t, waiting).At("id").Text()
	uncertain := w.uncertain(t).At("id").Text()
	edit := harness.With(harness.With(harness.Project(w.shop.Origin()), "name", "N"), "expectedRevision", 1)
	w.tenantAdmin.Put("/projects/"+shop, edit).Refused(t, "project_in_use", waiting, "/approvals/"+approval+"/decision", uncertain, "/runs/"+uncertain+"/reconcile", "APPROVER")
	w.tenantAdmin.Put("/projects/"+shop, harness.With(edit, "expectedRevision", 3)).Refused(t, "revision_conflict")
	w.operator.Post("/runs/"+waiting+"/cancel", doc{"reason": "r"}).OK(t)
	w.approver.Post("/runs/"+uncertain+"/reconcile", doc{"resolution": "ABANDON", "evidence": "e"}).OK(t)
	w.tenantAdmin.Put("/projects/"+shop, edit).OK(t).Is(t, "revision", 2)
}

func TestAtMostTenUnfinishedRunsAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	for range 12 {
		w.approval(t, w.start(t, plan))
	}
	edit := harness.With(harness.With(harness.Project(w.shop.Origin()), "name", "N"), "expectedRevision", 1)
	if message := w.tenantAdmin.Put("/projects/"+shop, edit).Refused(t, "project_in_use", "2 more"); strings.Count(message, "run-") != 10 {
		t.Error(message)
	}
}

func TestDisablingUnderAnUnfinishedRunIsPossibleAndEndsItsNextStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	id := w.start(t, plan)
	approval := w.approval(t, id).At("id").Text()
	w.tenantAdmin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t).Is(t, "enabled", false)
	w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "APPROVED", "reason": "r"}).OK(t)
	run := w.reaches(t, id, "FAILED").Has(t, "error", "project_disabled: ").Is(t, "steps.0.status", "FAILED").Is(t, "steps.0.error.code", "project_disabled")
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d requests left: %s", n, run)
	}
	w.operator.Post("/runs", doc{"planId": plan}, key()).Refused(t, "project_disabled", shop)
	w.enable(t, shop, 1)
	w.approval(t, w.start(t, plan)) // the project is usable again
}
