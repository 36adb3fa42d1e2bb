package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestARefusedTeamStartStoresNothingAndBurnsNoKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, writer := w.clerks(t)
	ids := w.admitted(t, agentItem("leaver", "note", "refund"), agentItem("loser", "note", "refund"))
	both := []string{reader, writer}
	look, note := teamStep("look", reader, "lookup", doc{}), teamStep("note", writer, "note", doc{})
	bound := taking(harness.With(note, "input", doc{"x": 1}), "amount", "look", "total")
	put := func(id string, members []string, steps ...doc) {
		w.operator.Put("/teams/"+id, teamOf(members, steps...)).OK(t)
	}
	put("t", both, look, bound)
	put("idle", both, note)
	put("left", []string{writer, ids[0]}, note)
	put("lost", []string{writer, ids[1]}, note)
	put("shrunk", []string{writer, ids[1]}, teamStep("s", ids[1], "note", doc{}))
	w.tenantAdmin.Post("/teams/idle/suspend", doc{"reason": "r"}).OK(t)
	w.tenantAdmin.Post("/agents/"+ids[0]+"/suspend", doc{"reason": "r"}).OK(t)
	w.sync(t, at(2, agentItem("loser", "count", ""))) // the capability and the model are gone
	w.tenantAdmin.Post("/agents/"+ids[1]+"/admit", doc{"reason": "r"}).OK(t)
	good := doc{"look": doc{"resourceId": "o-1"}}
	body := func(inputs doc) doc { return doc{"expectedRevision": 1, "mode": "LIVE", "inputs": inputs} }
	for _, c := range []struct {
		team string
		body doc
		code string
		part string
	}{
		{"t", harness.Without(body(good), "expectedRevision"), "invalid_request", "expectedRevision"},
		{"t", harness.With(body(good), "expectedRevision", 0), "revision_conflict", "1"},
		{"t", harness.With(body(good), "expectedRevision", 2), "revision_conflict", "1"},
		{"t", harness.With(body(good), "mode", "TEST"), "invalid_request", "mode"},
		{"t", harness.With(body(good), "expectation", doc{"field": "f", "equals": 1}), "invalid_request", "expectation"}, // the steps of a team have their own expectations
		{"t", harness.With(body(good), "inputs", nil), "invalid_request", "resourceId"},                                  // as if left out
		{"t", body(doc{"look": []any{}}), "invalid_request", "inputs.look"},
		{"t", body(doc{}), "invalid_request", "resourceId"},
		{"t", body(harness.With(good, "look.resourceId", "a/b")), "invalid_request", "resourceId"},
		{"t", body(harness.With(good, "none", doc{})), "invalid_request", "inputs.none: "},
		{"t", body(harness.With(good, "note.currency", "EUR")), "invalid_request", "inputs.note.currency: "},
		{"t", body(harness.With(good, "note.amount", 1)), "invalid_request", "amount"}, // bound already
		{"idle", harness.With(body(doc{}), "expectedRevision", 2), "drift", "idle"},
		{"idle", doc{"expectedRevision": 2, "mode": "DRY_RUN"}, "drift", "idle"},
		{"left", body(doc{}), "agent_not_admitted", ids[0]},
		{"left", doc{"expectedRevision": 1, "mode": "DRY_RUN"}, "agent_not_admitted", ids[0]},
		{"lost", body(doc{}), "invalid_request", "members[1].agentId: "},
		{"shrunk", body(doc{}), "invalid_request", "steps[0].capability: "},
		{"none", body(doc{}), "not_found", "none"},
	} {
		w.operator.Post("/teams/"+c.team+"/runs", c.body, keyed("k")).Refused(t, c.code, c.part)
	}
	w.operator.Post("/teams/t/runs", body(doc{"look": doc{"resourceId": "a/b"}, "note": doc{"currency": 1}, "none": doc{}}), keyed("k")).
		Refused(t, "invalid_request", "resourceId", "inputs.note.currency: ", "inputs.none: ") // the message names each
	w.operator.Post("/teams/t/runs", body(good)).Refused(t, "idempotency_key_required")
	dry, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "modes": []string{"DRY_RUN"}})
	dry.Post("/teams/t/runs", body(good), keyed("k")).Refused(t, "role_required", "DRY_RUN")
	w.tenantAdmin.Post("/models/refund/suspend", doc{"reason": "r"}).OK(t)
	w.operator.Post("/teams/t/runs", body(good), keyed("k")).Refused(t, "drift", "refund")
	w.tenantAdmin.Post("/models/refund/resume", doc{"reason": "r"}).OK(t)
	w.nothingStored(t)
	if a := dry.Post("/teams/t/runs", harness.Without(body(good), "mode"), keyed("k")); a.Status != 202 || a.Header.Get("Idempotency-Replayed") != "" {
		t.Error(a, a.Header)
	}
}

