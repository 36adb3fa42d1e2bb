package plan_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

// drawnTeam is a team with those who carry its steps out, and a run of it.
type drawnTeam struct {
	executors plan.Executors
	start     countersign.TeamRunStart
}

// generator draws teams. Mostly it chooses what fits; slips makes it choose
// anything.
type generator struct {
	*rapid.T
	slips  bool
	agents []string
}

func (g generator) upTo(n int, label string) int { return rapid.IntRange(0, n).Draw(g.T, label) }

// slip reports that something may be wrong here.
func (g generator) slip(what string) bool { return g.slips && g.upTo(14, what) == 14 }

var texts = map[string][]string{"number": {"1", "2.50"}, "string": {`"a"`, `"b"`}, "boolean": {"true", "false"}, "object": {"{}"}}

func (g generator) value(kind string) countersign.Value {
	if g.slip("misfit") {
		kind = rapid.SampledFrom([]string{"number", "string", "boolean", "object"}).Draw(g.T, "kind")
	}
	return countersign.RawValue(rapid.SampledFrom(texts[kind]).Draw(g.T, "value"))
}

func drawTeam(t *rapid.T, slips bool) drawnTeam {
	g := generator{T: t, slips: slips}
	c := plan.Executors{Team: &countersign.Team{ID: "team", Revision: 3, Name: "Team"}, Projects: map[string]plan.Source{}}
	for _, id := range []string{"acme-p", "acme-q"} {
		c.Projects[id] = plan.Source{Project: g.project(id), InScope: true}
	}
	for i := range 2 + g.upTo(2, "agents") {
		e := g.executor(fmt.Sprintf("agent-%d", i), c.Projects)
		c.Executors = append(c.Executors, e)
		c.Team.Members = append(c.Team.Members, countersign.TeamMember{AgentID: e.Agent.ID, Role: "r"})
		g.agents = append(g.agents, e.Agent.ID)
	}
	switch {
	case g.slip("stranger"):
		c.Team.Members = append(c.Team.Members, countersign.TeamMember{AgentID: "agent-x", Role: "r"})
	case g.slip("few"):
		c.Team.Members, c.Executors = c.Team.Members[:1], c.Executors[:1]
	}
	d := drawnTeam{executors: c, start: countersign.TeamRunStart{Mode: rapid.SampledFrom([]string{"", countersign.ModeDryRun, countersign.ModeLive}).Draw(t, "mode")}}
	d.start.Inputs = runInputs{}
	for i := range 1 + g.upTo(3, "steps") {
		if g.slip("none") {
			break
		}
		g.step(&d, i)
	}
	if g.slip("stray") {
		d.start.Inputs["stray"] = nil
	}
	return d
}

// project has two capabilities that read and two that write.
func (g generator) project(id string) *countersign.Project {
	p := &countersign.Project{ID: id, Revision: 1 + int64(g.upTo(3, "revision")), Enabled: !g.slip("disabled")}
	for i, kinds := range [][]string{{"number", "string"}, {"boolean"}, {"string", "object"}, {"number", "object"}} {
		c := countersign.Capability{Name: fmt.Sprintf("c%d", i), Method: "GET", Path: "/x", InputSchema: map[string]countersign.InputField{}}
		if i > 1 {
			c.Method = "POST"
		}
		for n, kind := range kinds {
			c.InputSchema[fmt.Sprintf("f%d", n)] = countersign.InputField{Type: kind, Required: g.upTo(1, "required") == 0}
		}
		p.Capabilities = append(p.Capabilities, c)
	}
	return p
}

