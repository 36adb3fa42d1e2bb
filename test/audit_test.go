package test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// since returns the records after the first n, oldest first, also as `action outcome`.
func (w *world) since(t *testing.T, n int) (actions []string, records []json) {
	t.Helper()
	page := w.Admin.Get("/audit?limit=200").OK(t)
	items := page.At("items").Items()
	slices.Reverse(items)
	for _, r := range items {
		if r.At("seq").Int() >= n {
			actions, records = append(actions, r.At("action").Text()+" "+r.At("outcome").Text()), append(records, r)
		}
	}
	return actions, records
}

func (w *world) recorded(t *testing.T) int {
	t.Helper()
	return w.Admin.Get("/audit?limit=1").OK(t).At("total").Int()
}

func TestEachChangeHasExactlyOneRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, token := w.token(t, doc{"roles": []string{"VIEWER"}})
	tokenID := token.At("id").Text()
	for _, c := range []struct {
		change          func() *harness.Answer
		action, subject string
		before, after   string
	}{
		{func() *harness.Answer { return w.operator.Put("/models/m", doc{"document": harness.Model("m")}) }, "models.write", "model/m", "", "revision 1"},
		{func() *harness.Answer {
			return w.operator.Put("/models/m", doc{"document": harness.Model("m"), "expectedRevision": 1})
		}, "models.write", "model/m", "revision 1", "revision 2"},
		{func() *harness.Answer { return w.tenantAdmin.Post("/models/m/suspend", doc{"reason": "why"}) }, "models.suspend", "model/m", "revision 2", "revision 3, suspended"},
		{func() *harness.Answer { return w.tenantAdmin.Post("/models/m/resume", doc{"reason": "why"}) }, "models.resume", "model/m", "revision 3, suspended", "revision 3"},
		{func() *harness.Answer {
			return w.tenantAdmin.Put("/projects/default-p", harness.Project(w.shop.Origin()))
		}, "projects.write", "project/default-p", "", "revision 1"},
		{func() *harness.Answer { return w.tenantAdmin.Post("/projects/default-p/health-check", nil) }, "projects.health_check", "project/default-p", "", "healthy"},
		{func() *harness.Answer {
			return w.tenantAdmin.Post("/projects/default-p/conformance", conformanceOf("note", "https://sandbox.example", nil))
		}, "projects.conformance", "project/default-p", "note declared", "note proven"},
		{func() *harness.Answer {
			return w.tenantAdmin.Post("/projects/default-p/enable", doc{"expectedRevision": 1})
		}, "projects.toggle", "project/default-p", "disabled", "enabled"},
		{func() *harness.Answer {
			return w.tenantAdmin.Post("/projects/default-p/disable", doc{"expectedRevision": 1, "reason": "why"})
		}, "projects.toggle", "project/default-p", "enabled", "disabled"},
		{func() *harness.Answer { return w.operator.Post("/plans", harness.With(planOf(), "id", "p1")) }, "plans.create", "plan/p1", "", "INVALID"},
		{func() *harness.Answer { return w.tenantAdmin.Delete("/tokens/" + tokenID) }, "tokens.revoke", "token/" + tokenID, "valid", "revoked"},
	} {
		n := w.recorded(t)
		answer := c.change()
		answer.OK(t)
		actions, records := w.since(t, n)
		if diff := cmp.Diff([]string{c.action + " done"}, actions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", answer, diff)
			continue
		}
		r := records[0].Is(t, "subject", c.subject).Is(t, "before", c.before).Is(t, "after", c.after).Is(t, "requestId", answer.Header.Get("X-Request-Id")).Is(t, "seq", n)
		if !strings.HasPrefix(r.At("actor").Text(), "token:") || r.At("at").Text() == "" || len(r.At("hash").Text()) != 64 {
			t.Error(r)
		}
	}
}

func TestWhatChangesNothingIsNotRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := harness.With(planOf(step("n", "note", nil)), "id", "p")
	w.operator.Post("/plans", plan).OK(t)
	done := w.operator.Post("/runs", doc{"planId": "p"}, keyed("k")).OK(t).At("id").Text()
	w.reaches(t, done, "COMPLETED")
	n := w.recorded(t)
	w.operator.Post("/plans", plan).OK(t)
	w.operator.Post("/runs", doc{"planId": "p"}, keyed("k")).OK(t)
	w.tenantAdmin.Post("/projects/"+shop+"/enable", doc{"expectedRevision": 1}).OK(t)
	w.tenantAdmin.Post("/models/refund/resume", doc{"reason": "r"}).OK(t)
	w.viewer.Post(simulate, doc{"scenarioId": "small"}).OK(t)
	w.viewer.Get("/runs").OK(t)
	w.viewer.Put("/models/x", "nonsense").Refused(t, "role_required") // the one refusal that is recorded
	w.operator.Put("/models/x", "nonsense").Refused(t, "invalid_json")
	w.operator.Post("/runs", doc{"planId": "none"}, key()).Refused(t, "not_found")
	w.As("garbage").Post("/runs", doc{"planId": "p"}).Refused(t, "unauthenticated")
	w.viewer.Get("/tokens").Refused(t, "role_required") // a read
	actions, _ := w.since(t, n)
	if diff := cmp.Diff([]string{"models.write refused: role_required"}, actions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRefusedWritesAreRecordedWithTheirCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limited, _ := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}, "projectIds": []string{"default-other"}})
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	id := w.start(t, plan)
	approval := w.approval(t, id).At("id").Text()
	both := w.principal(t, "OPERATOR", "APPROVER")
	mine := both.Post("/runs", doc{"planId": plan}, key()).OK(t).At("id").Text()
	ask := w.approval(t, mine).At("id").Text()
	w.shop.On("POST", "/effect", harness.HangingUp())
	uncertain := w.run(t, expecting(step("a", "effect", nil), "id", "r-1"))
	w.reaches(t, uncertain, "RECOVERY_REQUIRED")
	for _, c := range []struct {
		try             func() *harness.Answer
		action, subject string
		code            string
	}{
		{func() *harness.Answer { return w.viewer.Post("/runs", doc{"planId": plan}, key()) }, "runs.start", "plan", "role_required"},
		{func() *harness.Answer { return w.viewer.Post("/approvals/"+approval+"/decision", approved) }, "approvals.decide", "run/" + id, "role_required"},
		{func() *harness.Answer { return limited.Post("/runs", doc{"planId": plan}, key()) }, "runs.start", "plan/" + plan, "project_scope"},
		{func() *harness.Answer { return limited.Post("/approvals/"+approval+"/decision", approved) }, "approvals.decide", "run/" + id, "project_scope"},
		{func() *harness.Answer { return limited.Post("/runs/"+id+"/cancel", doc{"reason": "r"}) }, "runs.cancel", "run/" + id, "project_scope"},
		{func() *harness.Answer { return limited.Post("/projects/"+shop+"/health-check", nil) }, "projects.health_check", "project/" + shop, "project_scope"},
		{func() *harness.Answer { return limited.Post("/tokens", doc{}) }, "tokens.create", "token", "project_scope"},
		{func() *harness.Answer { return both.Post("/approvals/"+ask+"/decision", approved) }, "approvals.decide", "run/" + mine, "self_approval"},
		{func() *harness.Answer {
			return w.operator.Put("/models/refund", doc{"document": harness.Model("refund")})
		}, "models.write", "model/refund", "revision_conflict"},
		{func() *harness.Answer {
			return w.tenantAdmin.Put("/projects/"+shop, harness.With(harness.With(harness.Project(w.shop.Origin()), "name", "n"), "expectedRevision", 1))
		}, "projects.write", "project/" + shop, "project_in_use"},
		{func() *harness.Answer { return w.tenantAdmin.Put("/tenants/acme", doc{"name": "n"}) }, "tenants.write", "tenant/acme", "role_required"},
		{func() *harness.Answer { return w.approver.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil)) }, "runs.reconcile", "run/" + id, "state_conflict"},
		{func() *harness.Answer {
			return w.approver.Post("/runs/"+uncertain+"/reconcile", reconcile("CONFIRMED_COMPLETED", doc{"id": "r-2"}))
		}, "runs.reconcile", "run/" + uncertain, "expectation_not_met"},
		{func() *harness.Answer { return w.approver.Post("/runs/"+id+"/probe", doc{"stepId": "r"}) }, "runs.probe", "run/" + id, "state_conflict"},
	} {
		n := w.recorded(t)
		answer := c.try()
		answer.Refused(t, c.code)
		actions, records := w.since(t, n)
		if diff := cmp.Diff([]string{c.action + " refused: " + c.code}, actions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", answer, diff)
			continue
		}
		records[0].Is(t, "subject", c.subject).Is(t, "requestId", answer.Header.Get("X-Request-Id")).Is(t, "before", "").Is(t, "after", "")
	}
}

