// Package plan makes plans: it compiles a model's scenario into steps, validates
// plans, fills a step's inputs from verified outputs and detects drift. It is pure.
package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/request"
)

// Sources is the snapshot that a plan is checked against and made from.
type Sources struct {
	Model    *countersign.Model // nil: there is none of this id
	Projects map[string]Source  // the tenant's projects that the plan names
}

// Source is a project as visible to the author of a plan.
type Source struct {
	Project *countersign.Project
	InScope bool
}

// Creation is who makes the plan, when, and the default for its id. No plan is made once the
// meter of checking it has come to its end.
type Creation struct {
	ID    string
	By    string
	Now   time.Time
	Meter *cost.Meter
}

// New checks and creates a plan: READY, or INVALID with all problems.
func New(w countersign.PlanWrite, s Sources, modelProblems []string, o Creation) countersign.Plan {
	p := countersign.Plan{
		ID: w.ID, Name: w.Name, Mode: w.Mode, ModelID: w.ModelID, ModelRevision: w.ModelRevision,
		ScenarioID: w.ScenarioID, PlanningInputs: w.PlanningInputs, Steps: given(w.Steps, s.Projects),
		CreatedBy: o.By, CreatedAt: o.Now,
	}
	if p.ID == "" {
		p.ID = o.ID
	}
	if p.Mode == "" {
		p.Mode = countersign.ModeDryRun
	}
	p.ValidationErrors = named(slices.Concat(modelProblems, Validate(o.Meter, &p, s)))
	if p.ValidationErrors == nil {
		p.ValidationErrors = []string{}
	}
	p.Status = countersign.PlanReady
	if len(p.ValidationErrors) > 0 {
		p.Status = countersign.PlanInvalid
	}
	p.Projects, p.Gate = refs(&p, s), gateOf(&p, s.Projects)
	p.PlanDigest = digest(&p)
	return p
}

// given are the steps without inputs that are null and optional.
func given(steps []countersign.Step, projects map[string]Source) []countersign.Step {
	out := slices.Clone(steps)
	for i := range out {
		if src, ok := projects[out[i].ProjectID]; ok {
			out[i].Input = src.given(out[i].Capability, out[i].Input)
		}
	}
	return out
}

func (s Source) given(capability string, input map[string]countersign.Value) map[string]countersign.Value {
	if c := s.Project.Capability(capability); c != nil {
		return request.Given(c, input)
	}
	return input
}

// named limits a plan's stored problems to a hundred and the number of the rest.
func named(problems []string) []string {
	more := len(problems) - countersign.MaxProblems
	if more <= 0 {
		return problems
	}
	return append(slices.Clip(problems[:countersign.MaxProblems]), fmt.Sprintf("and %d more", more))
}

// refs lists the project revisions that the plan was made from, in plan order. It
// leaves out projects outside the author's scope: the plan is INVALID then, and a
// snapshot would disclose them.
func refs(p *countersign.Plan, s Sources) []countersign.ProjectRef {
	out := []countersign.ProjectRef{}
	seen := map[string]bool{}
	for _, step := range p.Steps {
		src, ok := s.Projects[step.ProjectID]
		if !ok || !src.InScope || seen[step.ProjectID] {
			continue
		}
		seen[step.ProjectID] = true
		out = append(out, countersign.ProjectRef{ID: step.ProjectID, Revision: src.Project.Revision})
	}
	return out
}

// gateOf is the edition by which the rules of a plan's steps are judged, 0 where none of
// them has rules: then the editions say the same.
func gateOf(p *countersign.Plan, projects map[string]Source) int64 {
	for i := range p.Steps {
		s := &p.Steps[i]
		if from, known := projects[s.ProjectID]; known {
			if c := from.Project.Capability(s.Capability); c != nil && len(c.ApprovalRules) > 0 {
				return countersign.Gate
			}
		}
	}
	return 0
}

// digest covers the content without id, name, mode and times, so that a rehearsal and
// the LIVE plan with the same content have the same digest (contract 5).
func digest(p *countersign.Plan) string {
	content := struct {
		ModelID        string                       `json:"modelId"`
		ModelRevision  int64                        `json:"modelRevision"`
		ScenarioID     string                       `json:"scenarioId"`
		PlanningInputs map[string]countersign.Value `json:"planningInputs"`
		Steps          []countersign.Step           `json:"steps"`
		Projects       []countersign.ProjectRef     `json:"projects"`
		Team           *countersign.PlanTeam        `json:"team,omitempty"`
		Agents         []countersign.PlanAgent      `json:"agents,omitempty"`
		Gate           int64                        `json:"gate,omitempty"`
	}{p.ModelID, p.ModelRevision, p.ScenarioID, p.PlanningInputs, p.Steps, p.Projects, p.Team, p.Agents, p.Gate}
	if len(content.PlanningInputs) == 0 {
		content.PlanningInputs = nil // none given and none present are the same
	}
	d, err := countersign.CanonicalDigest(content)
	if err != nil { // plain data of the vocabulary always encodes
		return ""
	}
	return d
}

// SameContent reports whether a stored plan has the content of the write, so that
// posting it again with its id returns the stored one.
func SameContent(stored *countersign.Plan, w countersign.PlanWrite) bool {
	mode := w.Mode
	if mode == "" {
		mode = countersign.ModeDryRun
	}
	asked := *stored
	asked.ModelID, asked.ModelRevision, asked.ScenarioID = w.ModelID, w.ModelRevision, w.ScenarioID
	asked.PlanningInputs, asked.Steps = w.PlanningInputs, w.Steps
	return stored.Name == w.Name && stored.Mode == mode && digest(&asked) == stored.PlanDigest
}