func (g generator) executor(id string, projects map[string]plan.Source) plan.Executor {
	p := projects[rapid.SampledFrom([]string{"acme-p", "acme-q"}).Draw(g.T, "project")].Project
	a := countersign.Agent{ID: id, ProjectID: p.ID, Revision: 1 + int64(g.upTo(3, "revision")), Capabilities: []string{}, ExecutorInputs: runInputs{}}
	for i := range p.Capabilities {
		c := &p.Capabilities[i]
		if g.upTo(2, "has") == 0 {
			continue
		}
		a.Capabilities = append(a.Capabilities, c.Name)
		for _, field := range names(c.InputSchema) {
			if g.upTo(3, "fixes") == 0 {
				a.ExecutorInputs[c.Name] = map[string]countersign.Value{field: g.value(c.InputSchema[field].Type)}
			}
		}
	}
	if g.slip("unregistered") {
		a.Capabilities = append(a.Capabilities, "c9")
	}
	e := plan.Executor{Agent: a}
	if !g.slip("no model") {
		e.Model = sound(rapid.SampledFrom([]string{"m0", "m1"}).Draw(g.T, "model"), 4)
		e.Agent.ModelID = e.Model.ID
		if g.slip("broken model") {
			e.Model.Document.States = nil
		}
	}
	return e
}

// step adds a step to the team and, for some of its inputs, to the run.
func (g generator) step(d *drawnTeam, i int) {
	team := d.executors.Team
	s := countersign.TeamStep{ID: fmt.Sprintf("s%d", i), AgentID: rapid.SampledFrom(g.agents).Draw(g.T, "agent"), InputBindings: map[string]countersign.Binding{}}
	if g.slip("twice") {
		s.ID = "s0"
	}
	for j := range i + 1 {
		if j < i && g.upTo(1, "depends") == 0 || g.slip("cycle") {
			s.DependsOn = append(s.DependsOn, fmt.Sprintf("s%d", j))
		}
	}
	if g.slip("unknown") {
		s.DependsOn = append(s.DependsOn, "s9")
	}
	n := slices.IndexFunc(d.executors.Executors, func(e plan.Executor) bool { return e.Agent.ID == s.AgentID })
	if n < 0 || len(d.executors.Executors[n].Agent.Capabilities) == 0 {
		s.Capability = "c0"
		team.Steps = append(team.Steps, s)
		return
	}
	e := d.executors.Executors[n].Agent
	s.Capability = rapid.SampledFrom(e.Capabilities).Draw(g.T, "capability")
	if g.slip("other capability") {
		s.Capability = "c3"
	}
	if c := d.executors.Projects[e.ProjectID].Project.Capability(s.Capability); c != nil {
		g.inputs(d, &s, c, e.ExecutorInputs[c.Name])
	}
	team.Steps = append(team.Steps, s)
}

// inputs gives each input of a capability by the step, the run, both or a binding.
func (g generator) inputs(d *drawnTeam, s *countersign.TeamStep, c *countersign.Capability, fixed map[string]countersign.Value) {
	step, run := map[string]countersign.Value{}, map[string]countersign.Value{}
	fields := names(c.InputSchema)
	if g.slip("undeclared") {
		fields = append(fields, "f9")
	}
	for _, field := range fields {
		if _, is := fixed[field]; is && !g.slip("overrides") {
			continue
		}
		kind := c.InputSchema[field].Type
		if kind == "" {
			kind = "number"
		}
		how := g.upTo(4, "how")
		if how == 0 || how == 2 {
			step[field] = g.value(kind)
		}
		if how == 1 || how == 2 {
			run[field] = g.value(kind)
		}
		if how == 3 && len(s.DependsOn) > 0 || g.slip("bound too") {
			from := fmt.Sprintf("s%d", g.upTo(4, "from"))
			if len(s.DependsOn) > 0 && !g.slip("no dependency") {
				from = s.DependsOn[0]
			}
			s.InputBindings[field] = countersign.Binding{StepID: from, Field: "out"}
		} else if how >= 3 && (c.InputSchema[field].Required && !g.slip("missing")) {
			step[field] = g.value(kind)
		}
	}
	s.Input = step
	if len(run) > 0 {
		d.start.Inputs[s.ID] = run
	}
}

func names[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
