package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// nothingStored checks that no start has left a plan or a run.
func (w *world) nothingStored(t *testing.T) {
	t.Helper()
	w.viewer.Get("/plans").OK(t).Is(t, "total", 0)
	w.viewer.Get("/runs").OK(t).Is(t, "total", 0)
}

func TestARefusedAgentStartStoresNothingAndBurnsNoKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	broken := harness.With(harness.Model("broken"), "transitions.0.toStateId", "nowhere")
	w.operator.Put("/models/broken", doc{"document": broken}).OK(t)
	w.operator.Put("/models/idle", doc{"document": harness.Model("idle")}).OK(t)
	fixed := doc{"note": doc{"currency": "EUR", "none": nil}}
	clerk := fixing(harness.With(agentItem("clerk", "", "refund"), "capabilities", []any{"note", "refund", "lookup"}), fixed)
	ids := w.admitted(t, clerk, agentItem("bare", "note", ""), agentItem("broken", "note", "broken"), agentItem("idle", "note", "idle"), agentItem("gone", "note", "refund"))
	pending := w.sync(t, agentItem("pending", "note", "refund"))[0]
	w.tenantAdmin.Post("/agents/"+ids[4]+"/suspend", doc{"reason": "r"}).OK(t)
	w.tenantAdmin.Post("/models/idle/suspend", doc{"reason": "r"}).OK(t)
	good := agentRun("LIVE", "note", doc{"amount": 1})
	given := func(capability string, inputs doc) doc { return agentRun("LIVE", capability, inputs) }
	for _, c := range []struct {
		agent string
		body  doc
		code  string
		part  string // of the message
	}{
		{ids[0], harness.Without(good, "expectedRevision"), "invalid_request", "expectedRevision"},
		{ids[0], harness.With(good, "expectedRevision", nil), "invalid_request", "expectedRevision"},
		{ids[0], harness.With(good, "expectedRevision", -1), "invalid_request", "expectedRevision"},
		{ids[0], harness.With(good, "expectedRevision", 0), "revision_conflict", "1"},
		{ids[0], harness.With(good, "expectedRevision", 2), "revision_conflict", "1"},
		{ids[0], harness.With(good, "mode", "TEST"), "invalid_request", "mode"},
		{ids[0], harness.Without(good, "capability"), "invalid_request", "capability"},
		{ids[0], harness.With(good, "inputs", []any{}), "invalid_request", "inputs"},
		{ids[0], harness.With(good, "input", doc{}), "invalid_request", "input"},
		{ids[0], given("count", nil), "invalid_request", "capability: "},        // a capability of the project, but not of the agent
		{ids[0], given("nothing-such", nil), "invalid_request", "capability: "}, // a capability that doesn't exist
		{ids[0], given("note", doc{"currency": "USD"}), "invalid_request", "inputs.currency: "},
		{ids[0], given("note", doc{"currency": "EUR"}), "invalid_request", "inputs.currency: "}, // even the same value
		{ids[0], given("note", doc{"none": 1}), "invalid_request", "inputs.none: "},
		{ids[0], given("refund", nil), "invalid_request", "inputs.orderId: "},
		{ids[0], given("refund", doc{"orderId": 1}), "invalid_request", "inputs.orderId: "},
		{ids[0], given("refund", doc{"orderId": "o", "x": 1}), "invalid_request", "inputs.x: "},
		{ids[0], given("lookup", doc{"resourceId": "a/b"}), "invalid_request", "inputs.resourceId: "},
		{ids[2], good, "invalid_request", "broken"},
		{ids[3], good, "drift", "idle"},
		{ids[3], agentRun("DRY_RUN", "note", nil), "drift", "idle"},
		{ids[4], good, "agent_not_admitted", ids[4]},
		{ids[4], harness.With(agentRun("DRY_RUN", "note", nil), "expectedRevision", 2), "agent_not_admitted", ids[4]},
		{pending, good, "agent_not_admitted", pending},
		{pending, agentRun("DRY_RUN", "note", nil), "agent_not_admitted", pending},
		{"agent-none", good, "not_found", "agent-none"},
	} {
		w.operator.Post("/agents/"+c.agent+"/runs", c.body, keyed("k")).Refused(t, c.code, c.part)
	}
	w.operator.Post("/agents/"+ids[0]+"/runs", given("refund", doc{"amount": "1", "x": 1}), keyed("k")).
		Refused(t, "invalid_request", "inputs.amount: ", "inputs.x: ", "inputs.orderId: ") // the message names each
	w.operator.Post("/agents/"+ids[0]+"/runs", good).Refused(t, "idempotency_key_required")
	dry, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "modes": []string{"DRY_RUN"}})
	dry.Post("/agents/"+ids[0]+"/runs", good, keyed("k")).Refused(t, "role_required", "DRY_RUN")
	w.nothingStored(t)
	if a := dry.Post("/agents/"+ids[0]+"/runs", agentRun("DRY_RUN", "note", nil), keyed("k")); a.Status != 202 || a.Header.Get("Idempotency-Replayed") != "" {
		t.Error(a, a.Header)
	}
}

