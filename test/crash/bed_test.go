package crash

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// bed is a test bed: a service with everything that the campaigns need, namely a shop, an enabled project for it,
// models, agents, a team, plans, and one principal of each kind.
type bed struct {
	*harness.Server
	t    *testing.T
	shop *shop

	operator, reviewer *harness.Client
	agents             []string // admitted; the first looks up, the second notes, the third refunds
	plans              []string // LIVE
	rehearsal          string   // DRY_RUN
}

const project = "default-shop"

func newBed(t *testing.T, program string, settings ...harness.Setting) *bed {
	t.Helper()
	b := &bed{t: t, shop: newShop(t)}
	b.Server = harness.Prepare(t, append([]harness.Setting{
		harness.Set("CONNECTION_ORIGINS", b.shop.Origin()),
		harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv),
		harness.Env(harness.SecretEnv, harness.Secret),
	}, settings...)...)
	b.Keep(harness.Secret)
	b.Use(program)
	b.Restart()
	b.operator, b.reviewer = b.principal("OPERATOR"), b.principal("APPROVER")
	b.register()
	b.registerAgents()
	for _, steps := range livePlans() {
		b.plans = append(b.plans, b.plan("LIVE", steps))
	}
	b.rehearsal = b.plan("DRY_RUN", livePlans()[2])
	return b
}

func (b *bed) principal(role string) *harness.Client {
	b.t.Helper()
	made := b.Admin.Post("/tokens", doc{"name": role, "roles": []string{role}}).OK(b.t)
	return b.As(made.At("token").Text())
}

func (b *bed) register() {
	b.t.Helper()
	b.operator.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(b.t)
	b.Admin.Put("/projects/"+project, harness.Project(b.shop.Origin())).OK(b.t)
	b.Admin.Post("/projects/"+project+"/health-check", nil).OK(b.t).Is(b.t, "healthy", true)
	b.Admin.Post("/projects/"+project+"/enable", doc{"expectedRevision": 1}).OK(b.t)
}

// registerAgents registers three agents and a team of them.
func (b *bed) registerAgents() {
	b.t.Helper()
	list := []any{}
	for _, capability := range []string{"lookup", "note", "refund"} {
		list = append(list, agentItem(capability, 1))
	}
	for _, a := range b.operator.Post("/systems/"+project+"/agents/sync", manifest(list...)).OK(b.t).At("items").Items() {
		id := a.At("id").Text()
		b.Admin.Post("/agents/"+id+"/admit", doc{"reason": "known"}).OK(b.t)
		b.agents = append(b.agents, id)
	}
	b.operator.Put("/teams/crew", b.team()).OK(b.t)
}

// agentItem is an agent of a manifest, named after its capability.
func agentItem(capability string, sourceRevision int) doc {
	return doc{
		"externalAgentId": capability, "sourceRevision": sourceRevision, "name": capability, "role": "clerk", "goal": "help",
		"capabilities": []any{capability}, "modelId": "refund",
	}
}

func manifest(agents ...any) doc { return doc{"schemaVersion": "1.0", "agents": agents} }

func (b *bed) team() doc {
	look := doc{"id": "look", "name": "look", "agentId": b.agents[0], "capability": "lookup", "input": doc{"resourceId": "o-7"}}
	note := doc{"id": "note", "name": "note", "agentId": b.agents[1], "capability": "note", "input": doc{}, "dependsOn": []any{"look"},
		"inputBindings": doc{"total": doc{"stepId": "look", "field": "total"}}}
	pay := doc{"id": "pay", "name": "pay", "agentId": b.agents[2], "capability": "refund", "input": doc{"orderId": "o-7"}, "dependsOn": []any{"note"},
		"expectation": doc{"field": "status", "equals": "refunded"}}
	members := []any{}
	for _, id := range b.agents {
		members = append(members, doc{"agentId": id, "role": "member"})
	}
	return doc{"name": "crew", "members": members, "steps": []any{look, note, pay}}
}

func (b *bed) plan(mode string, steps []any) string {
	b.t.Helper()
	return b.operator.Post("/plans", planOf(mode, steps)).OK(b.t).Is(b.t, "status", "READY").At("id").Text()
}

func planOf(mode string, steps []any) doc {
	return doc{"name": "plan", "modelId": "refund", "modelRevision": 1, "mode": mode, "steps": steps}
}

// livePlans mix reads and side effects, with and without approval, with bindings and expectations.
func livePlans() [][]any {
	look := step("look", "lookup", doc{"resourceId": "o-1"})
	bound := harness.With(after(step("note", "note", doc{"text": "t"}), "look"), "inputBindings", doc{"total": doc{"stepId": "look", "field": "total"}})
	refund := harness.With(step("refund", "refund", doc{"orderId": "o-1", "amount": 5}), "expectation", doc{"field": "status", "equals": "refunded"})
	return [][]any{
		{look, bound, step("search", "search", nil)},
		{look, after(refund, "look"), step("note", "note", doc{"text": "paid"})},
		{step("effect", "effect", nil), refund, step("guarded", "guarded", nil), step("count", "count", doc{"n": 1}), step("note", "note", nil)},
	}
}

func step(id, capability string, input doc) doc {
	if input == nil {
		input = doc{}
	}
	return doc{"id": id, "name": id, "projectId": project, "capability": capability, "input": input}
}

func after(s doc, id string) doc { return harness.With(s, "dependsOn", []any{id}) }

// agentRun is the body of a LIVE run of an agent.
func agentRun(capability string, inputs doc, field string, equals any) doc {
	return doc{
		"expectedRevision": 1, "mode": "LIVE", "capability": capability, "inputs": inputs,
		"expectation": doc{"field": field, "equals": equals},
	}
}
