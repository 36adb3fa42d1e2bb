package test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// bound is a step whose input is bound to an earlier step's output.
func bound(id, capability, input, from, field string) doc {
	s := step(id, capability, nil)
	s["dependsOn"], s["inputBindings"] = []any{from}, doc{input: doc{"stepId": from, "field": field}}
	return s
}

func TestAPlanIsReadyAndSnapshotsItsModelAndProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.operator.Post("/plans", planOf(step("a", "note", doc{"text": "x"}), bound("b", "note", "text", "a", "ok"))).OK(t)
	p.Is(t, "status", "READY").Is(t, "validationErrors", []string{}).Is(t, "mode", "LIVE").Is(t, "modelId", "refund").Is(t, "modelRevision", 1).Is(t, "name", "plan")
	p.Is(t, "modelSnapshot.id", "refund").Is(t, "modelSnapshot.revision", 1).Is(t, "modelSnapshot.document.name", "Refund")
	p.Is(t, "projectSnapshots.0.id", shop).Is(t, "projectSnapshots.0.revision", 1).Is(t, "projectSnapshots.1", harness.Absent)
	p.Is(t, "steps.1.inputBindings.text", doc{"stepId": "a", "field": "ok"})
	if p.At("createdBy").Text() == "" || p.At("createdAt").Text() == "" || len(p.At("planDigest").Text()) != 64 {
		t.Error(p)
	}
	w.viewer.Get("/plans/"+p.At("id").Text()).OK(t).Is(t, "modelSnapshot", p.At("modelSnapshot")).Is(t, "steps", p.At("steps"))
	w.viewer.Get("/plans/none").Refused(t, "not_found")
	w.viewer.Get("/plans/none/drift").Refused(t, "not_found")
	w.viewer.Get("/plans/"+p.At("id").Text()+"/drift").OK(t).Is(t, "current", true).Is(t, "changes", []any{})
}

func TestTheModeOfAPlanIsDRY_RUNUnlessItSaysLIVE(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	live := planOf(step("a", "note", nil))
	dry := w.operator.Post("/plans", harness.Without(live, "mode")).OK(t).Is(t, "mode", "DRY_RUN")
	w.operator.Post("/plans", harness.With(live, "mode", "DRY_RUN")).OK(t).Is(t, "planDigest", dry.At("planDigest"))
	w.operator.Post("/plans", harness.With(live, "name", "other")).OK(t).Is(t, "mode", "LIVE").Is(t, "planDigest", dry.At("planDigest"))
	other := w.operator.Post("/plans", harness.With(live, "steps.0.input", doc{"x": 1})).OK(t)
	if other.At("planDigest").Text() == dry.At("planDigest").Text() {
		t.Error("other content has the same digest")
	}
	w.operator.Post("/plans", harness.With(live, "mode", "live")).Refused(t, "invalid_request", "mode")
}

func TestAPlanOfTheWrongShapeIsRefusedAndNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := planOf(step("a", "note", doc{"text": "x"}))
	for _, path := range []string{"name", "modelId", "modelRevision", "steps", "steps.0.id", "steps.0.name", "steps.0.projectId", "steps.0.capability"} {
		parts := strings.Split(path, ".")
		w.operator.Post("/plans", harness.Without(p, path)).Refused(t, "invalid_request", parts[len(parts)-1])
	}
	for _, change := range []struct {
		path  string
		wrong any
	}{
		{"id", "a b"}, {"id", "../x"}, {"id", ""}, {"modelRevision", "1"}, {"modelRevision", 1.5}, {"steps", doc{}}, {"steps.0", "x"}, {"steps.0.id", "a\nb"}, {"steps.0.id", "-a"}, {"steps.0.id", ""},
		{"steps.0.id", "a b"}, {"steps.0.id", "a/b"}, {"steps.0.id", strings.Repeat("x", 129)}, {"steps.0.input", []any{}}, {"steps.0.dependsOn", "a"},
		{"steps.0.inputBindings", doc{"x": doc{"stepId": "a"}}}, {"steps.0.inputBindings", doc{"x": doc{"field": "a"}}}, {"steps.0.inputBindings", doc{"x": "a.b"}},
		{"steps.0.expectation", doc{"field": "x"}}, {"steps.0.expectation", doc{"equals": 1}}, {"steps.0.expectation", doc{"field": "x", "equals": 1, "statusCode": 199}},
		{"steps.0.expectation", doc{"field": "x", "equals": 1, "statusCode": 300}}, {"planningInputs", []any{}}, {"scenarioId", 1}, {"mode", "BOTH"},
	} {
		w.operator.Post("/plans", harness.With(p, change.path, change.wrong)).Refused(t, "invalid_request")
	}
	w.viewer.Get("/plans").OK(t).Is(t, "total", 0)
}

