package test

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// optionalNote is the shop's note with a schema of which all but text is optional.
func (w *world) optionalNote(t *testing.T) {
	t.Helper()
	p := harness.Project(w.shop.Origin())
	p["capabilities"] = append(p["capabilities"].([]any), harness.Capability("memo", "POST", "/memos", doc{"approval": "NONE", "inputSchema": doc{
		"text": harness.Input("string", true), "note": harness.Input("string", false), "n": harness.Input("number", false), "tags": harness.Input("array", false),
	}}))
	p["expectedRevision"] = 1
	w.enable(t, shop, w.Admin.Put("/projects/"+shop, p).OK(t).At("revision").Int())
}

// nulled is a document with null in each of these fields.
func nulled(d doc, fields ...string) doc {
	for _, f := range fields {
		d = harness.With(d, f, nil)
	}
	return d
}

func TestNullForAnOptionalFieldOfARequestMeansThatItIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	project := harness.With(harness.Project(w.shop.Origin()), "expectedRevision", 1)
	capability := nulled(harness.Capability("x", "GET", "/x", doc{"inputSchema": doc{"a": nulled(harness.Input("number", false), "description", "enum", "minimum", "maximum", "maxLength", "pattern")}}),
		"title", "description", "sideEffect", "approval", "idempotent", "timeoutMs", "request", "outputField", "outputs", "expectation", "probe", "sensitive", "approvalRules", "budgets")
	project["capabilities"] = append(project["capabilities"].([]any), capability)
	kept := w.Admin.Put("/projects/"+shop, nulled(project, "authSecretEnv", "headers", "enabled", "id", "revision", "createdAt", "secretConfigured")).OK(t)
	for _, absent := range []string{"title", "approval", "timeoutMs", "approvalRules", "inputSchema.a.minimum", "inputSchema.a.pattern"} {
		kept.Is(t, "capabilities.11."+absent, harness.Absent)
	}
	w.operator.Post("/plans", nulled(harness.With(planOf(nulled(step("s", "note", doc{"x": 1}), "actionId", "dependsOn", "inputBindings", "expectation")), "mode", "DRY_RUN"), "id", "scenarioId", "planningInputs")).OK(t).Is(t, "status", "READY")
	w.Admin.Post("/tokens", nulled(doc{"name": "n", "roles": []string{"VIEWER"}}, "expiresInDays", "userEmail", "tenantId")).OK(t)
	w.operator.Put("/models/refund", nulled(doc{"document": harness.Model("refund")}, "expectedRevision")).Refused(t, "revision_conflict")
	w.operator.Put("/models/other", nulled(doc{"document": harness.With(harness.Model("other"), "transitions.0.actionId", nil)}, "expectedRevision")).OK(t).Is(t, "document.transitions.0.actionId", nil)
}

func TestNullIsNoLimitNoMemberAndNoElement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := doc{"name": "n", "roles": []string{"VIEWER"}}
	for _, field := range []string{"projectIds", "agentIds", "modes"} {
		w.Admin.Post("/tokens", nulled(token, field)).Refused(t, "invalid_request", field+": must be an array, not null; leave the field out for no limit")
	}
	w.Admin.Put("/users/n@example.com", nulled(doc{"roles": []string{"VIEWER"}}, "projectIds")).Refused(t, "invalid_request", "projectIds")
	project := harness.With(harness.Project(w.shop.Origin()), "expectedRevision", 1)
	w.Admin.Put("/projects/"+shop, harness.With(project, "headers", doc{"X-A": nil})).Refused(t, "invalid_request", `headers["X-A"]: must be a string, not null`)
	w.Admin.Put("/projects/"+shop, harness.With(project, "capabilities", []any{nil})).Refused(t, "invalid_request", "capabilities[0]: must be an object, not null")
	w.Admin.Put("/projects/"+shop, nulled(project, "name")).Refused(t, "invalid_request", "name: must be a string, not null")
}