func TestADisabledProjectRefusesALIVEAgentRunBeforeAnythingElseOfThePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, fixing(agentItem("clerk", "note", "refund"), doc{"note": doc{"currency": "EUR"}}))[0]
	w.tenantAdmin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t)
	for _, body := range []doc{
		agentRun("LIVE", "note", nil), agentRun("LIVE", "count", nil), agentRun("LIVE", "nothing-such", nil), agentRun("LIVE", "note", doc{"currency": "EUR"}),
	} {
		w.asks(id, body).Refused(t, "project_disabled", shop)
		if body["capability"] != "note" || body["inputs"] != nil {
			w.asks(id, harness.With(body, "mode", "DRY_RUN")).Refused(t, "invalid_request")
		}
	}
	w.tenantAdmin.Post("/models/refund/suspend", doc{"reason": "r"}).OK(t)
	w.asks(id, agentRun("LIVE", "note", nil)).Refused(t, "project_disabled")
	w.nothingStored(t)
	w.tenantAdmin.Post("/models/refund/resume", doc{"reason": "r"}).OK(t)
	w.reaches(t, w.asks(id, agentRun("DRY_RUN", "note", nil)).OK(t).At("id").Text(), "COMPLETED").Is(t, "planSnapshot.models.0.revision", 2)
	w.enable(t, shop, 1)
	w.reaches(t, w.asks(id, agentRun("LIVE", "note", nil)).OK(t).At("id").Text(), "COMPLETED")
}

