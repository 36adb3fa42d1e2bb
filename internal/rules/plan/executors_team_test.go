package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

func TestTeamRunIsAPlanOfTheTeamsSteps(t *testing.T) {
	c := executorSubjects(reads("look"), taking(tells("say", "look"), "total", "look", "sum"))
	got, problems := plan.ForTeam(c, teamRun(countersign.ModeLive, nil), origin())
	want := countersign.Plan{
		ID: "plan-1", Status: countersign.PlanReady, Name: "Refunds", Mode: countersign.ModeLive,
		Steps: []countersign.Step{
			{ID: "look", Name: "Read", ProjectID: "acme-shop", Capability: "read", AgentID: "agent-clerk", Input: inputs("resourceId", `"o-1"`)},
			{ID: "say", Name: "Tell", ProjectID: "acme-desk", Capability: "tell", AgentID: "agent-herald", Input: inputs("text", `"hi"`, "urgent", "true"),
				DependsOn: []string{"look"}, InputBindings: map[string]countersign.Binding{"total": {StepID: "look", Field: "sum"}}},
		},
		Team: &countersign.PlanTeam{ID: "refunds", Revision: 2, Members: c.Team.Members},
		Agents: []countersign.PlanAgent{
			{ID: "agent-clerk", ProjectID: "acme-shop", Revision: 4, SourceRevision: 7, ExecutorInputs: runInputs{}, ModelID: "refunds", ModelRevision: 2},
			{ID: "agent-herald", ProjectID: "acme-desk", Revision: 6, SourceRevision: 8, ExecutorInputs: runInputs{"tell": inputs("urgent", "true")}, ModelID: "heralds", ModelRevision: 9},
		},
		ValidationErrors: []string{}, PlanDigest: got.PlanDigest,
		Projects:  []countersign.ProjectRef{{ID: "acme-shop", Revision: 3}, {ID: "acme-desk", Revision: 5}},
		CreatedBy: "user:ada@example.com", CreatedAt: noon,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(countersign.Value.Equal)); diff != "" || problems != nil {
		t.Errorf("%v: %s", problems, diff)
	}
}

// TestRunInputsOverrideStepInputsFieldByField, and what is fixed stands over both.
func TestRunInputsOverrideStepInputsFieldByField(t *testing.T) {
	s := changed(tells("say"), func(s *countersign.TeamStep) { s.Input = inputs("text", `"hi"`, "total", "1") })
	p, problems := plan.ForTeam(executorSubjects(s, tells("again")), teamRun("", runInputs{"say": inputs("total", "2")}), origin())
	want := []map[string]countersign.Value{inputs("text", `"hi"`, "total", "2", "urgent", "true"), inputs("text", `"hi"`, "urgent", "true")}
	for i := range want {
		if diff := cmp.Diff(want[i], p.Steps[i].Input, cmp.Comparer(countersign.Value.Equal)); diff != "" || problems != nil {
			t.Errorf("%v: %s", problems, diff)
		}
	}
}

// TestNothingSetsAFixedField: not the step, not the run, not a binding, and not
// even the value that it has.
func TestNothingSetsAFixedField(t *testing.T) {
	for _, value := range []string{"true", "false", "null"} {
		step := changed(tells("say"), func(s *countersign.TeamStep) { s.Input = inputs("text", `"hi"`, "urgent", value) })
		wantOnly(t, teamProblems(executorSubjects(step), nil), "steps[0].input.urgent: the agent's manifest fixes it")
		wantOnly(t, teamProblems(executorSubjects(tells("say")), runInputs{"say": inputs("urgent", value)}), "inputs.say.urgent: the agent's manifest fixes it")
	}
	bound := taking(tells("say", "look"), "urgent", "look", "hurry")
	want := []string{
		"steps[1].inputBindings.urgent: the agent's manifest fixes it; leave it out",
		"steps[1].inputBindings.urgent: urgent has a literal input already; keep one of the two",
	}
	if diff := cmp.Diff(want, teamProblems(executorSubjects(reads("look"), bound), nil)); diff != "" {
		t.Error(diff)
	}
}