func TestAnOptionalInputThatIsNullIsLeftOutAndARequiredOneIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.optionalNote(t)
	call := func(inputs doc) *harness.Answer {
		return w.call(w.operator, doc{"capability": "memo", "mode": "LIVE", "inputs": inputs})
	}
	run := w.reaches(t, call(doc{"text": "hi", "note": nil, "n": nil, "tags": nil}).OK(t).At("id").Text(), "COMPLETED")
	run.Is(t, "steps.0.input", doc{"text": "hi"}).Is(t, "planSnapshot.steps.0.input", doc{"text": "hi"})
	if got := string(w.shop.Seen("POST", "/memos")[0].Body); got != `{"text":"hi"}` {
		t.Errorf("the body was %s", got)
	}
	call(doc{"text": nil}).Refused(t, "invalid_request", "inputs.text: must be string, not null")
	digest := func(input doc) string {
		return w.operator.Post("/plans", planOf(step("s", "memo", input))).OK(t).Is(t, "status", "READY").At("planDigest").Text()
	}
	if digest(doc{"text": "hi", "note": nil}) != digest(doc{"text": "hi"}) {
		t.Error("a plan's digest tells null from what is left out")
	}
	named := harness.With(planOf(step("s", "memo", doc{"text": "hi", "note": nil})), "id", "named")
	w.operator.Post("/plans", named).OK(t)
	w.operator.Post("/plans", named).OK(t)
	w.operator.Post("/plans", harness.With(planOf(step("s", "memo", doc{"text": "hi"})), "id", "named")).OK(t)
	w.operator.Post("/plans", planOf(step("s", "memo", doc{"text": nil}))).OK(t).Is(t, "status", "INVALID")
	free := w.reaches(t, w.call(w.operator, doc{"capability": "note", "mode": "LIVE", "inputs": doc{"any": nil}}).OK(t).At("id").Text(), "COMPLETED")
	free.Is(t, "steps.0.input", doc{"any": nil}) // of a type that no schema names
}

func TestARepeatIsNotToldFromItsStartByWhatIsNull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.optionalNote(t)
	ids := w.admitted(t, agentItem("one", "memo", "refund"), agentItem("two", "memo", "refund"))
	w.operator.Put("/teams/t", teamOf(ids, teamStep("s", ids[0], "memo", doc{"text": "hi"}))).OK(t)
	for path, body := range map[string]func(inputs doc) doc{
		"/projects/" + shop + "/runs": func(inputs doc) doc { return doc{"capability": "memo", "inputs": inputs} },
		"/agents/" + ids[0] + "/runs": func(inputs doc) doc { return agentRun("DRY_RUN", "memo", inputs) },
		"/teams/t/runs":               func(inputs doc) doc { return doc{"expectedRevision": 1, "inputs": doc{"s": inputs}} },
	} {
		for i, pair := range [][2]doc{{{"text": "a", "note": nil}, {"text": "a"}}, {{"text": "b"}, {"text": "b", "n": nil, "tags": nil}}} {
			k := keyed(fmt.Sprint(path, i))
			first := w.operator.Post(path, body(pair[0]), k).OK(t).At("id").Text()
			w.operator.Post(path, body(pair[1]), k).OK(t).Is(t, "id", first)
			w.operator.Post(path, body(harness.With(pair[1], "note", "x")), k).Refused(t, "idempotency_conflict")
		}
	}
}

func TestANullOfATeamRunFallsThroughToTheStepsInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.optionalNote(t)
	ids := w.admitted(t, agentItem("one", "memo", "refund"), agentItem("two", "memo", "refund"))
	team := teamOf(ids, teamStep("s", ids[0], "memo", doc{"text": "hi", "note": "from the team", "n": nil}))
	w.operator.Put("/teams/t", team).OK(t).Is(t, "steps.0.input", doc{"text": "hi", "note": "from the team"})
	id := w.teamRun("t", 1, doc{"s": doc{"note": nil, "n": nil}}).OK(t).At("id").Text()
	w.reaches(t, id, "COMPLETED").Is(t, "steps.0.input", doc{"text": "hi", "note": "from the team"})
}

func TestASuggestionIsKeptWithoutWhatIsNull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.call(w.operator, doc{"capability": "refund", "mode": "LIVE", "inputs": doc{"orderId": "o", "amount": 5}}).OK(t).At("id").Text()
	approval := w.approval(t, id).At("id").Text()
	decision := doc{"decision": "REJECTED", "reason": "r", "suggestedInput": doc{"orderId": "o", "amount": nil}}
	w.approver.Post("/approvals/"+approval+"/decision", decision).OK(t).Is(t, "suggestedInput", doc{"orderId": "o"})
}
