package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// An agent run is a plan of one step; a team run is a plan of the team's steps. Each
// step is executed by an agent and limited to that agent's capabilities
// (specification 2.17, contract 7).

// Executor is an agent and its model when a plan is made; Model is nil if it has none.
type Executor struct {
	Agent countersign.Agent
	Model *countersign.Model
}

// Executors is a snapshot of the agents that execute a plan: the members in order, or
// the one agent of an agent run, without a Team.
type Executors struct {
	Team      *countersign.Team
	Executors []Executor
	Projects  map[string]Source
}

// singleStep is the id of the only step of a run of one capability.
const singleStep = "execute"

// ForAgent makes the plan of an agent run. A plan with problems is not stored.
func ForAgent(c Executors, start countersign.AgentRunStart, o Creation) (countersign.Plan, []string) {
	a := c.Executors[0].Agent
	step := countersign.TeamStep{
		ID: singleStep, Name: a.Name + ": " + start.Capability, AgentID: a.ID, Capability: start.Capability,
		Input: start.Inputs, Expectation: start.Expectation,
	}
	p, problems := c.plan([]countersign.TeamStep{step}, nil, start.Mode, o)
	p.Name, p.ModelID, p.ModelRevision = step.Name, p.Agents[0].ModelID, p.Agents[0].ModelRevision
	p.PlanDigest = digest(&p)
	for i := range problems {
		problems[i] = AsSingleRun(problems[i])
	}
	return p, problems
}

// AsSingleRun replaces the path of a step with the path in the body of a run of one capability.
func AsSingleRun(problem string) string {
	if rest, ok := strings.CutPrefix(problem, "steps[0].input."); ok {
		return "inputs." + rest
	}
	return strings.TrimPrefix(problem, "steps[0].")
}

// ForCall makes the plan of a run of one capability, which no model and no agent stands
// behind. A plan with problems is not stored.
func ForCall(s Source, start countersign.ProjectRunStart, o Creation) (countersign.Plan, []string) {
	p := countersign.Plan{
		ID: o.ID, Status: countersign.PlanReady, Name: s.Project.Name + ": " + start.Capability, Mode: cmp.Or(start.Mode, countersign.ModeDryRun), ValidationErrors: []string{},
		Projects: []countersign.ProjectRef{{ID: s.Project.ID, Revision: s.Project.Revision}}, CreatedBy: o.By, CreatedAt: o.Now,
		Steps: []countersign.Step{{
			ID: singleStep, Name: start.Capability, ProjectID: s.Project.ID, Capability: start.Capability,
			Input: s.given(start.Capability, start.Inputs), Expectation: start.Expectation,
		}},
	}
	p.Gate = gateOf(&p, map[string]Source{s.Project.ID: s})
	p.PlanDigest = digest(&p)
	problems := validateSteps(o.Meter, &p, map[string]Source{s.Project.ID: s}, checks{inputs: request.CheckInputs})
	for i := range problems {
		problems[i] = AsSingleRun(problems[i])
	}
	return p, problems
}

// ForTeam makes the plan of a team run. A plan with problems is not stored.
func ForTeam(c Executors, start countersign.TeamRunStart, o Creation) (countersign.Plan, []string) {
	p, problems := c.plan(c.Team.Steps, start.Inputs, start.Mode, o)
	problems = append(c.members(), problems...) // a member may have lost its model after the team was saved
	p.Name = c.Team.Name
	p.Team = &countersign.PlanTeam{ID: c.Team.ID, Revision: c.Team.Revision, Members: c.Team.Members}
	p.PlanDigest = digest(&p)
	return p, problems
}

// CheckTeam returns every problem of a team that is saved: of its members and of its
// steps. Missing inputs may come with the run.
func CheckTeam(m *cost.Meter, c Executors) []string {
	problems := c.members()
	for i, m := range c.Team.Members {
		if safetext.Blank(m.Role) {
			problems = append(problems, fmt.Sprintf("members[%d].role: must say what part agent %s has; it is blank", i, m.AgentID))
		}
	}
	steps, found := c.steps(c.Team.Steps, nil)
	problems = append(problems, found...)
	p := &countersign.Plan{Mode: countersign.ModeDryRun, Steps: steps}
	return append(problems, validateSteps(m, p, c.Projects, checks{inputs: request.CheckGiven})...)
}

// GivenSteps are the team's steps without inputs that are null and optional.
func (c Executors) GivenSteps() []countersign.TeamStep {
	steps := slices.Clone(c.Team.Steps)
	for i := range steps {
		e := c.executor(steps[i].AgentID)
		if e == nil {
			continue
		}
		if src, ok := c.Projects[e.Agent.ProjectID]; ok {
			steps[i].Input = src.given(steps[i].Capability, steps[i].Input)
		}
	}
	return steps
}

// members: at least two distinct agents, each known and with a model.
func (c Executors) members() []string {
	var problems []string
	different := map[string]bool{}
	for i, m := range c.Team.Members {
		e := c.executor(m.AgentID)
		switch {
		case e == nil:
			problems = append(problems, fmt.Sprintf("members[%d].agentId: there is no agent %s", i, m.AgentID))
		case e.Agent.ModelID == "":
			problems = append(problems, fmt.Sprintf("members[%d].agentId: agent %s has no model; its manifest names one", i, m.AgentID))
		}
		different[m.AgentID] = true
	}
	if len(different) < countersign.MinTeamMembers {
		problems = append(problems, fmt.Sprintf("members: a team has at least %d different agents", countersign.MinTeamMembers))
	}
	return problems
}

