package test

import (
	"net/url"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var stopping = doc{"reason": "something is wrong"}

// stop stops the LIVE steps of a tenant; "" is the world's own.
func (w *world) stop(t *testing.T, tenant string) json {
	t.Helper()
	return w.Admin.Post("/stop", stopOf(tenant, "something is wrong")).OK(t).Is(t, "stopped", true)
}

// goOn lifts a stop.
func (w *world) goOn(t *testing.T, tenant string) json {
	t.Helper()
	return w.Admin.Post("/go", stopOf(tenant, "it is mended")).OK(t)
}

func stopOf(tenant, reason string) doc {
	if tenant == "" {
		return doc{"reason": reason}
	}
	return doc{"reason": reason, "tenantId": tenant}
}

// held waits until a stop holds a run.
func (w *world) held(t *testing.T, id string) (run json) {
	t.Helper()
	harness.Until(t, "run "+id+" to be held", func() bool {
		run = w.Admin.Get("/runs/" + id).OK(t)
		return run.At("waitingFor.kind").Text() == "stop"
	})
	return run.Is(t, "waitingFor.role", "ADMIN").Is(t, "waitingFor.operation", "POST /go")
}

func TestWhileStoppedNoLiveStepBeginsAndAllGoOnByThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.run(t, step("r", "refund", doc{"orderId": "o-1"}))
	w.approval(t, asked)
	flying, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	plan := w.ready(t, planOf(step("n", "note", nil)))
	w.stop(t, "").Is(t, "stops.0.reason", "something is wrong").Has(t, "stops.0.by", "token:")
	w.viewer.Get("/stop").OK(t).Is(t, "stopped", true)

	fresh := w.start(t, plan)
	w.held(t, fresh).Is(t, "status", "READY").Is(t, "steps.0.attempt", 0).Is(t, "waitingFor.stepId", "n")
	w.approve(t, asked)
	w.held(t, asked).Is(t, "status", "WAITING_APPROVAL").Is(t, "steps.0.attempt", 0)
	close(gate)
	w.held(t, flying).Is(t, "status", "RUNNING").Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.1.attempt", 0) // steps that had begun are completed
	rehearsal := w.ready(t, harness.With(planOf(step("n", "note", nil)), "mode", "DRY_RUN"))
	w.reaches(t, w.start(t, rehearsal), "COMPLETED")
	w.viewer.Get("/runs?status=READY").OK(t).Is(t, "items.0.waitingFor.kind", "stop")
	if n := len(w.shop.Seen("POST", "/notes")) + len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d requests were sent while LIVE steps were stopped", n)
	}
	w.goOn(t, "").Is(t, "stopped", false).Is(t, "stops", []any{})
	w.reaches(t, fresh, "COMPLETED")
	w.reaches(t, flying, "COMPLETED")
	w.reaches(t, asked, "COMPLETED")
	w.viewer.Get("/stop").OK(t).Is(t, "stopped", false)
}

func TestAStopHoldsTheNextStepOfARunUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := make(chan struct{})
	w.shop.On("GET", "/patient", harness.After(gate, harness.Answering(200, `{}`)))
	id := w.run(t, step("p", "patient", nil), harness.With(step("n", "note", nil), "dependsOn", []string{"p"}))
	harness.Until(t, "the call", func() bool { return len(w.shop.Seen("GET", "/patient")) == 1 })
	w.stop(t, "")
	close(gate)
	w.held(t, id).Is(t, "status", "RUNNING").Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.1.status", "PENDING")
	cancelled := w.start(t, w.ready(t, planOf(step("n", "note", nil))))
	w.held(t, cancelled)
	w.cancel(t, cancelled).Is(t, "status", "CANCELLED")
	w.goOn(t, "")
	w.reaches(t, id, "COMPLETED")
}

// TestHeldRunsHoldNoSlotAndOutliveARestart: after go as many of them run at a time as there are slots.
func TestHeldRunsHoldNoSlotAndOutliveARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	plan := w.ready(t, planOf(step("n", "note", nil)))
	w.stop(t, "")
	ids := []string{}
	for range 3 {
		id := w.start(t, plan)
		w.held(t, id)
		ids = append(ids, id)
	}
	w.Stop()
	w.Restart()
	for _, id := range ids {
		w.held(t, id).Is(t, "status", "READY")
	}
	w.goOn(t, "")
	for _, id := range ids {
		w.reaches(t, id, "COMPLETED")
	}
	if n := len(w.shop.Seen("POST", "/notes")); n != 3 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestARunThatQueuedBeforeAStopWaitsForItToo, and shows that.
func TestARunThatQueuedBeforeAStopWaitsForItToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	asked := w.run(t, step("r", "refund", doc{"orderId": "o-1"}))
	w.approval(t, asked)
	flying, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	w.approve(t, asked)
	w.viewer.Get("/runs/"+asked).OK(t).Is(t, "waitingFor.kind", "slot")
	w.stop(t, "")
	w.viewer.Get("/runs/"+asked).OK(t).Is(t, "waitingFor.kind", "stop")
	close(gate)
	w.held(t, flying)
	w.held(t, asked).Is(t, "steps.0.attempt", 0)
	w.goOn(t, "")
	w.reaches(t, asked, "COMPLETED")
}

