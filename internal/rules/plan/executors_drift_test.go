package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

func subject(kind, id string) plan.Subject { return plan.Subject{Kind: kind, ID: id} }

// asPlanned is how everything is that a run of the executors is made from.
func asPlanned() plan.CurrentRevisions {
	return plan.CurrentRevisions{
		subject(plan.KindTeam, "refunds"):      {Revision: 2},
		subject(plan.KindAgent, "agent-clerk"): {Revision: 4}, subject(plan.KindAgent, "agent-herald"): {Revision: 6},
		subject(plan.KindModel, "refunds"): {Revision: 2}, subject(plan.KindModel, "heralds"): {Revision: 9},
		subject(plan.KindProject, "acme-shop"): {Revision: 3}, subject(plan.KindProject, "acme-desk"): {Revision: 5},
	}
}

func teamPlan(mode string) *countersign.Plan {
	p, _ := plan.ForTeam(executorSubjects(reads("a"), refunding("b", "a")), teamRun(mode, nil), origin())
	return &p
}

func agentPlan() *countersign.Plan {
	start := countersign.AgentRunStart{Capability: "read", Inputs: inputs("resourceId", `"o-1"`)}
	p, _ := plan.ForAgent(alone(clerk()), start, origin())
	return &p
}

func TestSubjectsOfATeamRunAreTeamAgentsModelsAndProjects(t *testing.T) {
	want := []plan.Seen{
		{Subject: subject("team", "refunds"), Revision: 2}, {Subject: subject("agent", "agent-clerk"), Revision: 4}, {Subject: subject("agent", "agent-herald"), Revision: 6},
		{Subject: subject("model", "refunds"), Revision: 2}, {Subject: subject("model", "heralds"), Revision: 9},
		{Subject: subject("project", "acme-shop"), Revision: 3}, {Subject: subject("project", "acme-desk"), Revision: 5},
	}
	if diff := cmp.Diff(want, plan.Subjects(teamPlan(""))); diff != "" {
		t.Error(diff)
	}
}

func TestSubjectsOfAnAgentRunAreAgentModelAndProject(t *testing.T) {
	want := []plan.Seen{
		{Subject: subject("agent", "agent-clerk"), Revision: 4}, {Subject: subject("model", "refunds"), Revision: 2}, {Subject: subject("project", "acme-shop"), Revision: 3},
	}
	if diff := cmp.Diff(want, plan.Subjects(agentPlan())); diff != "" {
		t.Error(diff)
	}
}

func TestModelOfSeveralAgentsIsOneSubject(t *testing.T) {
	c := executorSubjects(reads("a"))
	c.Executors[1].Agent.ModelID, c.Executors[1].Model = "refunds", c.Executors[0].Model
	p, _ := plan.ForTeam(c, teamRun("", nil), origin())
	now := asPlanned()
	now[subject(plan.KindModel, "refunds")] = plan.CurrentRevision{Revision: 3}
	if d := plan.Drift(&p, now); len(d.Changes) != 1 {
		t.Errorf("%+v", d.Changes)
	}
}

// TestTeamRunDriftsWithEachThingThatItIsMadeFrom: changed, suspended, changed
// back to ADMITTED or resumed after a suspension, or gone. Members and systems
// that no step uses count too.
func TestTeamRunDriftsWithEachThingThatItIsMadeFrom(t *testing.T) {
	p := teamPlan("")
	if d := plan.Drift(p, asPlanned()); !d.Current || len(d.Changes) != 0 {
		t.Fatalf("nothing changed, but %+v", d.Changes)
	}
	for s, is := range asPlanned() {
		for name, now := range map[string]plan.CurrentRevision{
			"changed":          {Revision: is.Revision + 1},
			"an older one":     {Revision: is.Revision - 1},
			"suspended":        {Revision: is.Revision + 1, Suspended: true},
			"suspended, alike": {Revision: is.Revision, Suspended: true},
			"gone":             {},
		} {
			standings := asPlanned()
			standings[s] = now
			d := plan.Drift(p, standings)
			if d.Current || len(d.Changes) != 1 || d.Changes[0].Kind != s.Kind || d.Changes[0].ID != s.ID ||
				d.Changes[0].Planned != is.Revision || d.Changes[0].Current != now.Revision || d.Changes[0].Suspended != now.Suspended {
				t.Errorf("%s %s %s: %+v", s.Kind, s.ID, name, d)
			}
			if e := plan.Refusal(p, countersign.ModeDryRun, standings); codeOf(e) != countersign.CodeDrift {
				t.Errorf("%s %s %s: %v", s.Kind, s.ID, name, e)
			}
		}
	}
}

func TestAgentRunDoesNotDriftWithOthers(t *testing.T) {
	now := asPlanned()
	for _, other := range []plan.Subject{subject(plan.KindTeam, "refunds"), subject(plan.KindAgent, "agent-herald"), subject(plan.KindModel, "heralds"), subject(plan.KindProject, "acme-desk")} {
		now[other] = plan.CurrentRevision{Revision: 99, Suspended: true, Disabled: true}
	}
	if e := plan.Refusal(agentPlan(), countersign.ModeLive, now); e != nil {
		t.Error(e)
	}
}

// Whoever reads the refusal must know what ends it.
func TestDriftSaysWhatEndsASuspension(t *testing.T) {
	for kind, want := range map[string]string{plan.KindAgent: "admitted anew", plan.KindTeam: "resumed", plan.KindModel: "resumed"} {
		now := asPlanned()
		for s := range now {
			if s.Kind == kind {
				now[s] = plan.CurrentRevision{Revision: 99, Suspended: true}
			}
		}
		c := plan.Drift(teamPlan(""), now).Changes[0]
		if c.Message != kind+" "+c.ID+" is suspended; when it is "+want+", make the plan again" {
			t.Error(c.Message)
		}
	}
}

// A LIVE run needs every member's system enabled, also one that no step calls.
func TestDisabledSystemOfAnyMemberStopsALiveTeam(t *testing.T) {
	now := asPlanned()
	now[subject(plan.KindProject, "acme-desk")] = plan.CurrentRevision{Revision: 5, Disabled: true}
	for mode, want := range map[string]countersign.Code{countersign.ModeLive: countersign.CodeProjectDisabled, countersign.ModeDryRun: ""} {
		if got := codeOf(plan.Refusal(teamPlan(mode), mode, now)); got != want {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
}