func TestAPlanHasAtMost100Steps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	steps := make([]doc, 101)
	for i := range steps {
		steps[i] = step(fmt.Sprintf("s%d", i), "note", nil)
	}
	w.operator.Post("/plans", planOf(steps...)).Refused(t, "invalid_request", "steps")
	w.ready(t, planOf(steps[:100]...))
}

func TestAPlanWithProblemsIsStoredINVALIDWithAllOfThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tenantAdmin.Put("/projects/default-off", harness.Project(w.shop.Origin())).OK(t)
	w.operator.Put("/models/broken", doc{"document": harness.With(harness.Model("broken"), "states.0.isStart", false)}).OK(t)
	onOff := harness.With(step("a", "note", nil), "projectId", "default-off")
	for name, c := range map[string]struct {
		plan doc
		has  []string
	}{
		"no steps":                    {planOf(), []string{"steps: "}},
		"unknown model":               {harness.With(planOf(step("a", "note", nil)), "modelId", "none"), []string{"modelId: "}},
		"old revision":                {harness.With(planOf(step("a", "note", nil)), "modelRevision", 2), []string{"modelRevision: "}},
		"revision 0":                  {harness.With(planOf(step("a", "note", nil)), "modelRevision", 0), []string{"modelRevision: "}},
		"invalid model":               {harness.With(planOf(step("a", "note", nil)), "modelId", "broken"), []string{"modelId: "}},
		"unknown project":             {planOf(harness.With(step("a", "note", nil), "projectId", "default-none")), []string{"steps[0].projectId: "}},
		"another tenant's project":    {planOf(harness.With(step("a", "note", nil), "projectId", "acme-shop")), []string{"steps[0].projectId: "}},
		"disabled project, LIVE":      {planOf(onOff), []string{"steps[0].projectId: ", "disabled"}},
		"unknown capability":          {planOf(step("a", "nothing", nil)), []string{"steps[0].capability: "}},
		"duplicate id":                {planOf(step("a", "note", nil), step("a", "note", nil)), []string{"steps[1].id: "}},
		"unknown dependency":          {planOf(harness.With(step("a", "note", nil), "dependsOn", []string{"b"})), []string{"steps[0].dependsOn[0]: "}},
		"depends on itself":           {planOf(harness.With(step("a", "note", nil), "dependsOn", []string{"a"})), []string{"steps: "}},
		"cycle":                       {planOf(harness.With(step("a", "note", nil), "dependsOn", []string{"b"}), harness.With(step("b", "note", nil), "dependsOn", []string{"a"})), []string{"steps: "}},
		"missing input":               {planOf(step("a", "refund", nil)), []string{"steps[0].input.orderId: "}},
		"undeclared input":            {planOf(step("a", "refund", doc{"orderId": "o", "extra": 1})), []string{"steps[0].input.extra: "}},
		"wrong type":                  {planOf(step("a", "refund", doc{"orderId": 1})), []string{"steps[0].input.orderId: "}},
		"null for a string":           {planOf(step("a", "refund", doc{"orderId": nil})), []string{"steps[0].input.orderId: "}},
		"no resourceId":               {planOf(step("a", "lookup", nil)), []string{"steps[0].input.resourceId: "}},
		"path value is no id":         {planOf(step("a", "lookup", doc{"resourceId": "../x"})), []string{"steps[0].input.resourceId: "}},
		"path value with a slash":     {planOf(step("a", "lookup", doc{"resourceId": "a/b"})), []string{"steps[0].input.resourceId: "}},
		"path value with a percent":   {planOf(step("a", "lookup", doc{"resourceId": "a%2fb"})), []string{"steps[0].input.resourceId: "}},
		"array in the query":          {planOf(step("a", "search", doc{"q": []any{1}})), []string{"steps[0].input.q: "}},
		"object in the query":         {planOf(step("a", "search", doc{"q": doc{}})), []string{"steps[0].input.q: "}},
		"null in the query":           {planOf(step("a", "search", doc{"q": nil})), []string{"steps[0].input.q: "}},
		"binding to no step":          {planOf(harness.With(bound("b", "note", "text", "a", "ok"), "dependsOn", []string{})), []string{"steps[0].inputBindings.text.stepId: "}},
		"binding without dependency":  {planOf(step("a", "note", nil), harness.With(bound("b", "note", "text", "a", "ok"), "dependsOn", []string{})), []string{"steps[1].inputBindings.text.stepId: "}},
		"binding and literal":         {planOf(step("a", "note", nil), harness.With(bound("b", "note", "text", "a", "ok"), "input", doc{"text": "x"})), []string{"steps[1].inputBindings.text: "}},
		"binding of undeclared input": {planOf(step("a", "note", nil), harness.With(bound("b", "refund", "extra", "a", "ok"), "input", doc{"orderId": "o"})), []string{"steps[1].inputBindings.extra: "}},
		"several":                     {planOf(step("a", "nothing", nil), step("b", "refund", doc{"amount": "1"})), []string{"steps[0].capability: ", "steps[1].input.amount: ", "steps[1].input.orderId: "}},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.operator.Post("/plans", c.plan).OK(t).Is(t, "status", "INVALID").Has(t, "validationErrors", c.has...)
			if got := len(p.At("validationErrors").Items()); got < 1 {
				t.Errorf("%d problems", got)
			}
			w.viewer.Get("/plans/"+p.At("id").Text()).OK(t).Is(t, "validationErrors", p.At("validationErrors"))
			code := "plan_invalid"
			if name == "disabled project, LIVE" {
				code = "project_disabled"
			}
			w.operator.Post("/runs", doc{"planId": p.At("id").Text()}, key()).Refused(t, code)
		})
	}
}