func TestWhoMayStopAndLetGo(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, listedFor("default", "acme"))
	acme := w.neighbour(t, "acme", step("n", "note", nil))
	limited, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "projectIds": []string{shop}})
	rehearsing, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "modes": []string{"DRY_RUN"}})
	for _, path := range []string{"/stop", "/go"} {
		for _, who := range []*harness.Client{w.operator, w.approver, w.viewer} {
			who.Post(path, stopping).Refused(t, "role_required")
		}
		limited.Post(path, stopping).Refused(t, "project_scope")
		w.tenantAdmin.Post(path, harness.With(stopping, "tenantId", "*")).Refused(t, "role_required")
		w.tenantAdmin.Post(path, harness.With(stopping, "tenantId", "acme")).Refused(t, "not_found")
		w.Admin.Post(path, harness.With(stopping, "tenantId", "nobody")).Refused(t, "not_found")
		w.tenantAdmin.Post(path, doc{"reason": " "}).Refused(t, "invalid_request", "reason")
		w.tenantAdmin.Post(path, doc{}).Refused(t, "invalid_request", "reason")
	}
	rehearsing.Post("/stop", stopping).Refused(t, "role_required", "DRY_RUN")
	w.tenantAdmin.Post("/stop", stopping).OK(t)
	rehearsing.Post("/go", stopping).Refused(t, "role_required", "DRY_RUN")
	w.tenantAdmin.Post("/go", stopping).OK(t).Is(t, "stopped", false)
	w.Admin.Post("/stop", harness.With(stopping, "tenantId", "acme")).OK(t).Is(t, "tenantId", "acme")
	acme.Get("/stop").OK(t).Is(t, "stopped", true)
	w.viewer.Get("/stop").OK(t).Is(t, "stopped", false)
}

// TestAStopOfAllAndATenantsOwnAreTwo: lifting one doesn't lift the other.
func TestAStopOfAllAndATenantsOwnAreTwo(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, listedFor("default", "acme"))
	acme := w.neighbour(t, "acme", step("n", "note", nil))
	plan := w.ready(t, planOf(step("n", "note", nil)))
	first := w.tenantAdmin.Post("/stop", doc{"reason": "ours"}).OK(t).At("stops.0.since")
	w.tenantAdmin.Post("/stop", doc{"reason": "again"}).OK(t).Is(t, "stops.0.since", first).Is(t, "stops.0.reason", "ours")
	theirs := func(id, status string) {
		t.Helper()
		harness.Until(t, "the neighbour's run to be "+status, func() bool { return acme.Get("/runs/"+id).OK(t).At("status").Text() == status })
	}
	theirs(acme.begin().OK(t).At("id").Text(), "COMPLETED") // our stop doesn't apply to acme
	ours := w.start(t, plan)
	w.held(t, ours)
	w.stop(t, "*").Is(t, "tenantId", "*")
	acme.Get("/stop").OK(t).Is(t, "stopped", true).Is(t, "stops.0.tenantId", "*")
	held := acme.begin().OK(t).At("id").Text()
	harness.Until(t, "the neighbour's run to be held", func() bool { return acme.Get("/runs/"+held).OK(t).At("waitingFor.kind").Text() == "stop" })
	w.tenantAdmin.Post("/go", stopping).OK(t).Is(t, "stopped", true).Is(t, "stops.0.tenantId", "*")
	w.held(t, ours)
	w.tenantAdmin.Post("/stop", doc{"reason": "ours"}).OK(t).Is(t, "stops.1.tenantId", "*")
	w.goOn(t, "*")
	theirs(held, "COMPLETED")
	w.held(t, ours)
	w.goOn(t, "")
	w.reaches(t, ours, "COMPLETED")
	acme.Get("/audit?action=tenants.go").OK(t).Is(t, "total", 1).Is(t, "items.0.after", "GOING").Is(t, "items.0.reason", "it is mended")
	w.Admin.Get("/audit?realm=true&action=tenants.stop").OK(t).Is(t, "total", 1).Is(t, "items.0.subject", "tenant/*")
	w.Admin.Get("/audit?action=tenants.stop&subject=tenant/default").OK(t).Is(t, "total", 2)
}

func TestEveryPageOfTheConsoleSaysThatItIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, mara := w.person(t, "ada@example.com", "ADMIN"), w.person(t, "mara@example.com", "APPROVER")
	plan := w.ready(t, planOf(step("n", "note", nil)))
	mustNotHold(t, mara.Open("/settings"), "/settings/stop")
	submitted(t, ada, ada.Open("/settings"), "/settings/stop", url.Values{"reason": {"wrong <people>"}})
	run := w.start(t, plan)
	w.held(t, run)
	for _, path := range []string{"", "/runs", "/runs/" + run, "/approvals", "/settings", "/projects/" + shop} {
		mustSay(t, mara.Open(path), 200, "LIVE steps are stopped", "wrong <people>")
	}
	mustSay(t, mara.Open("/runs/"+run), 200, "continues when an administrator lifts the stop")
	mustNotHold(t, mara.Open("/settings"), "/settings/go")
	if p := submitted(t, mara, ada.Open("/settings"), "/settings/go", url.Values{"reason": {"r"}}); p.Status != 403 {
		t.Errorf("an APPROVER let go: %d", p.Status)
	}
	submitted(t, ada, ada.Open("/settings"), "/settings/go", url.Values{"reason": {"mended"}})
	w.reaches(t, run, "COMPLETED")
	mustNotHold(t, mara.Open("/runs"), "LIVE steps are stopped")
}

func TestTheCommandLineStopsAndLetsGo(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	prints(t, s.command(t, 0, "stopped").Out, "may begin")
	prints(t, s.command(t, 3, "stop", "--reason", "r").Err, "role_required")
	prints(t, s.command(t, 0, "stop", "--reason", "wrong people", "--profile", "admin").Out, "STOPPED", "wrong people")
	prints(t, s.command(t, 0, "stopped").Out, "STOPPED", "wrong people")
	waits := s.command(t, 5, "runs", "start", s.ready(t, planOf(step("n", "note", nil))), "--watch").Out
	prints(t, waits, "LIVE steps are stopped", "countersign go")
	prints(t, s.command(t, 0, "go", "--reason", "mended", "--profile", "admin").Out, "may begin")
}