// TestEveryProblemOfATeamRunIsNamedWithItsPath: each alone.
func TestEveryProblemOfATeamRunIsNamedWithItsPath(t *testing.T) {
	tests := []struct {
		name      string
		executors plan.Executors
		inputs    runInputs
		change    func(*plan.Executors)
		want      string
	}{
		{"no steps", executorSubjects(), nil, nil, "steps: there must be at least one"},
		{"an executor that is no member", executorSubjects(changed(reads("a"), func(s *countersign.TeamStep) { s.AgentID = "agent-x" })), nil, nil,
			"steps[0].agentId: agent-x is no member"},
		{"a capability that is another member's", executorSubjects(tells("a"), changed(tells("b"), func(s *countersign.TeamStep) { s.Capability = "shut" })), nil, nil,
			"steps[1].capability: agent agent-herald doesn't have shut; it has tell"},
		{"an unknown member", executorSubjects(reads("a")), nil, func(c *plan.Executors) {
			c.Team.Members = append(c.Team.Members, countersign.TeamMember{AgentID: "agent-x"})
		},
			"members[2].agentId: there is no agent agent-x"},
		{"one member twice", executorSubjects(reads("a")), nil, func(c *plan.Executors) { c.Team.Members[1].AgentID = "agent-clerk" }, "members: a team has at least 2 different agents"},
		{"a member that lost its model", executorSubjects(reads("a")), nil, func(c *plan.Executors) { c.Executors[1].Agent.ModelID, c.Executors[1].Model = "", nil },
			"members[1].agentId: agent agent-herald has no model; its manifest names one"},
		{"a model with errors", executorSubjects(reads("a")), nil, func(c *plan.Executors) { c.Executors[1].Model.Document.States = nil }, "model heralds: states: no state"},
		{"inputs for no step", executorSubjects(reads("a")), runInputs{"b": {}}, nil, "inputs.b: there is no such step"},
		{"a run input of another type", executorSubjects(refunding("a")), runInputs{"a": inputs("amount", `"5"`)}, nil, "steps[0].input.amount: must be number, not string"},
		{"a run input where a binding is", executorSubjects(reads("a"), taking(tells("b", "a"), "total", "a", "sum")), runInputs{"b": inputs("total", "5")}, nil,
			"steps[1].inputBindings.total: total has a literal input already; keep one of the two"},
		{"a missing input", executorSubjects(changed(refunding("a"), func(s *countersign.TeamStep) { s.Input = nil })), nil, nil, "steps[0].input.amount: is required by refund"},
		{"one id twice", executorSubjects(reads("a"), reads("a")), nil, nil, "steps[1].id: a is the id of steps[0] already"},
		{"an unknown dependency", executorSubjects(reads("a", "z")), nil, nil, "steps[0].dependsOn[0]: there is no step z"},
		{"a cycle", executorSubjects(reads("a", "b"), reads("b", "a")), nil, nil, "steps: a, b depend on each other"},
		{"a binding to no dependency", executorSubjects(reads("a"), taking(tells("b"), "total", "a", "sum")), nil, nil, "steps[1].inputBindings.total.stepId: a is no dependency of b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.change != nil {
				test.change(&test.executors)
			}
			wantOnly(t, teamProblems(test.executors, test.inputs), test.want)
		})
	}
}

func TestProblemsOfATeamRunAreNamedTogether(t *testing.T) {
	c := executorSubjects(changed(reads("a"), func(s *countersign.TeamStep) { s.AgentID = "agent-x" }), tells("b", "z"))
	c.Team.Members = c.Team.Members[1:]
	want := []string{
		"members: a team has at least 2 different agents", "steps[0].agentId: agent-x is no member",
		"inputs.b.urgent: the agent's manifest fixes it; leave it out", "inputs.c: there is no such step", "steps[1].dependsOn[0]: there is no step z",
	}
	if diff := cmp.Diff(want, teamProblems(c, runInputs{"b": inputs("urgent", "false"), "c": nil})); diff != "" {
		t.Error(diff)
	}
}

// Whoever may see the plan may see each member: the systems of all of them are
// its projects, each once, also those that no step calls.
func TestPlanRefersToTheSystemOfEveryMember(t *testing.T) {
	c := executorSubjects(reads("a"))
	third := herald()
	third.Agent.ID = "agent-third"
	c.Executors = append(c.Executors, third)
	p, _ := plan.ForTeam(c, teamRun("", nil), origin())
	if diff := cmp.Diff([]countersign.ProjectRef{{ID: "acme-shop", Revision: 3}, {ID: "acme-desk", Revision: 5}}, p.Projects); diff != "" {
		t.Error(diff)
	}
}

func TestModelOfSeveralMembersIsNamedOnce(t *testing.T) {
	c := executorSubjects(reads("a"))
	broken := sound("refunds", 2)
	broken.Document.States = nil
	c.Executors[0].Model, c.Executors[1].Model = broken, broken
	wantOnly(t, teamProblems(c, nil), "model refunds: ")
}