func TestAPlanMayBindToAStepItDependsOnThroughOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	last := bound("c", "note", "text", "a", "ok")
	last["dependsOn"] = []any{"b"}
	w.ready(t, planOf(last, step("a", "note", nil), harness.With(step("b", "note", nil), "dependsOn", []string{"a"})))
}

func TestADRY_RUNPlanMayUseADisabledProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tenantAdmin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t)
	dry := harness.With(planOf(step("a", "note", nil)), "mode", "DRY_RUN")
	w.reaches(t, w.start(t, w.ready(t, dry)), "COMPLETED")
}

func TestAPlanIDUsedAgainGivesTheStoredPlanOrAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.With(planOf(step("a", "note", doc{"n": 1})), "id", "plan.One")
	first := w.operator.Post("/plans", p).OK(t).Is(t, "id", "plan.One")
	again := w.operator.Post("/plans", p)
	again.OK(t).Is(t, "createdAt", first.At("createdAt"))
	if again.Status != 201 {
		t.Error(again)
	}
	w.operator.Post("/plans", harness.With(p, "steps.0.input.n", number("1.0"))).OK(t).Is(t, "steps.0.input.n", 1) // the same number
	for _, change := range []doc{
		harness.With(p, "name", "other"), harness.With(p, "mode", "DRY_RUN"), harness.With(p, "steps.0.input.n", 2), harness.With(p, "scenarioId", "small"),
		harness.With(p, "planningInputs", doc{"x": 1}), harness.With(p, "steps.0.name", "b"), harness.With(p, "modelRevision", 2),
	} {
		w.operator.Post("/plans", change).Refused(t, "state_conflict", "plan.One")
	}
	w.viewer.Get("/plans").OK(t).Is(t, "total", 1)
}

func TestPlansTellWhatDriftedFromThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.ready(t, planOf(step("a", "note", nil)))
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund"), "expectedRevision": 1}).OK(t)
	edit := harness.With(harness.With(harness.Project(w.shop.Origin()), "name", "N"), "expectedRevision", 1)
	w.tenantAdmin.Put("/projects/"+shop, edit).OK(t)
	w.enable(t, shop, 2)
	d := w.viewer.Get("/plans/"+old+"/drift").OK(t).Is(t, "current", false)
	d.Is(t, "changes.0.kind", "model").Is(t, "changes.0.id", "refund").Is(t, "changes.0.planned", 1).Is(t, "changes.0.current", 2)
	d.Is(t, "changes.1.kind", "project").Is(t, "changes.1.id", shop).Is(t, "changes.1.planned", 1).Is(t, "changes.1.current", 2)
	w.operator.Post("/runs", doc{"planId": old}, key()).Refused(t, "drift")
	w.viewer.Get("/plans/"+old).OK(t).Is(t, "status", "READY").Is(t, "modelSnapshot.revision", 1).Is(t, "projectSnapshots.0.name", "Shop")
}

func TestAWaitingRunStopsAtTheNextStepWhenItsModelChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, change := range []func(){
		func() {
			w.operator.Put("/models/refund", doc{"document": harness.Model("refund"), "expectedRevision": 1}).OK(t)
		},
		func() { w.tenantAdmin.Post("/models/refund/suspend", doc{"reason": "r"}).OK(t) },
	} {
		plan := harness.With(planOf(step("r", "refund", doc{"orderId": "o"}), step("n", "note", nil)), "modelRevision", i+1)
		id := w.start(t, w.ready(t, plan))
		w.approval(t, id)
		change()
		w.approve(t, id)
		w.reaches(t, id, "FAILED").Has(t, "error", "drift: ").Is(t, "steps.0.status", "FAILED").Is(t, "steps.0.error.code", "drift").Is(t, "steps.1.status", "SKIPPED")
	}
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
