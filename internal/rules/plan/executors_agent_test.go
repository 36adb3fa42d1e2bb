package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

func TestAgentRunIsAPlanOfOneStep(t *testing.T) {
	expectation := &countersign.Expectation{Field: "ok", Equals: countersign.Bool(true)}
	start := countersign.AgentRunStart{ExpectedRevision: 6, Mode: countersign.ModeLive, Capability: "tell", Inputs: inputs("text", `"hi"`), Expectation: expectation}
	got, problems := plan.ForAgent(alone(herald()), start, origin())
	want := countersign.Plan{
		ID: "plan-1", Status: countersign.PlanReady, Name: "Herald: tell", Mode: countersign.ModeLive, ModelID: "heralds", ModelRevision: 9,
		Steps: []countersign.Step{{
			ID: "execute", Name: "Herald: tell", ProjectID: "acme-desk", Capability: "tell", AgentID: "agent-herald",
			Input: inputs("text", `"hi"`, "urgent", "true"), Expectation: expectation,
		}},
		Agents: []countersign.PlanAgent{{
			ID: "agent-herald", ProjectID: "acme-desk", Revision: 6, SourceRevision: 8, ModelID: "heralds", ModelRevision: 9,
			ExecutorInputs: runInputs{"tell": inputs("urgent", "true")},
		}},
		ValidationErrors: []string{}, PlanDigest: got.PlanDigest, Projects: []countersign.ProjectRef{{ID: "acme-desk", Revision: 5}},
		CreatedBy: "user:ada@example.com", CreatedAt: noon,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(countersign.Value.Equal)); diff != "" || problems != nil {
		t.Errorf("%v: %s", problems, diff)
	}
}

func TestAgentRunIsARehearsalUnlessItSaysLive(t *testing.T) {
	start := countersign.AgentRunStart{Capability: "tell", Inputs: inputs("text", `"hi"`)}
	if p, problems := plan.ForAgent(alone(herald()), start, origin()); p.Mode != countersign.ModeDryRun || problems != nil {
		t.Errorf("%s, %v", p.Mode, problems)
	}
}

// TestProblemOfAnAgentRunIsNamedByItsOwnFields, not by those of the step that is
// made of it.
func TestProblemOfAnAgentRunIsNamedByItsOwnFields(t *testing.T) {
	tests := []struct {
		name       string
		capability string
		inputs     map[string]countersign.Value
		change     func(*plan.Executors)
		want       string
	}{
		{"a capability that is not the agent's", "shut", nil, nil, "capability: agent agent-herald doesn't have shut; it has tell"},
		{"no capability at all", "tell", inputs("text", `"hi"`), func(c *plan.Executors) { c.Executors[0].Agent.Capabilities = nil },
			"capability: agent agent-herald doesn't have tell; it has none"},
		{"a capability that is registered no more", "tell", inputs("text", `"hi"`), func(c *plan.Executors) { c.Projects["acme-desk"].Project.Capabilities = nil },
			"capability: project acme-desk has no capability tell"},
		{"a fixed input", "tell", inputs("text", `"hi"`, "urgent", "false"), nil, "inputs.urgent: the agent's manifest fixes it; leave it out"},
		{"a fixed input with the same value", "tell", inputs("text", `"hi"`, "urgent", "true"), nil, "inputs.urgent: the agent's manifest fixes it; leave it out"},
		{"an input that is missing", "tell", nil, nil, "inputs.text: is required by tell"},
		{"an input of another type", "tell", inputs("text", "7"), nil, "inputs.text: must be string, not number"},
		{"an input that is not declared", "tell", inputs("text", `"hi"`, "tone", `"x"`), nil,
			"inputs.tone: tell takes no such input; its inputSchema does not declare it"},
		{"a model with errors", "tell", inputs("text", `"hi"`), func(c *plan.Executors) { c.Executors[0].Model.Document.States = nil },
			"model heralds: states: no state has isStart true"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := alone(herald())
			if test.change != nil {
				test.change(&c)
			}
			_, problems := plan.ForAgent(c, countersign.AgentRunStart{Capability: test.capability, Inputs: test.inputs}, origin())
			wantOnly(t, problems, test.want)
		})
	}
}

// wantOnly asserts that one problem is there and begins so.
func wantOnly(t *testing.T, problems []string, want string) {
	t.Helper()
	if len(problems) != 1 || len(problems[0]) < len(want) || problems[0][:len(want)] != want {
		t.Errorf("%q, want %q", problems, want)
	}
}

// A field is fixed for the capability that the manifest names, for no other.
func TestFieldIsFixedForItsCapabilityOnly(t *testing.T) {
	e := clerk()
	e.Agent.ExecutorInputs = runInputs{"refund": inputs("note", `"by the clerk"`)}
	c := alone(e)
	c.Projects["acme-shop"].Project.Capabilities[0].InputSchema["note"] = countersign.InputField{Type: "string"}
	start := countersign.AgentRunStart{Capability: "read", Inputs: inputs("resourceId", `"o-1"`, "note", `"mine"`)}
	p, problems := plan.ForAgent(c, start, origin())
	if diff := cmp.Diff(start.Inputs, p.Steps[0].Input, cmp.Comparer(countersign.Value.Equal)); diff != "" || problems != nil {
		t.Errorf("%v: %s", problems, diff)
	}
}

// A run that merges inputs must not change what the agent or the caller holds.
func TestMakingAPlanChangesNothingOfWhatItIsMadeFrom(t *testing.T) {
	c, given := alone(herald()), inputs("text", `"hi"`)
	plan.ForAgent(c, countersign.AgentRunStart{Capability: "tell", Inputs: given}, origin())
	if diff := cmp.Diff(herald().Agent, c.Executors[0].Agent, cmp.Comparer(countersign.Value.Equal)); diff != "" || len(given) != 1 {
		t.Errorf("%v: %s", given, diff)
	}
}