func TestARepeatedAgentStartFindsItsRunWhateverHasChangedSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	gate := make(chan struct{})
	defer close(gate)
	w.shop.On("GET", "/patient", harness.After(gate, harness.Answering(200, `{"ok":true}`)))
	item := agentItem("a", "patient", "refund")
	ids := w.admitted(t, item, agentItem("b", "patient", "refund"))
	w.operator.Put("/teams/t", teamOf(ids, teamStep("s", ids[0], "patient", doc{}))).OK(t)
	body := agentRun("LIVE", "patient", doc{"n": 1})
	start := func(who *harness.Client, agent, k string, body any) *harness.Answer {
		return who.Post("/agents/"+agent+"/runs", body, keyed(k))
	}
	run := start(w.operator, ids[0], "k", body).OK(t).At("id").Text()
	w.shop.Await(t, "GET", "/patient", 1)
	repeats := func() {
		t.Helper()
		for _, a := range []*harness.Answer{
			start(w.operator, ids[0], "k", body), start(w.operator.Aliased(), ids[0], "k", body), start(w.principal(t, "OPERATOR"), ids[0], "k", body),
			start(w.operator, ids[0], "k", `{"inputs":{"n":1.0},"capability":"patient","mode":"LIVE","expectation":{"equals":true,"field":"ok"},"expectedRevision":1}`),
		} {
			if a.OK(t).Is(t, "id", run).Is(t, "status", "RUNNING"); a.Status != 202 || a.Header.Get("Idempotency-Replayed") != "true" {
				t.Error(a, a.Header)
			}
		}
		for path, v := range map[string]any{"inputs.n": 2, "expectedRevision": 2, "mode": "DRY_RUN", "capability": "note", "expectation.equals": false} {
			start(w.operator, ids[0], "k", harness.With(body, path, v)).Refused(t, "idempotency_conflict", run)
		}
		start(w.operator, ids[1], "k", body).Refused(t, "idempotency_conflict", run)
		w.operator.Post("/teams/t/runs", doc{"expectedRevision": 1}, keyed("k")).Refused(t, "idempotency_conflict", run)
	}
	repeats()
	start(w.operator, ids[0], "other", body).Refused(t, "capacity") // at the limit of active runs
	w.operator.Post("/runs", doc{"planId": w.ready(t, planOf(step("n", "note", nil)))}, keyed("k")).Refused(t, "idempotency_conflict", run)
	w.sync(t, at(2, harness.With(item, "capabilities", []any{})))
	repeats()
	w.tenantAdmin.Post("/agents/"+ids[0]+"/suspend", doc{"reason": "r"}).OK(t)
	w.tenantAdmin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t)
	w.tenantAdmin.Post("/models/refund/suspend", doc{"reason": "r"}).OK(t)
	repeats()
	w.viewer.Get("/plans").OK(t).Is(t, "total", 2) // the run's and the one posted
	w.viewer.Get("/runs").OK(t).Is(t, "total", 1)
	dry, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "modes": []string{"DRY_RUN"}})
	start(dry, ids[0], "k", body).Refused(t, "role_required")
}

func TestAKeyOfAnotherSystemsAgentRunIsAConflictWithoutItsID(t *testing.T) {
	t.Parallel()
	w, _, two := neighbours(t)
	mine := w.admitted(t, agentItem("a", "note", "refund"))[0]
	w.operator.Put("/models/other", doc{"document": harness.Model("other")}).OK(t)
	theirs := syncTo(two, "default-two", agentItem("a", "note", "other")).OK(t).At("items.0.id").Text()
	two.Post("/agents/"+theirs+"/admit", doc{"reason": "r"}).OK(t)
	run := w.operator.Post("/agents/"+mine+"/runs", agentRun("DRY_RUN", "note", nil), keyed("k")).OK(t).At("id").Text()
	if message := two.Post("/agents/"+theirs+"/runs", agentRun("DRY_RUN", "note", nil), keyed("k")).Refused(t, "idempotency_conflict"); strings.Contains(message, run) {
		t.Error(message)
	}
	two.Post("/agents/"+mine+"/runs", agentRun("DRY_RUN", "note", nil), keyed("k")).Refused(t, "project_scope")
	two.Get("/runs/"+run).Refused(t, "project_scope")
	two.Get("/runs").OK(t).Is(t, "total", 0)
	two.Get("/plans").OK(t).Is(t, "total", 0)
}

func TestManyAgentStartsWithOneKeyMakeOneRunAndOnePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("a", "note", "refund"))[0]
	got := together(32, func(int) string {
		return w.operator.Post("/agents/"+id+"/runs", agentRun("LIVE", "note", nil), keyed("k")).OK(t).At("id").Text()
	})
	if len(got) != 1 {
		t.Fatalf("the starts gave %v", got)
	}
	for run := range got {
		w.reaches(t, run, "COMPLETED")
	}
	w.viewer.Get("/runs").OK(t).Is(t, "total", 1)
	w.viewer.Get("/plans").OK(t).Is(t, "total", 1)
}
