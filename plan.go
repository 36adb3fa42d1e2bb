package countersign

import "time"

// Modes of a plan and its runs.
const (
	ModeDryRun = "DRY_RUN"
	ModeLive   = "LIVE"
)

// Plan statuses.
const (
	PlanReady   = "READY"
	PlanInvalid = "INVALID"
)

// Expectation is what a step's selected output must be (specification 2.7).
type Expectation struct {
	Field      string `json:"field" minLength:"1"`
	Equals     Value  `json:"equals" doc:"any JSON value; numbers compare by exact value"`
	StatusCode int64  `json:"statusCode,omitempty" minimum:"200" maximum:"299"`
}

// Expectations are those that judge the answer to a step: its capability's, and
// besides it the step's own. All must hold. Either argument may be nil.
func Expectations(c *Capability, s *Step) []Expectation {
	var out []Expectation
	if c != nil && c.Expectation != nil {
		out = append(out, *c.Expectation)
	}
	if s != nil && s.Expectation != nil {
		out = append(out, *s.Expectation)
	}
	return out
}

// Binding takes an input from the verified output of an earlier step.
type Binding struct {
	StepID string `json:"stepId"`
	Field  string `json:"field" minLength:"1"`
}

// Step is one call of a plan (specification 2.8).
type Step struct {
	ID            string             `json:"id" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"`
	Name          string             `json:"name"`
	ProjectID     string             `json:"projectId"`
	Capability    string             `json:"capability"`
	ActionID      string             `json:"actionId,omitempty"`
	AgentID       string             `json:"agentId,omitempty" readOnly:"true" doc:"the agent that carries it out, in the plan of an agent or team run"`
	Input         map[string]Value   `json:"input,omitempty" nullable:"false"`
	DependsOn     []string           `json:"dependsOn,omitempty" nullable:"false"`
	InputBindings map[string]Binding `json:"inputBindings,omitempty" nullable:"false"`
	Expectation   *Expectation       `json:"expectation,omitempty"`
}

// PlanWrite is the body of POST /plans (specification 2.9).
type PlanWrite struct {
	ID             string           `json:"id,omitempty" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"`
	Name           string           `json:"name"`
	ModelID        string           `json:"modelId"`
	ModelRevision  int64            `json:"modelRevision"`
	Steps          []Step           `json:"steps" maxItems:"100" nullable:"false"`
	ScenarioID     string           `json:"scenarioId,omitempty"`
	PlanningInputs map[string]Value `json:"planningInputs,omitempty" nullable:"false"`
	Mode           string           `json:"mode,omitempty" enum:"DRY_RUN,LIVE" doc:"default DRY_RUN"`
}

// Gate is the edition by which the approval rules of a plan that is made now are judged
// (Plan.Gate). Plans of before keep their meaning.
const Gate = 3

// Plan is an explicit, immutable list of steps (specification 2.9). It refers
// to the immutable revisions of its model and projects; a read by id shows them
// as snapshots.
type Plan struct {
	ID               string           `json:"id"`
	Status           string           `json:"status" enum:"READY,INVALID"`
	Name             string           `json:"name"`
	Mode             string           `json:"mode" enum:"DRY_RUN,LIVE"`
	ModelID          string           `json:"modelId,omitempty" doc:"absent in the plan of a team run: see agents; and where a run has no model"`
	ModelRevision    int64            `json:"modelRevision,omitempty"`
	ScenarioID       string           `json:"scenarioId,omitempty"`
	PlanningInputs   map[string]Value `json:"planningInputs,omitempty" nullable:"false"`
	Steps            []Step           `json:"steps" nullable:"false"`
	Team             *PlanTeam        `json:"team,omitempty" doc:"of a team run"`
	Agents           []PlanAgent      `json:"agents,omitempty" nullable:"false" doc:"of an agent or team run: who carries it out"`
	ValidationErrors []string         `json:"validationErrors" nullable:"false"`
	PlanDigest       string           `json:"planDigest,omitempty" doc:"SHA-256 of the content without id, name, mode and times: joins a rehearsal and its LIVE twin; absent for who must not see all of it"`
	Projects         []ProjectRef     `json:"projects" nullable:"false" doc:"the project revisions that the plan was made from"`
	ModelSnapshot    *Model           `json:"modelSnapshot,omitempty"`
	ProjectSnapshots []Project        `json:"projectSnapshots,omitempty" nullable:"false"`
	Models           []Model          `json:"models,omitempty" nullable:"false" doc:"of an agent or team run: the models of its agents"`
	Gate             int64            `json:"gate,omitempty" since:"3" doc:"the edition by which its approval rules are judged, 3; absent where no step has rules, and in plans of before, which are judged as then"`
	CreatedBy        string           `json:"createdBy"`
	CreatedByName    string           `json:"createdByName,omitempty" since:"3" doc:"a token's name, or a user's"`
	CreatedAt        time.Time        `json:"createdAt"`
	RedactedAt       time.Time        `json:"redactedAt,omitzero" since:"3" doc:"when what it held was removed, with the last of its runs: none can be started of it any more"`
}

