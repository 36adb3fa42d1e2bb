package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// after is a step that waits for others.
func after(s doc, steps ...any) doc { return harness.With(s, "dependsOn", append([]any{}, steps...)) }

// taking is a step with an input bound to an earlier step's output.
func taking(s doc, input, from, field string) doc {
	return harness.With(after(s, from), "inputBindings."+input, doc{"stepId": from, "field": field})
}

// teamRun starts a LIVE run of a team.
func (w *world) teamRun(id string, revision int, inputs doc) *harness.Answer {
	body := doc{"expectedRevision": revision, "mode": "LIVE"}
	if inputs != nil {
		body["inputs"] = inputs
	}
	return w.operator.Post("/teams/"+id+"/runs", body, key())
}

func TestATeamRunTakesItsStepsOneAtATimeInDependencyOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.admitted(t, agentItem("a", "note", "refund"), agentItem("b", "note", "refund"))
	gate := make(chan struct{})
	w.shop.On("POST", "/notes", harness.After(gate, harness.Answering(200, `{}`)), harness.Answering(200, `{}`))
	s := func(id string, by int, deps ...any) doc {
		return after(teamStep(id, ids[by], "note", doc{"id": id}), deps...)
	}
	w.operator.Put("/teams/t", teamOf(ids, s("d", 0, "b", "c"), s("b", 1, "a"), s("x", 0), s("a", 1), s("c", 0, "a"))).OK(t)
	run := w.teamRun("t", 1, nil).OK(t).Is(t, "status", "READY").Is(t, "teamId", "t").Is(t, "agentId", harness.Absent).Is(t, "steps.0.dependsOn", []string{"b", "c"})
	w.shop.Await(t, "POST", "/notes", 1)
	w.viewer.Get("/runs/"+run.At("id").Text()).OK(t).Has(t, "steps.2", `"RUNNING"`).Is(t, "steps.0.status", "PENDING").Is(t, "steps.3.status", "PENDING")
	close(gate)
	done := w.reaches(t, run.At("id").Text(), "COMPLETED").Is(t, "unverifiedSteps", 5)
	var order []string
	for _, q := range w.shop.Seen("POST", "/notes") {
		order = append(order, strings.Trim(strings.TrimPrefix(string(q.Body), `{"id":`), `"}`))
	}
	if got := strings.Join(order, ""); got != "xabcd" {
		t.Errorf("the order was %s", got)
	}
	for i, agent := range []int{0, 1, 0, 1, 0} {
		done.At("steps").Items()[i].Is(t, "agentId", ids[agent]).Is(t, "status", "COMPLETED")
	}
}

func TestAnOutputIsPassedOnOnlyOnceItIsVerified(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, writer := w.clerks(t)
	look := expecting(teamStep("look", reader, "lookup", doc{"resourceId": "o-1"}), "state", "returned")
	w.operator.Put("/teams/t", teamOf([]string{reader, writer}, look, taking(teamStep("note", writer, "note", doc{}), "amount", "look", "total"))).OK(t)
	for _, answer := range []string{`{"total":12.50,"state":"paid"}`, `{"total":12.50}`} { // a 200 alone doesn't meet the expectation
		w.shop.On("GET", "/orders/o-1", harness.Answering(200, answer))
		run := w.reaches(t, w.teamRun("t", 1, nil).OK(t).At("id").Text(), "FAILED")
		run.Has(t, "error", "expectation_not_met: ").Is(t, "steps.0.status", "FAILED").Is(t, "steps.1.status", "SKIPPED").Is(t, "steps.1.request", harness.Absent)
	}
	w.shop.On("GET", "/orders/o-1", harness.Answering(200, `{"state":"returned"}`)) // verified, but without the bound field
	w.reaches(t, w.teamRun("t", 1, nil).OK(t).At("id").Text(), "FAILED").Has(t, "error", "not_sent: ").Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.1.status", "FAILED")
	if n := len(w.shop.Seen("POST", "/notes")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	w.shop.On("GET", "/orders/o-1", harness.Answering(200, `{"total":12.50,"state":"returned"}`))
	w.reaches(t, w.teamRun("t", 1, nil).OK(t).At("id").Text(), "COMPLETED").Is(t, "steps.1.input", doc{"amount": number("12.5"), "currency": "EUR"})
	if got := string(w.shop.Seen("POST", "/notes")[0].Body); got != `{"amount":12.50,"currency":"EUR"}` {
		t.Errorf("the body was %s", got)
	}
}

func TestRunInputsOverrideAStepsInputsFieldByField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, writer := w.clerks(t)
	steps := []doc{teamStep("look", reader, "lookup", doc{}), after(teamStep("note", writer, "note", doc{"a": 1, "b": doc{"x": 1, "y": 2}}), "look")}
	w.operator.Put("/teams/t", teamOf([]string{reader, writer}, steps...)).OK(t)
	inputs := doc{"look": doc{"resourceId": "o-9"}, "note": doc{"b": doc{"x": 3}, "c": nil}}
	run := w.reaches(t, w.teamRun("t", 1, inputs).OK(t).At("id").Text(), "COMPLETED")
	run.Is(t, "steps.0.request.url", w.shop.Origin()+"/orders/o-9").Is(t, "steps.1.input", doc{"a": 1, "b": doc{"x": 3}, "c": nil, "currency": "EUR"})
	w.viewer.Get("/teams/t").OK(t).Is(t, "revision", 1).Is(t, "steps.1.input", doc{"a": 1, "b": doc{"x": 1, "y": 2}}) // the team stays as it is
	if got := string(w.shop.Seen("POST", "/notes")[0].Body); got != `{"a":1,"b":{"x":3},"c":null,"currency":"EUR"}` {
		t.Errorf("the body was %s", got)
	}
}

