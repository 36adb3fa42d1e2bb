package plan_test

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

// desk is a second project system.
func desk() *countersign.Project {
	return &countersign.Project{
		ID: "acme-desk", Revision: 5, Name: "Desk", Adapter: countersign.AdapterLocalEcho, Enabled: true,
		Capabilities: []countersign.Capability{
			{Name: "tell", Method: "POST", Path: "/notices", InputSchema: map[string]countersign.InputField{
				"text": {Type: "string", Required: true}, "urgent": {Type: "boolean"}, "total": {Type: "number"},
			}},
			{Name: "shut", Method: "POST", Path: "/shut"},
		},
	}
}

// clerk reads and refunds in the shop; nothing is fixed.
func clerk() plan.Executor {
	return plan.Executor{Model: sound("refunds", 2), Agent: countersign.Agent{
		ID: "agent-clerk", ProjectID: "acme-shop", SourceRevision: 7, Revision: 4, Name: "Clerk", Capabilities: []string{"read", "refund"},
		ExecutorInputs: map[string]map[string]countersign.Value{}, ModelID: "refunds",
	}}
}

// herald tells from the desk, always urgently.
func herald() plan.Executor {
	return plan.Executor{Model: sound("heralds", 9), Agent: countersign.Agent{
		ID: "agent-herald", ProjectID: "acme-desk", SourceRevision: 8, Revision: 6, Name: "Herald", Capabilities: []string{"tell"},
		ExecutorInputs: map[string]map[string]countersign.Value{"tell": inputs("urgent", "true")}, ModelID: "heralds",
	}}
}

// sound is a model without errors.
func sound(id string, revision int64) *countersign.Model {
	m := line("x")
	m.ID, m.Revision = id, revision
	return m
}

// executorSubjects is a team of the clerk and the herald with these steps.
func executorSubjects(steps ...countersign.TeamStep) plan.Executors {
	return plan.Executors{
		Team: &countersign.Team{
			ID: "refunds", Revision: 2, Name: "Refunds", Steps: steps,
			Members: []countersign.TeamMember{{AgentID: "agent-clerk", Role: "lead"}, {AgentID: "agent-herald", Role: "voice"}},
		},
		Executors: []plan.Executor{clerk(), herald()},
		Projects:  map[string]plan.Source{"acme-shop": {Project: shop(), InScope: true}, "acme-desk": {Project: desk(), InScope: true}},
	}
}

// alone is the one executor of an agent run.
func alone(e plan.Executor) plan.Executors {
	c := executorSubjects()
	c.Team, c.Executors = nil, []plan.Executor{e}
	return c
}

// reads, refunding and tells are steps of a team without a problem.

func reads(id string, dependsOn ...string) countersign.TeamStep {
	return countersign.TeamStep{ID: id, Name: "Read", AgentID: "agent-clerk", Capability: "read", DependsOn: dependsOn, Input: inputs("resourceId", `"o-1"`)}
}

func refunding(id string, dependsOn ...string) countersign.TeamStep {
	return countersign.TeamStep{ID: id, Name: "Refund", AgentID: "agent-clerk", Capability: "refund", DependsOn: dependsOn, Input: inputs("amount", "5")}
}

func tells(id string, dependsOn ...string) countersign.TeamStep {
	return countersign.TeamStep{ID: id, Name: "Tell", AgentID: "agent-herald", Capability: "tell", DependsOn: dependsOn, Input: inputs("text", `"hi"`)}
}

// changed applies a change to a step.
func changed(s countersign.TeamStep, change func(*countersign.TeamStep)) countersign.TeamStep {
	change(&s)
	return s
}

// taking binds an input of a step to the output of another.
func taking(s countersign.TeamStep, input, from, field string) countersign.TeamStep {
	s.InputBindings = map[string]countersign.Binding{input: {StepID: from, Field: field}}
	return s
}

type runInputs = map[string]map[string]countersign.Value

func teamRun(mode string, in runInputs) countersign.TeamRunStart {
	return countersign.TeamRunStart{ExpectedRevision: 2, Mode: mode, Inputs: in}
}

// teamProblems are those of a rehearsal of the team.
func teamProblems(c plan.Executors, in runInputs) []string {
	_, problems := plan.ForTeam(c, teamRun("", in), origin())
	return problems
}
