package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

// paths are where problems say that something is wrong, each once.
func paths(problems []string) []string {
	at := map[string]bool{}
	for _, p := range problems {
		path, _, _ := strings.Cut(p, ": ")
		at[path] = true
	}
	return names(at)
}

// TestAnyTeamRunHasTheProblemsOfTheReference, and a team by itself those that no
// run can mend.
func TestAnyTeamRunHasTheProblemsOfTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawTeam(t, true)
		_, problems := plan.ForTeam(d.executors, d.start, origin())
		if diff := cmp.Diff(wrongIn(d, false), paths(problems)); diff != "" {
			t.Fatalf("the run: %s\n%s", diff, strings.Join(problems, "\n"))
		}
		problems = plan.CheckTeam(nil, d.executors)
		if diff := cmp.Diff(wrongIn(d, true), paths(problems)); diff != "" {
			t.Fatalf("the team: %s\n%s", diff, strings.Join(problems, "\n"))
		}
	})
}

// TestTeamPlanWithoutProblemsKeepsTheRules of every plan, and those of its agents.
func TestTeamPlanWithoutProblemsKeepsTheRules(t *testing.T) {
	good := 0
	rapid.Check(t, func(t *rapid.T) {
		d := drawTeam(t, false)
		p, problems := plan.ForTeam(d.executors, d.start, origin())
		if wrong := wrongIn(d, false); len(wrong) > 0 { // an agent without any capability, say
			return
		}
		good++
		if problems != nil || p.Status != countersign.PlanReady {
			t.Fatalf("%s %v", p.Status, problems)
		}
		if found := plan.Validate(nil, &p, plan.Sources{Model: &countersign.Model{}, Projects: d.executors.Projects}); found != nil {
			t.Fatalf("as any plan: %v", found)
		}
		for i, s := range p.Steps {
			d.checkStep(t, s, d.executors.Team.Steps[i])
		}
	})
	if good == 0 {
		t.Error("no team was without a problem")
	}
}

// checkStep: a member carries it out, in its system, with a capability of its
// own, and each input comes from where it must.
func (d drawnTeam) checkStep(t *rapid.T, got countersign.Step, of countersign.TeamStep) {
	member := slices.ContainsFunc(d.executors.Team.Members, func(m countersign.TeamMember) bool { return m.AgentID == got.AgentID })
	a := d.agent(of.AgentID)
	if !member || got.AgentID != of.AgentID || got.ProjectID != a.ProjectID || !slices.Contains(a.Capabilities, got.Capability) {
		t.Fatalf("step %s by %s in %s: %s", got.ID, got.AgentID, got.ProjectID, got.Capability)
	}
	fixed := a.ExecutorInputs[of.Capability]
	want := map[string]countersign.Value{}
	for _, field := range []string{"f0", "f1", "f9"} {
		if v, given := last(field, of.Input, d.start.Inputs[of.ID], fixed); given {
			want[field] = v
		}
	}
	if diff := cmp.Diff(want, got.Input, cmp.Comparer(countersign.Value.Equal)); diff != "" {
		t.Fatalf("step %s: %s", got.ID, diff)
	}
	for field, v := range fixed {
		if _, bound := got.InputBindings[field]; bound || got.Input[field] != v {
			t.Fatalf("step %s: %s is fixed to %s and is %s, bound %v", got.ID, field, v.Raw(), got.Input[field].Raw(), bound)
		}
	}
}

// TestDigestOfAnyTeamRun is that of its LIVE twin and another one as soon as an
// agent, the team, a model or a project has another revision.
func TestDigestOfAnyTeamRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawTeam(t, true)
		d.start.Mode = countersign.ModeDryRun
		digest := teamDigest(d.executors, d.start, origin())
		live := d.start
		live.Mode = countersign.ModeLive
		if twin := teamDigest(d.executors, live, plan.Creation{ID: "plan-2"}); twin != digest {
			t.Fatalf("the twin has %s, not %s", twin, digest)
		}
		e := rapid.SampledFrom([]int{0, len(d.executors.Executors) - 1}).Draw(t, "executor")
		switch agent := &d.executors.Executors[e].Agent; rapid.IntRange(0, 3).Draw(t, "changes") {
		case 0:
			agent.Revision++
		case 1:
			d.executors.Team.Revision++
		case 2:
			d.executors.Projects[agent.ProjectID].Project.Revision++
		default:
			if d.executors.Executors[e].Model == nil {
				return
			}
			d.executors.Executors[e].Model.Revision++
		}
		if teamDigest(d.executors, d.start, origin()) == digest {
			t.Fatal("the digest is still the same")
		}
	})
}

// TestAnyAgentRunIsATeamRunOfOneStep: the same rules hold, and the problems are
// those of its step, by the names of its own fields.
func TestAnyAgentRunIsATeamRunOfOneStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawTeam(t, true)
		e := rapid.SampledFrom(d.executors.Executors).Draw(t, "executor")
		start := countersign.AgentRunStart{Mode: d.start.Mode, Capability: "c1", Inputs: map[string]countersign.Value{}}
		for _, s := range d.executors.Team.Steps {
			start.Capability, start.Inputs = s.Capability, s.Input
		}
		c := plan.Executors{Executors: []plan.Executor{e}, Projects: d.executors.Projects}
		p, problems := plan.ForAgent(c, start, origin())
		step := countersign.TeamStep{ID: "execute", AgentID: e.Agent.ID, Capability: start.Capability, Input: start.Inputs}
		twin := drawnTeam{executors: plan.Executors{Team: &countersign.Team{Steps: []countersign.TeamStep{step}}, Executors: c.Executors, Projects: c.Projects}}
		twin.start.Mode = start.Mode
		var want []string
		for _, path := range wrongIn(twin, false) {
			if path == "members" {
				continue
			}
			path = strings.TrimPrefix(path, "steps[0].")
			if rest, input := strings.CutPrefix(path, "input."); input {
				path = "inputs." + rest
			}
			want = append(want, path)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, paths(problems)); diff != "" {
			t.Fatalf("%s\n%s", diff, strings.Join(problems, "\n"))
		}
		if want == nil {
			twin.executors.Team.Members = []countersign.TeamMember{{AgentID: e.Agent.ID, Role: "r"}}
			twin.checkStep(t, p.Steps[0], step)
		}
	})
}
