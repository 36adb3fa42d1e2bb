package linearizability

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

const (
	origin = "https://api.example.com"
	secret = "SHOP_SECRET"
	shop   = tenant + "-shop"
	desk   = "desk" // the model of the plans and agents
)

// The shop's capabilities. The receiver holds the calls of some until the test answers them.
const (
	note     = "note"     // a side effect, answered at once
	pay      = "pay"      // a side effect, held
	look     = "look"     // a read, held
	refund   = "refund"   // a side effect that asks for approval, answered at once
	transfer = "transfer" // a side effect that asks for approval, held
)

const heldPath = "/held"

// longest is the timeout of held side effects, the longest that there is: after it a person may reconcile a run though its call has no
// answer, which the models don't know of. On a machine with much other work the default of 10 seconds is over before a test answers.
const longest = 60_000

// rehearsal is the name of the DRY_RUN plan; the other plans are named after capabilities.
const rehearsal = "rehearsal"

func shopWrite(name string, revision int64) countersign.ProjectWrite {
	return countersign.ProjectWrite{
		Name: name, Adapter: countersign.AdapterHTTPJSON, BaseURL: origin, ExpectedRevision: revision,
		Auth: countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: secret}),
		Capabilities: []countersign.Capability{
			{Name: note, Method: "POST", Path: "/notes", Approval: countersign.ApprovalNone},
			{Name: pay, Method: "POST", Path: heldPath + "/payments", Approval: countersign.ApprovalNone, TimeoutMs: longest},
			{Name: look, Method: "GET", Path: heldPath + "/orders"},
			{Name: refund, Method: "POST", Path: "/refunds"},
			{Name: transfer, Method: "POST", Path: heldPath + "/transfers", TimeoutMs: longest},
		},
	}
}

// furnish registers the shop, a model, and two agents that may do everything.
func (f *fixture) furnish() {
	f.t.Helper()
	_, err := f.control.PutProject(background(), ada, shop, shopWrite("Shop", 0))
	f.must(err)
	f.enable(1)
	_, err = f.control.PutModel(background(), ada, desk, modelWrite(desk, "Desk", 0))
	f.must(err)
	_, err = f.control.SyncAgents(background(), ada, shop, manifest(1, "helps", "reader", "payer"))
	f.must(err)
	for _, name := range []string{"reader", "payer"} {
		_, err = f.control.AdmitAgent(background(), ada, agentID(name), countersign.Admission{Reason: "known"})
		f.must(err)
	}
	f.plans = map[string]string{}
	for _, capability := range []string{note, pay, look, refund, transfer} {
		f.plans[capability] = f.livePlan(step(capability, capability))
	}
	f.plans[rehearsal] = f.plan(desk, countersign.ModeDryRun, step(pay, pay))
}

// enable enables the shop at this revision.
func (f *fixture) enable(revision int64) {
	f.t.Helper()
	_, err := f.control.CheckHealth(background(), ada, shop)
	f.must(err)
	_, err = f.control.EnableProject(background(), ada, shop, countersign.Toggle{ExpectedRevision: revision})
	f.must(err)
}

func modelWrite(id, name string, revision int64) countersign.ModelWrite {
	doc := countersign.AgentModel{
		SchemaVersion: countersign.ModelSchemaVersion, ID: id, Name: name, Revision: 1,
		Variables: []countersign.Variable{}, Actions: []countersign.Action{}, Scenarios: []countersign.Scenario{},
		States: []countersign.ModelState{
			{ID: "open", Name: "Open", IsStart: true, Position: countersign.Position{X: "0", Y: "0"}},
			{ID: "closed", Name: "Closed", IsFinal: true, Position: countersign.Position{X: "1", Y: "0"}},
		},
		Transitions: []countersign.Transition{{ID: "close", Name: "Close", FromStateID: "open", ToStateID: "closed", Condition: countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: countersign.CombinatorAnd, Conditions: []countersign.Condition{}}}}},
	}
	return countersign.ModelWrite{Document: doc, ExpectedRevision: revision}
}

func manifest(revision int64, goal string, names ...string) countersign.Manifest {
	m := countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion}
	for _, name := range names {
		m.Agents = append(m.Agents, countersign.ManifestAgent{
			ExternalAgentID: name, SourceRevision: revision, Name: name, Role: "clerk", Goal: goal,
			Capabilities: []string{note, pay, look, refund, transfer}, ModelID: desk,
		})
	}
	return m
}

func agentID(name string) string { return registry.ID(shop, name) }

// step calls a capability; it depends on these other steps.
func step(id, capability string, dependsOn ...string) countersign.Step {
	return countersign.Step{
		ID: id, Name: id, ProjectID: shop, Capability: capability, DependsOn: dependsOn, Expectation: done(),
	}
}

func done() *countersign.Expectation {
	return &countersign.Expectation{Field: "state", Equals: countersign.String("done")}
}

// plan makes a READY plan of a model at its present revision.
func (f *fixture) plan(model, mode string, steps ...countersign.Step) string {
	f.t.Helper()
	m, err := f.control.Model(background(), ann, model)
	f.must(err)
	p, err := f.control.CreatePlan(background(), ann, countersign.PlanWrite{Name: "Plan", ModelID: model, ModelRevision: m.Revision, Steps: steps, Mode: mode})
	f.must(err)
	if p.Status != countersign.PlanReady {
		f.t.Fatalf("the plan is %s: %v", p.Status, p.ValidationErrors)
	}
	return p.ID
}

func (f *fixture) livePlan(steps ...countersign.Step) string {
	f.t.Helper()
	return f.plan(desk, countersign.ModeLive, steps...)
}

// teamWrite is a team of both agents whose steps use these capabilities.
func teamWrite(name string, revision int64, capabilities ...string) countersign.TeamWrite {
	w := countersign.TeamWrite{
		Name: name, ExpectedRevision: revision, Steps: []countersign.TeamStep{},
		Members: []countersign.TeamMember{{AgentID: agentID("reader"), Role: "reader"}, {AgentID: agentID("payer"), Role: "payer"}},
	}
	for _, c := range capabilities {
		s := countersign.TeamStep{ID: c, Name: c, AgentID: agentID("payer"), Capability: c, Expectation: done()}
		if n := len(w.Steps); n > 0 {
			s.DependsOn = []string{w.Steps[n-1].ID}
		}
		w.Steps = append(w.Steps, s)
	}
	return w
}
