package plan_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

func teamDigest(c plan.Executors, start countersign.TeamRunStart, o plan.Creation) string {
	p, _ := plan.ForTeam(c, start, o)
	return p.PlanDigest
}

// TestDigestJoinsTheRehearsalOfATeamAndItsLiveTwin: mode, id, maker, time and the
// name of the team don't count.
func TestDigestJoinsTheRehearsalOfATeamAndItsLiveTwin(t *testing.T) {
	rehearsal := teamDigest(executorSubjects(reads("a"), tells("b")), teamRun(countersign.ModeDryRun, nil), origin())
	c := executorSubjects(reads("a"), tells("b"))
	c.Team.Name, c.Team.UpdatedAt = "Renamed", noon
	live := teamDigest(c, teamRun(countersign.ModeLive, nil), plan.Creation{ID: "plan-2", By: "token:t-1", Now: noon.AddDate(0, 0, 1)})
	if rehearsal != live || len(live) != 64 {
		t.Errorf("%s and %s", rehearsal, live)
	}
}

func TestDigestJoinsTheRehearsalOfAnAgentAndItsLiveTwin(t *testing.T) {
	start := countersign.AgentRunStart{Capability: "read", Inputs: inputs("resourceId", `"o-1"`)}
	rehearsal, _ := plan.ForAgent(alone(clerk()), start, origin())
	start.Mode, start.ExpectedRevision = countersign.ModeLive, 4
	live, _ := plan.ForAgent(alone(clerk()), start, plan.Creation{ID: "plan-2", By: "token:t-1", Now: noon.AddDate(0, 0, 1)})
	if rehearsal.PlanDigest != live.PlanDigest || len(live.PlanDigest) != 64 {
		t.Errorf("%s and %s", rehearsal.PlanDigest, live.PlanDigest)
	}
}

// TestDigestIsOfTheExecutors: of everything that a run of it depends on.
func TestDigestIsOfTheExecutors(t *testing.T) {
	first := teamDigest(executorSubjects(reads("a"), tells("b")), teamRun("", nil), origin())
	seen := map[string]string{first: "nothing"}
	for name, change := range map[string]func(*plan.Executors){
		"an agent's revision": func(c *plan.Executors) { c.Executors[1].Agent.Revision++ },
		"its source revision": func(c *plan.Executors) { c.Executors[1].Agent.SourceRevision++ },
		"a fixed input": func(c *plan.Executors) {
			c.Executors[0].Agent.ExecutorInputs = runInputs{"refund": inputs("vip", "true")}
		},
		"a model's revision":     func(c *plan.Executors) { c.Executors[1].Model.Revision++ },
		"the team's revision":    func(c *plan.Executors) { c.Team.Revision++ },
		"a member's role":        func(c *plan.Executors) { c.Team.Members[1].Role = "other" },
		"the order of members":   func(c *plan.Executors) { c.Team.Members[0], c.Team.Members[1] = c.Team.Members[1], c.Team.Members[0] },
		"a project's revision":   func(c *plan.Executors) { c.Projects["acme-desk"].Project.Revision++ },
		"a step's input":         func(c *plan.Executors) { c.Team.Steps[1].Input = inputs("text", `"ho"`) },
		"who carries a step out": func(c *plan.Executors) { c.Team.Steps[1].AgentID = "agent-clerk" },
		"what a step depends on": func(c *plan.Executors) { c.Team.Steps[1].DependsOn = []string{"a"} },
		"what is expected of a step": func(c *plan.Executors) {
			c.Team.Steps[1].Expectation = &countersign.Expectation{Field: "ok", Equals: countersign.Null}
		},
	} {
		c := executorSubjects(reads("a"), tells("b"))
		change(&c)
		d := teamDigest(c, teamRun("", nil), origin())
		if other, taken := seen[d]; taken {
			t.Errorf("another digest is expected for %s than for %s", name, other)
		}
		seen[d] = name
	}
	if teamDigest(executorSubjects(reads("a"), tells("b")), teamRun("", runInputs{"b": inputs("total", "1")}), origin()) == first {
		t.Error("a run's inputs don't count")
	}
}

// TestAgentRunsOfDifferentRevisionsDiffer although their only step is the same.
func TestAgentRunsOfDifferentRevisionsDiffer(t *testing.T) {
	start := countersign.AgentRunStart{Capability: "read", Inputs: inputs("resourceId", `"o-1"`)}
	seen := map[string]bool{}
	for revision := range int64(3) {
		e := clerk()
		e.Agent.Revision = revision
		p, _ := plan.ForAgent(alone(e), start, origin())
		seen[p.PlanDigest] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d digests", len(seen))
	}
}

// A plan that is read back has the digest that it was stored with.
func TestDigestOfAStoredExecutorsPlanIsTheSame(t *testing.T) {
	p, _ := plan.ForTeam(executorSubjects(reads("a"), tells("b", "a")), teamRun("", nil), origin())
	w := countersign.PlanWrite{Name: p.Name, Steps: p.Steps}
	if stored := kept(t, p); !plan.SameContent(stored, w) {
		t.Error("it isn't")
	}
}