func TestTheLifeOfARunIsRecordedStepByStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	n := w.recorded(t)
	id := w.start(t, plan)
	w.approve(t, id)
	run := w.reaches(t, id, "COMPLETED")
	actions, records := w.since(t, n)
	for _, must := range []string{"runs.start done", "approval.request done", "approvals.decide done", "step.send done", "step.complete done", "run.complete done"} {
		if i := slices.Index(actions, must); i < 0 || slices.Contains(actions[i+1:], must) {
			t.Errorf("%q is not recorded exactly once: %q", must, actions)
		}
	}
	digest := run.At("steps.0.requestDigest")
	for _, r := range records {
		r.Is(t, "subject", "run/"+id)
		switch r.At("action").Text() {
		case "runs.start":
			r.Is(t, "actor", run.At("requestedBy"))
		case "approvals.decide":
			r.Is(t, "step", "r").Is(t, "digest", digest).Is(t, "reason", "fine").Is(t, "before", "PENDING").Is(t, "after", "APPROVED")
		case "step.send":
			r.Is(t, "step", "r").Is(t, "digest", digest).Is(t, "actor", "system").Is(t, "after", "RUNNING")
		case "run.complete":
			r.Is(t, "after", "COMPLETED")
		}
	}
}

func TestReconcilesAndProbesAreRecordedWithTheirEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.uncertain(t).At("id").Text()
	n := w.recorded(t)
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil)).OK(t)
	actions, records := w.since(t, n)
	if diff := cmp.Diff([]string{"runs.reconcile done", "run.cancel done"}, actions); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	records[0].Is(t, "step", "note").Is(t, "after", "ABANDONED").Has(t, "reason", "ABANDON", "looked at the ledger").Is(t, "before", "RECOVERY_REQUIRED")
	records[1].Is(t, "before", "RECOVERY_REQUIRED").Is(t, "after", "CANCELLED")
}

func TestTheLogIsFilteredByWhatItRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.operator.Put("/models/m", doc{"document": harness.Model("m")}).OK(t)
	r := w.Admin.Get("/audit?subject=model/m").OK(t).Is(t, "total", 1).At("items.0")
	actor, at := url.QueryEscape(r.At("actor").Text()), url.QueryEscape(r.At("at").Text())
	w.Admin.Get("/audit?actor="+actor+"&action=models.write").OK(t).Is(t, "total", 2)
	w.Admin.Get("/audit?since="+at).OK(t).Is(t, "items.0.subject", "model/m").Is(t, "total", 1)
	w.Admin.Get("/audit?since=2100-01-01T00:00:00Z").OK(t).Is(t, "total", 0)
	w.Admin.Get("/audit?subject=model/none").OK(t).Is(t, "total", 0)
	w.Admin.Get("/audit?action=models.write&limit=1").OK(t).Is(t, "total", 2).Is(t, "nextOffset", 1)
}

func TestTheLogVerifiesAndGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.tenantAdmin.Get("/audit/verify").OK(t).Is(t, "intact", true).Is(t, "firstBroken", harness.Absent).Is(t, "records", w.recorded(t))
	w.operator.Put("/models/m", doc{"document": harness.Model("m")}).OK(t)
	second := w.tenantAdmin.Get("/audit/verify").OK(t).Is(t, "intact", true).Is(t, "records", first.At("records").Int()+1)
	if first.At("head").Text() == second.At("head").Text() || len(second.At("head").Text()) != 64 {
		t.Errorf("%s and %s", first, second)
	}
}

func TestTheRealmsLogIsTheRealmAdministrators(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	realm := w.Admin.Get("/audit?realm=true").OK(t).Is(t, "total", 4)
	realm.Is(t, "items.0.subject", "tenant/acme").Is(t, "items.1.subject", "credential/"+harness.SecretEnv).Is(t, "items.1.action", "credentials.bind")
	realm.Is(t, "items.2.action", "receipts.make_key").Is(t, "items.2.actor", "system")
	realm.Is(t, "items.3.subject", "tenant/default").Is(t, "items.3.actor", "system")
	w.Admin.Get("/audit/verify?realm=true").OK(t).Is(t, "intact", true).Is(t, "records", 4)
	for _, path := range []string{"/audit?realm=true", "/audit/verify?realm=true"} {
		w.tenantAdmin.Get(path).Refused(t, "role_required")
	}
	w.tenantAdmin.Get("/audit?subject=tenant/acme").OK(t).Is(t, "total", 0)
	w.tenantAdmin.Get("/audit?realm=false").OK(t)
}

func TestATenantsLogIsItsOwn(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	theirs, _ := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR"}, "tenantId": "acme"})
	before := theirs.Get("/audit").OK(t).Is(t, "total", 1)
	w.operator.Put("/models/m", doc{"document": harness.Model("m")}).OK(t)
	theirs.Get("/audit").OK(t).Is(t, "items", before.At("items"))
	theirs.Get("/audit/verify").OK(t).Is(t, "intact", true).Is(t, "records", 1)
}
