package plan

import (
	"fmt"
	"slices"
	"sort"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/rules/request"
)

// Validate returns every semantic problem of a plan with its JSON path (contract 5). A
// plan without problems is READY. They are no result once the meter has come to its end.
func Validate(m *cost.Meter, p *countersign.Plan, s Sources) []string {
	return append(modelProblems(p, s.Model), validateSteps(m, p, s.Projects, checks{inputs: request.CheckInputs, enabled: true})...)
}

// checks are what not every plan is asked.
type checks struct {
	// inputs says why inputs can't become a request of a capability.
	inputs func(m *cost.Meter, c *countersign.Capability, input map[string]countersign.Value, bound map[string]countersign.Binding) []countersign.Problem

	// enabled: whether the projects of a LIVE plan are. Where a start makes the plan, only the
	// start's own turn says that: it may change between the two.
	enabled bool
}

func validateSteps(m *cost.Meter, p *countersign.Plan, projects map[string]Source, asked checks) []string {
	var problems []string
	if len(p.Steps) == 0 {
		problems = append(problems, "steps: there must be at least one")
	}
	v := stepValidator{meter: m, plan: p, projects: projects, graph: newGraph(p.Steps), asked: asked}
	for i := range p.Steps {
		problems = append(problems, v.step(i)...)
	}
	return append(problems, v.graph.cycleProblem(p.Steps)...)
}

func modelProblems(p *countersign.Plan, m *countersign.Model) []string {
	switch {
	case m == nil:
		return []string{fmt.Sprintf("modelId: there is no model %s", p.ModelID)}
	case m.Suspended:
		return []string{fmt.Sprintf("modelId: model %s is suspended", p.ModelID)}
	case m.Revision != p.ModelRevision:
		return []string{fmt.Sprintf("modelRevision: model %s is at revision %d, not %d", p.ModelID, m.Revision, p.ModelRevision)}
	}
	var problems []string
	for _, untrue := range model.NotNamed(&m.Document, p) {
		problems = append(problems, untrue.String())
	}
	return problems
}

type stepValidator struct {
	meter    *cost.Meter
	plan     *countersign.Plan
	projects map[string]Source
	graph    graph
	asked    checks
}

func (v stepValidator) step(i int) []string {
	s := &v.plan.Steps[i]
	path := fmt.Sprintf("steps[%d]", i)
	problems := v.identity(i, path)
	problems = append(problems, v.dependencies(i, path)...)
	problems = append(problems, v.bindings(i, path)...)
	c, found := v.capability(s, path)
	if c == nil {
		return append(problems, found...)
	}
	problems = append(problems, found...)
	v.meter.At(path)
	for _, p := range v.asked.inputs(v.meter, c, s.Input, s.InputBindings) {
		problems = append(problems, under(path, p).String())
	}
	return problems
}

func (v stepValidator) identity(i int, path string) []string {
	s := v.plan.Steps[i]
	if first := v.graph.index[s.ID]; first != i {
		return []string{fmt.Sprintf("%s.id: %s is the id of steps[%d] already", path, s.ID, first)}
	}
	return nil
}

func (v stepValidator) dependencies(i int, path string) []string {
	var problems []string
	for n, d := range v.plan.Steps[i].DependsOn {
		if _, ok := v.graph.index[d]; !ok {
			problems = append(problems, fmt.Sprintf("%s.dependsOn[%d]: there is no step %s", path, n, d))
		}
	}
	return problems
}

func (v stepValidator) bindings(i int, path string) []string {
	var problems []string
	s := v.plan.Steps[i]
	for _, name := range sortedKeys(s.InputBindings) {
		from := s.InputBindings[name].StepID
		at := fmt.Sprintf("%s.inputBindings.%s.stepId", path, name)
		j, ok := v.graph.index[from]
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("%s: there is no step %s", at, from))
		case !v.meter.Take(v.graph.edges, at):
		case !v.graph.reaches(i, j):
			problems = append(problems, fmt.Sprintf("%s: %s is no dependency of %s; name it in dependsOn", at, from, s.ID))
		}
	}
	return problems
}

// capability finds the capability that the step calls, nil if unknown.
func (v stepValidator) capability(s *countersign.Step, path string) (*countersign.Capability, []string) {
	src, ok := v.projects[s.ProjectID]
	if !ok && s.AgentID != "" {
		return nil, nil // its agent is no member, which is named already
	}
	if !ok {
		return nil, []string{fmt.Sprintf("%s.projectId: there is no project %s", path, s.ProjectID)}
	}
	if !src.InScope {
		return nil, []string{fmt.Sprintf("%s.projectId: project %s is outside the projects you may use", path, s.ProjectID)}
	}
	var problems []string
	if v.asked.enabled && v.plan.Mode == countersign.ModeLive && !src.Project.Enabled {
		problems = append(problems, fmt.Sprintf("%s.projectId: project %s is disabled; a LIVE plan needs it enabled", path, s.ProjectID))
	}
	c := src.Project.Capability(s.Capability)
	if c == nil {
		problems = append(problems, fmt.Sprintf("%s.capability: project %s has no capability %s", path, s.ProjectID, s.Capability))
	}
	return c, problems
}

func under(path string, p countersign.Problem) countersign.Problem {
	if p.Path == "" {
		p.Path = path
	} else {
		p.Path = path + "." + p.Path
	}
	return p
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return slices.Clip(keys)
}