func TestADisabledProjectOfAnyMemberRefusesALIVETeamRunBeforeAnythingElseOfThePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-two", harness.Project(w.shop.Origin()))
	w.operator.Put("/models/other", doc{"document": harness.Model("other")}).OK(t)
	here := w.admitted(t, agentItem("a", "note", "refund"))[0]
	there := syncTo(w.operator, "default-two", agentItem("a", "note", "other")).OK(t).At("items.0.id").Text()
	w.tenantAdmin.Post("/agents/"+there+"/admit", doc{"reason": "r"}).OK(t)
	w.operator.Put("/teams/t", teamOf([]string{here, there}, teamStep("s", here, "note", doc{}))).OK(t)
	w.tenantAdmin.Post("/projects/default-two/disable", doc{"expectedRevision": 1}).OK(t)
	w.teamRun("t", 1, nil).Refused(t, "project_disabled", "default-two")
	w.teamRun("t", 1, doc{"none": doc{}}).Refused(t, "project_disabled")
	w.nothingStored(t)
	before := w.shop.Connections()
	dry := w.operator.Post("/teams/t/runs", doc{"expectedRevision": 1, "mode": "DRY_RUN"}, key()).OK(t)
	w.reaches(t, dry.At("id").Text(), "COMPLETED").Is(t, "steps.0.status", "SIMULATED").Is(t, "teamId", "t")
	if now := w.shop.Connections(); now != before {
		t.Errorf("%d connections were opened", now-before)
	}
}

func TestARepeatedTeamStartFindsItsRunWhateverHasChangedSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	reader, writer := w.clerks(t)
	gate := make(chan struct{})
	defer close(gate)
	w.shop.On("POST", "/notes", harness.After(gate, harness.Answering(200, `{}`)))
	team := teamOf([]string{reader, writer}, teamStep("s", writer, "note", doc{}))
	w.operator.Put("/teams/t", team).OK(t)
	w.operator.Put("/teams/other", team).OK(t)
	body := doc{"expectedRevision": 1, "mode": "LIVE", "inputs": doc{"s": doc{"n": 1}}}
	start := func(team, k string, body any) *harness.Answer {
		return w.operator.Post("/teams/"+team+"/runs", body, keyed(k))
	}
	run := start("t", "k", body).OK(t).At("id").Text()
	w.shop.Await(t, "POST", "/notes", 1)
	start("t", "free", body).Refused(t, "capacity")
	for _, change := range []func(){
		func() {},
		func() { w.operator.Put("/teams/t", revised(team, 1)).OK(t) },
		func() { w.tenantAdmin.Post("/teams/t/suspend", doc{"reason": "r"}).OK(t) },
		func() { w.tenantAdmin.Post("/agents/"+writer+"/suspend", doc{"reason": "r"}).OK(t) },
	} {
		change()
		for _, same := range []any{body, `{"inputs":{"s":{"n":1e0}},"mode":"LIVE","expectedRevision":1}`} {
			if a := start("t", "k", same); a.OK(t).At("id").Text() != run || a.Header.Get("Idempotency-Replayed") != "true" {
				t.Error(a, a.Header)
			}
		}
		start("t", "k", harness.With(body, "inputs.s.n", 2)).Refused(t, "idempotency_conflict", run)
		start("t", "k", harness.With(body, "inputs.none", doc{})).Refused(t, "idempotency_conflict", run)
		start("other", "k", body).Refused(t, "idempotency_conflict", run)
		w.operator.Post("/agents/"+reader+"/runs", agentRun("DRY_RUN", "lookup", nil), keyed("k")).Refused(t, "idempotency_conflict", run)
	}
	w.viewer.Get("/plans").OK(t).Is(t, "total", 1)
	w.viewer.Get("/runs").OK(t).Is(t, "total", 1)
}
