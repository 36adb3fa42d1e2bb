package plan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

// Inputs that are still missing may come with the run.
func TestTeamMayLeaveInputsToTheRun(t *testing.T) {
	bare := func(s *countersign.TeamStep) { s.Input = nil }
	c := executorSubjects(changed(reads("a"), bare), changed(refunding("b", "a"), bare), changed(tells("c"), bare))
	if problems := plan.CheckTeam(nil, c); problems != nil {
		t.Errorf("%v", problems)
	}
	complete := runInputs{"a": inputs("resourceId", `"o-1"`), "b": inputs("amount", "5"), "c": inputs("text", `"hi"`)}
	if problems := teamProblems(c, complete); problems != nil {
		t.Errorf("with all inputs: %v", problems)
	}
}

func TestATeamHasStepsAndEachMemberARole(t *testing.T) {
	wantOnly(t, plan.CheckTeam(nil, executorSubjects()), "steps: there must be at least one")
	for _, blank := range []string{"", " ", "\t\u200b"} {
		c := executorSubjects(reads("a"))
		c.Team.Members[1].Role = blank
		wantOnly(t, plan.CheckTeam(nil, c), "members[1].role: must say what part agent agent-herald has; it is blank")
	}
}

// A team says nothing of the mode, and a start asks in its own turn whether the projects are
// enabled: they may be disabled for now.
func TestTeamMayUseDisabledProjects(t *testing.T) {
	c := executorSubjects(reads("a"), tells("b"))
	c.Projects["acme-shop"].Project.Enabled = false
	if problems := plan.CheckTeam(nil, c); problems != nil {
		t.Errorf("%v", problems)
	}
	_, problems := plan.ForTeam(c, teamRun(countersign.ModeLive, nil), origin())
	if len(problems) > 0 {
		t.Errorf("a LIVE start: %v", problems)
	}
}

// TestWhatATeamSaysWronglyIsNamedBeforeAnyRun: all but what is missing.
func TestWhatATeamSaysWronglyIsNamedBeforeAnyRun(t *testing.T) {
	c := executorSubjects(
		changed(refunding("a"), func(s *countersign.TeamStep) { s.Input = inputs("amount", `"5"`, "tip", "1") }),
		changed(tells("b", "b"), func(s *countersign.TeamStep) { s.Input = inputs("urgent", "false") }),
		changed(reads("c"), func(s *countersign.TeamStep) { s.AgentID, s.Capability = "agent-herald", "shut" }),
		taking(changed(tells("d"), func(s *countersign.TeamStep) { s.Input, s.AgentID = nil, "agent-clerk" }), "total", "a", "x"),
		changed(reads("d"), func(s *countersign.TeamStep) { s.AgentID = "agent-x" }),
	)
	c.Team.Members = append(c.Team.Members, countersign.TeamMember{AgentID: "agent-y", Role: "r"})
	c.Executors[0].Agent.ModelID = ""
	got := plan.CheckTeam(nil, c)
	want := []string{
		"members[0].agentId: agent agent-clerk has no model; its manifest names one",
		"members[2].agentId: there is no agent agent-y",
		"steps: b depend on each other; a plan has no cycle",
		"steps[0].input.amount: must be number, not string",
		"steps[0].input.tip: refund takes no such input; its inputSchema does not declare it",
		"steps[1].input.urgent: the agent's manifest fixes it; leave it out",
		"steps[2].capability: agent agent-herald doesn't have shut; it has tell",
		"steps[3].capability: agent agent-clerk doesn't have tell; it has read, refund",
		"steps[3].capability: project acme-shop has no capability tell",
		"steps[3].inputBindings.total.stepId: a is no dependency of d; name it in dependsOn",
		"steps[4].agentId: agent-x is no member",
		"steps[4].id: d is the id of steps[3] already",
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