func (c Executors) executor(agentID string) *Executor {
	return find(c.Executors, func(e *Executor) bool { return e.Agent.ID == agentID })
}

// plan assembles the plan. If there are problems, it must not be stored.
func (c Executors) plan(of []countersign.TeamStep, inputs map[string]map[string]countersign.Value, mode string, o Creation) (countersign.Plan, []string) {
	p := countersign.Plan{
		ID: o.ID, Status: countersign.PlanReady, Mode: mode, ValidationErrors: []string{},
		Agents: c.agents(), Projects: c.projects(), CreatedBy: o.By, CreatedAt: o.Now,
	}
	if p.Mode == "" {
		p.Mode = countersign.ModeDryRun
	}
	steps, problems := c.steps(of, inputs)
	p.Steps = steps
	p.Gate = gateOf(&p, c.Projects)
	problems = append(problems, strayInputs(of, inputs)...)
	problems = append(problems, c.models()...)
	return p, append(problems, validateSteps(o.Meter, &p, c.Projects, checks{inputs: request.CheckInputs})...)
}

// agents are the executors as stored in the plan, each once.
func (c Executors) agents() []countersign.PlanAgent {
	var out []countersign.PlanAgent
	for _, e := range c.Executors {
		ref := countersign.PlanAgent{
			ID: e.Agent.ID, ProjectID: e.Agent.ProjectID, Revision: e.Agent.Revision, SourceRevision: e.Agent.SourceRevision,
			ExecutorInputs: e.Agent.ExecutorInputs, ModelID: e.Agent.ModelID,
		}
		if e.Model != nil {
			ref.ModelRevision = e.Model.Revision
		}
		out = append(out, ref)
	}
	return out
}

// projects are the projects of all executors: who may see the plan may see each
// member.
func (c Executors) projects() []countersign.ProjectRef {
	out := []countersign.ProjectRef{}
	for _, e := range c.Executors {
		src, known := c.Projects[e.Agent.ProjectID]
		if known && !slices.ContainsFunc(out, func(r countersign.ProjectRef) bool { return r.ID == e.Agent.ProjectID }) {
			out = append(out, countersign.ProjectRef{ID: e.Agent.ProjectID, Revision: src.Project.Revision})
		}
	}
	return out
}

func (c Executors) models() []string {
	var problems []string
	seen := map[string]bool{}
	for _, e := range c.Executors {
		if e.Model == nil || seen[e.Model.ID] {
			continue
		}
		seen[e.Model.ID] = true
		if _, err := model.Compile(&e.Model.Document); err != nil {
			problems = append(problems, fmt.Sprintf("model %s: %s", e.Model.ID, message(err)))
		}
	}
	return problems
}

// steps are the steps with the executors' fixed inputs. inputs override a step's own,
// by step id and field; nothing overrides a fixed input.
func (c Executors) steps(of []countersign.TeamStep, inputs map[string]map[string]countersign.Value) ([]countersign.Step, []string) {
	steps := []countersign.Step{}
	var problems []string
	for i, s := range of {
		path := fmt.Sprintf("steps[%d]", i)
		e := c.executor(s.AgentID)
		if e == nil {
			problems = append(problems, fmt.Sprintf("%s.agentId: %s is no member", path, s.AgentID))
			e = &Executor{Agent: countersign.Agent{Capabilities: []string{s.Capability}}} // so that other problems are reported too
		}
		if !slices.Contains(e.Agent.Capabilities, s.Capability) {
			problems = append(problems, fmt.Sprintf("%s.capability: agent %s doesn't have %s; it has %s", path, s.AgentID, s.Capability, list(e.Agent.Capabilities)))
		}
		fixed, own, override := e.Agent.ExecutorInputs[s.Capability], s.Input, inputs[s.ID]
		problems = append(problems, overriding(path+".input", own, fixed)...)
		problems = append(problems, overriding("inputs."+s.ID, override, fixed)...)
		if src, ok := c.Projects[e.Agent.ProjectID]; ok { // null sets a fixed field too, so it goes after that
			own, override = src.given(s.Capability, own), src.given(s.Capability, override)
		}
		problems = append(problems, overriding(path+".inputBindings", s.InputBindings, fixed)...)
		steps = append(steps, countersign.Step{
			ID: s.ID, Name: s.Name, ProjectID: e.Agent.ProjectID, Capability: s.Capability, AgentID: s.AgentID,
			Input: merge(own, override, fixed), DependsOn: s.DependsOn, InputBindings: s.InputBindings, Expectation: s.Expectation,
		})
	}
	return steps, problems
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// overriding names the given fields that the executor fixes, even if the values are
// equal.
func overriding[V any](path string, given map[string]V, fixed map[string]countersign.Value) []string {
	var problems []string
	for _, name := range sortedKeys(given) {
		if _, is := fixed[name]; is {
			problems = append(problems, fmt.Sprintf("%s.%s: the agent's manifest fixes it; leave it out", path, name))
		}
	}
	return problems
}

func merge(layers ...map[string]countersign.Value) map[string]countersign.Value {
	out := map[string]countersign.Value{}
	for _, l := range layers {
		maps.Copy(out, l)
	}
	return out
}

func strayInputs(of []countersign.TeamStep, inputs map[string]map[string]countersign.Value) []string {
	var problems []string
	for _, id := range sortedKeys(inputs) {
		if !slices.ContainsFunc(of, func(s countersign.TeamStep) bool { return s.ID == id }) {
			problems = append(problems, fmt.Sprintf("inputs.%s: there is no such step", id))
		}
	}
	return problems
}
