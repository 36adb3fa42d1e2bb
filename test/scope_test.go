package test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// neighbours is a world with a second project, and one principal that is limited to each.
func neighbours(t *testing.T) (w *world, one, two *harness.Client) {
	t.Helper()
	return neighboursIn(t, newWorld(t))
}

func neighboursIn(t *testing.T, w *world) (_ *world, one, two *harness.Client) {
	t.Helper()
	w.register(t, "default-two", harness.Project(w.shop.Origin()))
	all := []string{"ADMIN", "OPERATOR", "APPROVER"}
	one, _ = w.token(t, doc{"roles": all, "projectIds": []string{shop}})
	two, _ = w.token(t, doc{"roles": all, "projectIds": []string{"default-two"}})
	return w, one, two
}

func on(project string, s doc) doc { return harness.With(s, "projectId", project) }

func TestListsAndTotalsCountWhatIsInScope(t *testing.T) {
	t.Parallel()
	w, one, two := neighbours(t)
	refund := step("r", "refund", doc{"orderId": "o"})
	mine := w.run(t, refund)
	theirs := w.run(t, on("default-two", refund))
	shared := w.run(t, refund, on("default-two", harness.With(refund, "id", "s")))
	for _, id := range []string{mine, theirs, shared} {
		w.approval(t, id)
	}
	for _, c := range []struct {
		who       *harness.Client
		path      string
		want      []string
		countOnly int
	}{
		{one, "/projects", []string{shop}, 0}, {two, "/projects", []string{"default-two"}, 0}, {w.viewer, "/projects", []string{shop, "default-two"}, 0},
		{one, "/runs", []string{mine}, 0}, {two, "/runs", []string{theirs}, 0}, {one, "/runs?status=COMPLETED", nil, 0}, {w.viewer, "/runs", []string{shared, theirs, mine}, 0},
		{one, "/plans", nil, 1}, {two, "/plans?status=READY", nil, 1}, {w.viewer, "/plans", nil, 3},
		{one, "/approvals", nil, 2}, {two, "/approvals?status=PENDING", nil, 1}, {w.viewer, "/approvals", nil, 3},
		{one, "/models", []string{"refund"}, 0},
	} {
		page := c.who.Get(c.path).OK(t)
		total := max(len(c.want), c.countOnly)
		if page.Is(t, "total", total); c.countOnly == 0 {
			if diff := cmp.Diff(c.want, ids(page)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.path, diff)
			}
		}
		if got := len(page.At("items").Items()); got != total {
			t.Errorf("%s has %d items of %d", c.path, got, total)
		}
	}
	one.Get("/runs/"+shared).Refused(t, "project_scope")
	one.Get("/plans/"+w.viewer.Get("/runs/"+shared).OK(t).At("planId").Text()).Refused(t, "project_scope")
	one.Post("/runs/"+shared+"/cancel", doc{"reason": "r"}).Refused(t, "project_scope")
	page := two.Get("/runs?limit=1").OK(t)
	page.Is(t, "nextOffset", nil)
}

func TestAPlanOnAProjectOutOfScopeIsInvalidAndShowsNothingOfIt(t *testing.T) {
	t.Parallel()
	w, _, two := neighbours(t)
	_ = w
	made := two.Post("/plans", planOf(step("r", "refund", doc{"orderId": "o"})))
	made.OK(t).Is(t, "status", "INVALID").Has(t, "validationErrors.0", "steps[0].projectId: ").Is(t, "projectSnapshots", harness.Absent)
	if strings.Contains(made.Raw, "SHOP_SECRET") || strings.Contains(made.Raw, "baseUrl") {
		t.Errorf("the project shows: %s", made)
	}
	compiled := two.Post(compile, bindings())
	compiled.OK(t).Is(t, "status", "INVALID").Is(t, "projectSnapshots", harness.Absent)
	two.Get("/plans/"+made.At("id").Text()).OK(t).Is(t, "projectSnapshots", harness.Absent)
	two.Get("/plans").OK(t).Is(t, "total", 2)
}

func TestAConflictTellsNothingOfRunsOutOfScope(t *testing.T) {
	t.Parallel()
	w, one, _ := neighbours(t)
	refund := step("r", "refund", doc{"orderId": "o"})
	shared := w.run(t, refund, on("default-two", harness.With(refund, "id", "s")))
	w.approval(t, shared)
	edit := harness.With(harness.With(harness.Project(w.shop.Origin()), "name", "n"), "expectedRevision", 1)
	message := one.Put("/projects/"+shop, edit).Refused(t, "project_in_use")
	if strings.Contains(message, "run-") || strings.Contains(message, "apr-") || strings.Contains(message, "1") {
		t.Errorf("the message is %q", message)
	}
	w.tenantAdmin.Put("/projects/"+shop, edit).Refused(t, "project_in_use", shared)
}

func TestAProjectLimitedAdminCreatesOnlyItsProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limited, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "projectIds": []string{"default-mine"}})
	p := harness.Project(w.shop.Origin())
	limited.Put("/projects/default-other", p).Refused(t, "project_scope")
	limited.Put("/projects/default-mine", p).OK(t).Is(t, "revision", 1)
	limited.Get("/projects/default-nothing").Refused(t, "not_found")
}

func TestAnotherTenantsProjectIsNotThere(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	theirs, _ := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR"}, "tenantId": "acme"})
	theirs.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	plan := theirs.Post("/plans", planOf(step("r", "refund", doc{"orderId": "o"})))
	plan.OK(t).Is(t, "status", "INVALID").Is(t, "validationErrors", []string{"steps[0].projectId: there is no project " + shop}).Is(t, "projectSnapshots", harness.Absent)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, id)
	for _, list := range []string{"/runs", "/approvals", "/projects"} {
		theirs.Get(list).OK(t).Is(t, "total", 0)
	}
	theirs.Post("/runs", doc{"planId": w.viewer.Get("/runs/" + id).OK(t).At("planId").Text()}, key()).Refused(t, "not_found")
}