func TestTheSnapshotOfATeamRunKeepsWhoCarriesItOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-two", harness.Project(w.shop.Origin()))
	w.operator.Put("/models/other", doc{"document": harness.Model("other")}).OK(t)
	w.operator.Put("/models/other", doc{"document": harness.Model("other"), "expectedRevision": 1}).OK(t)
	fixed := doc{"note": doc{"currency": "EUR"}}
	here := w.admitted(t, at(3, fixing(agentItem("a", "note", "refund"), fixed)), agentItem("b", "note", "refund"))
	there := syncTo(w.operator, "default-two", agentItem("a", "note", "other")).OK(t).At("items.0.id").Text()
	w.tenantAdmin.Post("/agents/"+there+"/suspend", doc{"reason": "r"}).OK(t)
	w.tenantAdmin.Post("/agents/"+there+"/admit", doc{"reason": "r"}).OK(t)
	team := teamOf([]string{there, here[0], here[1], here[0]}, teamStep("one", here[0], "note", doc{}), teamStep("two", there, "note", doc{}))
	w.operator.Put("/teams/t", team).OK(t)
	w.operator.Put("/teams/t", revised(team, 1)).OK(t)
	run := w.teamRun("t", 2, nil).OK(t)
	member := func(id, project, modelID string, revision, source, modelRevision int, inputs doc) doc {
		return doc{"id": id, "projectId": project, "revision": revision, "sourceRevision": source, "modelId": modelID, "modelRevision": modelRevision, "executorInputs": inputs}
	}
	snapshot := run.At("planSnapshot").Is(t, "team", doc{"id": "t", "revision": 2, "members": team["members"]}).Is(t, "name", "team").Is(t, "modelId", harness.Absent)
	snapshot.Is(t, "agents", []doc{
		member(there, "default-two", "other", 2, 1, 2, doc{}), member(here[0], shop, "refund", 1, 3, 1, fixed), member(here[1], shop, "refund", 1, 1, 1, doc{}),
	})
	snapshot.Is(t, "models.0.id", "other").Is(t, "models.0.revision", 2).Is(t, "models.1.id", "refund").Is(t, "models.1.document.id", "refund").Is(t, "models.2", harness.Absent)
	snapshot.Is(t, "steps.0.agentId", here[0]).Is(t, "steps.0.projectId", shop).Is(t, "steps.1.agentId", there).Is(t, "steps.1.projectId", "default-two")
	id := run.At("id").Text()
	w.reaches(t, id, "COMPLETED").Is(t, "planSnapshot", snapshot)
	limited, _ := w.token(t, doc{"roles": []string{"VIEWER"}, "projectIds": []string{shop}})
	limited.Get("/runs/"+id).Refused(t, "project_scope") // the team's agents are of two projects
	w.operator.Put("/teams/t", revised(harness.With(team, "name", "other"), 2)).OK(t)
	w.sync(t, at(4, agentItem("a", "note", "refund")))
	w.operator.Put("/models/refund", doc{"document": harness.With(harness.Model("refund"), "name", "New"), "expectedRevision": 1}).OK(t)
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "planSnapshot", snapshot) // as it was
	changed := []string{"team", "agent", "model"}
	for i, change := range w.viewer.Get("/plans/"+run.At("planId").Text()+"/drift").OK(t).Is(t, "current", false).Is(t, "changes.3", harness.Absent).At("changes").Items() {
		change.Is(t, "kind", changed[i])
	}
	w.operator.Post("/runs", doc{"planId": run.At("planId").Text()}, key()).Refused(t, "state_conflict")
}