// ProjectRef names an immutable revision of a project.
type ProjectRef struct {
	ID       string `json:"id"`
	Revision int64  `json:"revision"`
}

// PlanTeam is the team that a plan was made from (contract 7).
type PlanTeam struct {
	ID       string       `json:"id"`
	Revision int64        `json:"revision"`
	Members  []TeamMember `json:"members" nullable:"false"`
}

// PlanAgent is an agent that a plan was made from, with its fixed inputs and its
// model's revision at that time.
type PlanAgent struct {
	ID             string                      `json:"id"`
	ProjectID      string                      `json:"projectId"`
	Revision       int64                       `json:"revision"`
	SourceRevision int64                       `json:"sourceRevision"`
	ExecutorInputs map[string]map[string]Value `json:"executorInputs" nullable:"false"`
	ModelID        string                      `json:"modelId,omitempty" doc:"absent where the agent has none"`
	ModelRevision  int64                       `json:"modelRevision,omitempty"`
}

// Step finds a step by id, nil when there is none.
func (p *Plan) Step(id string) *Step {
	for i := range p.Steps {
		if p.Steps[i].ID == id {
			return &p.Steps[i]
		}
	}
	return nil
}

// CompileRequest is the body of POST /models/{id}/compile-plan.
type CompileRequest struct {
	ScenarioID     string                   `json:"scenarioId"`
	ActionBindings map[string]ActionBinding `json:"actionBindings" nullable:"false" doc:"keyed by action id"`
	Name           string                   `json:"name,omitempty"`
	Inputs         map[string]Scalar        `json:"inputs,omitempty" nullable:"false"`
	Mode           string                   `json:"mode,omitempty" enum:"DRY_RUN,LIVE" doc:"default DRY_RUN"`
}

// ActionBinding says which capability carries an action out.
type ActionBinding struct {
	ProjectID      string            `json:"projectId"`
	Capability     string            `json:"capability"`
	Input          map[string]Value  `json:"input,omitempty" nullable:"false"`
	InputVariables map[string]string `json:"inputVariables,omitempty" nullable:"false" doc:"input name to variable id, read before the action's own effects"`
	Expectation    *Expectation      `json:"expectation,omitempty"`
}

// Drift is the answer of GET /plans/{id}/drift: whether everything that the
// plan was made from is still as it was.
type Drift struct {
	Current bool     `json:"current"`
	Changes []Change `json:"changes" nullable:"false"`
}

// Change is one thing that is no longer as the plan saw it.
type Change struct {
	Kind      string `json:"kind" enum:"model,project,agent,team"`
	ID        string `json:"id"`
	Planned   int64  `json:"planned" doc:"revision in the plan"`
	Current   int64  `json:"current" doc:"revision now; 0 when it is gone"`
	Suspended bool   `json:"suspended"`
	Retired   bool   `json:"retired,omitempty"`
	Message   string `json:"message"`
}
