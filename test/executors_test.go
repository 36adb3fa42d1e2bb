package test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// agentItem is an agent of a manifest, at source revision 1; a modelID of "" leaves the model out.
func agentItem(external, capability, modelID string) doc {
	a := doc{
		"externalAgentId": external, "sourceRevision": 1, "name": external, "role": "clerk", "goal": "help",
		"capabilities": []any{capability},
	}
	if modelID != "" {
		a["modelId"] = modelID
	}
	return a
}

// manifest is a manifest of these agents.
func manifest(agents ...doc) doc {
	list := make([]any, len(agents))
	for i, a := range agents {
		list[i] = a
	}
	return doc{"schemaVersion": "1.0", "agents": list}
}

// beat is a heartbeat with the present time.
func beat(instance string, sequence int, state string) doc {
	return doc{"instanceId": instance, "sequence": sequence, "state": state, "timestamp": time.Now().UTC().Format(time.RFC3339Nano)}
}

// sync syncs agents of the shop and returns their ids.
func (w *world) sync(t *testing.T, agents ...doc) []string {
	t.Helper()
	var ids []string
	for _, a := range w.operator.Post("/systems/"+shop+"/agents/sync", manifest(agents...)).OK(t).At("items").Items() {
		ids = append(ids, a.At("id").Text())
	}
	return ids
}

// admitted syncs agents of the shop and admits them.
func (w *world) admitted(t *testing.T, agents ...doc) []string {
	t.Helper()
	ids := w.sync(t, agents...)
	for _, id := range ids {
		w.Admin.Post("/agents/"+id+"/admit", doc{"reason": "known"}).OK(t).Is(t, "status", "ADMITTED")
	}
	return ids
}

// teamOf is a team of these agents and steps. Without any, the second agent takes a note.
func teamOf(agents []string, steps ...doc) doc {
	if len(steps) == 0 && len(agents) > 1 {
		steps = []doc{teamStep("note", agents[1], "note", doc{})}
	}
	members := []any{}
	for _, id := range agents {
		members = append(members, doc{"agentId": id, "role": "member"})
	}
	list := make([]any, len(steps))
	for i, s := range steps {
		list[i] = s
	}
	return doc{"name": "team", "members": members, "steps": list}
}

// teamStep is a team's step.
func teamStep(id, agent, capability string, input doc) doc {
	return doc{"id": id, "name": id, "agentId": agent, "capability": capability, "input": input}
}

func TestTeamRunPassesVerifiedOutputsFromOneAgentToTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.admitted(t, agentItem("reader", "lookup", "refund"), harness.With(agentItem("payer", "note", "refund"), "executorInputs", doc{"note": doc{"currency": "EUR"}}))
	w.shop.On("GET", "/orders/o-1", harness.Answering(200, `{"total":12.50,"state":"returned"}`))
	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true}`))
	look := expecting(teamStep("look", ids[0], "lookup", doc{"resourceId": "o-1"}), "state", "returned")
	pay := harness.With(teamStep("pay", ids[1], "note", doc{}), "inputBindings", doc{"amount": doc{"stepId": "look", "field": "total"}})
	pay = expecting(harness.With(pay, "dependsOn", []any{"look"}), "ok", true)
	w.operator.Put("/teams/refunds", teamOf(ids, look, pay)).OK(t).Is(t, "revision", 1)
	started := w.operator.Post("/teams/refunds/runs", doc{"expectedRevision": 1, "mode": "LIVE"}, key()).OK(t)
	run := w.reaches(t, started.At("id").Text(), "COMPLETED")
	run.Is(t, "teamId", "refunds").Is(t, "steps.0.agentId", ids[0]).Is(t, "steps.1.agentId", ids[1]).
		Is(t, "steps.1.request.body", doc{"amount": number("12.50"), "currency": "EUR"}).
		Is(t, "planSnapshot.team.revision", 1).Is(t, "planSnapshot.agents.1.executorInputs.note.currency", "EUR").
		Is(t, "planSnapshot.agents.0.modelRevision", 1).Is(t, "planSnapshot.models.0.id", "refund")
}
