package plan_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// shop is the project that the test plans call.
func shop() *countersign.Project {
	field := func(kind string, required bool) countersign.InputField {
		return countersign.InputField{Type: kind, Required: required}
	}
	return &countersign.Project{
		ID: "acme-shop", Revision: 3, Name: "Shop", Adapter: countersign.AdapterHTTPJSON, BaseURL: "https://api.example.com", Enabled: true,
		Capabilities: []countersign.Capability{
			{Name: "read", Method: "GET", Path: "/orders/{resourceId}", InputSchema: map[string]countersign.InputField{"resourceId": field("string", true)}},
			{Name: "refund", Method: "POST", Path: "/refunds", InputSchema: map[string]countersign.InputField{
				"amount": field("number", true), "note": field("string", false), "vip": field("boolean", false),
			}},
		},
	}
}

func refunds() *countersign.Model { return &countersign.Model{ID: "refunds", Revision: 2} }

// sources is a tenant with the shop, a project that is disabled and one out of
// the maker's scope.
func sources() plan.Sources {
	disabled, foreign := shop(), shop()
	disabled.ID, disabled.Enabled = "acme-closed", false
	foreign.ID = "acme-vault"
	return plan.Sources{Model: refunds(), Projects: map[string]plan.Source{
		"acme-shop":   {Project: shop(), InScope: true},
		"acme-closed": {Project: disabled, InScope: true},
		"acme-vault":  {Project: foreign},
	}}
}

func origin() plan.Creation {
	return plan.Creation{ID: "plan-1", By: "user:ada@example.com", Now: noon}
}

// write is a plan of steps as its maker writes it.
func write(mode string, steps ...countersign.Step) countersign.PlanWrite {
	return countersign.PlanWrite{Name: "Refund", ModelID: "refunds", ModelRevision: 2, Steps: steps, Mode: mode}
}

// read and refund are steps without a problem.

func read(id string, dependsOn ...string) countersign.Step {
	return countersign.Step{ID: id, Name: id, ProjectID: "acme-shop", Capability: "read", DependsOn: dependsOn, Input: inputs("resourceId", `"o-1"`)}
}

func refund(id string, dependsOn ...string) countersign.Step {
	return countersign.Step{ID: id, Name: id, ProjectID: "acme-shop", Capability: "refund", DependsOn: dependsOn, Input: inputs("amount", "5")}
}

// bound takes an input from an earlier step instead.
func bound(s countersign.Step, input, from, field string) countersign.Step {
	delete(s.Input, input)
	s.InputBindings = map[string]countersign.Binding{input: {StepID: from, Field: field}}
	return s
}

// inputs reads names and JSON values in turn.
func inputs(namesAndValues ...string) map[string]countersign.Value {
	m := map[string]countersign.Value{}
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		m[namesAndValues[i]] = countersign.RawValue(namesAndValues[i+1])
	}
	return m
}

// kept is a plan as it is read back from the store.
func kept(t *testing.T, p countersign.Plan) *countersign.Plan {
	t.Helper()
	b, err := countersign.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return parsed[countersign.Plan](t, string(b))
}
