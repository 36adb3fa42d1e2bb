package control_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/registry"
)

// referenceModel is what a tenant's registry must be, kept in the plainest way: what the
// use cases answer and store is predicted from it (contract 7).
type referenceModel struct {
	agents   map[string]*countersign.Agent // without what heartbeats say
	teams    map[string]*countersign.Team
	models   map[string]*head
	disabled map[string]bool // projects; those of the tenant are its keys
	beats    map[string]map[string]heard
	runs     map[string]*started // by idempotency key
	log      []string
	folds    map[string]*referenceRefusal
}

// head is a model's revision and whether it is suspended.
type head struct {
	revision  int64
	suspended bool
}

// heard is an instance's last heartbeat and when it came.
type heard struct {
	countersign.Heartbeat
	at time.Time
}

// started is a run, what asked for it and what it was made from.
type started struct {
	id, planID, order string
	projects          []string
	seen              map[string]int64 // revisions, by "kind/id"
}

func newReferenceModel(tenant string) *referenceModel {
	b := &referenceModel{
		agents: map[string]*countersign.Agent{}, teams: map[string]*countersign.Team{}, models: map[string]*head{},
		disabled: map[string]bool{tenant + "-one": false, tenant + "-two": false},
		beats:    map[string]map[string]heard{}, runs: map[string]*started{}, folds: map[string]*referenceRefusal{},
	}
	for _, id := range models {
		b.models[id] = &head{revision: 1}
	}
	return b
}

// The first question of every operation: may somebody with these roles ask for
// it, and does it lie within their projects?

func lacks(a control.Actor, role countersign.Role) bool { return !slices.Contains(a.Roles, role) }

// rehearses reports who is limited to DRY_RUN, and so changes nothing that LIVE runs go by.
func rehearses(a control.Actor) bool {
	return a.Modes != nil && !slices.Contains(a.Modes, countersign.ModeLive)
}

func outside(a control.Actor, projects ...string) bool {
	return a.Projects != nil && slices.ContainsFunc(projects, func(p string) bool { return !slices.Contains(a.Projects, p) })
}

// reachAgent, reachTeam and reachProject give "" for what is there and in scope.

func (b *referenceModel) reachAgent(a control.Actor, id string) countersign.Code {
	switch known := b.agents[id]; {
	case known == nil:
		return countersign.CodeNotFound
	case outside(a, known.ProjectID):
		return countersign.CodeProjectScope
	}
	return ""
}

func (b *referenceModel) reachTeam(a control.Actor, id string) countersign.Code {
	switch {
	case b.teams[id] == nil:
		return countersign.CodeNotFound
	case outside(a, b.systems(b.teams[id].Members)...):
		return countersign.CodeProjectScope
	}
	return ""
}

func (b *referenceModel) reachProject(a control.Actor, id string) countersign.Code {
	switch _, known := b.disabled[id]; {
	case !known:
		return countersign.CodeNotFound
	case outside(a, id):
		return countersign.CodeProjectScope
	}
	return ""
}

// systems are the projects of those members that exist.
func (b *referenceModel) systems(members []countersign.TeamMember) (projects []string) {
	for _, m := range members {
		if known := b.agents[m.AgentID]; known != nil {
			projects = append(projects, known.ProjectID)
		}
	}
	return projects
}

// done and refused write what the audit log must say.

func (b *referenceModel) done(a control.Actor, op access.Operation, subject string) {
	b.log = append(b.log, entry(a.ID, string(op), subject, "done"))
}

func (b *referenceModel) refused(a control.Actor, op access.Operation, subject string, code countersign.Code) {
	switch code {
	case countersign.CodeRoleRequired, countersign.CodeProjectScope, countersign.CodeRevisionConflict, countersign.CodeManifestConflict, countersign.CodeStateConflict,
		countersign.CodeIdempotencyConflict, countersign.CodeProjectDisabled, countersign.CodeAgentNotAdmitted, countersign.CodeDrift:
		if outcome := "refused: " + string(code); !b.fold(a, string(op), subject, outcome) {
			b.log = append(b.log, entry(a.ID, string(op), subject, outcome))
		}
	}
}

func entry(actor, action, subject, outcome string) string {
	return fmt.Sprintf("%s %s %s: %s", actor, action, subject, outcome)
}

// sync says what becomes of a manifest, and what its agents are then.
func (b *referenceModel) sync(a control.Actor, projectID string, m countersign.Manifest, now time.Time) (code countersign.Code, next []*countersign.Agent) {
	if rehearses(a) || lacks(a, countersign.RoleOperator) {
		return countersign.CodeRoleRequired, nil
	}
	if code := b.reachProject(a, projectID); code != "" {
		return code, nil
	}
	if b.wrongManifest(projectID, m) {
		return countersign.CodeInvalidRequest, nil
	}
	for _, i := range m.Agents {
		n := countersign.Agent{
			ID: registry.ID(projectID, i.ExternalAgentID), ProjectID: projectID, ExternalAgentID: i.ExternalAgentID, SourceRevision: i.SourceRevision,
			Revision: 1, Name: i.Name, Role: i.Role, Goal: i.Goal, Capabilities: i.Capabilities, ExecutorInputs: map[string]map[string]countersign.Value{},
			ModelID: i.ModelID, Status: countersign.AgentPending, CreatedAt: now, UpdatedAt: now,
		}
		maps.Copy(n.ExecutorInputs, i.ExecutorInputs)
		switch was := b.agents[n.ID]; {
		case was == nil:
		case i.SourceRevision > was.SourceRevision:
			n.Revision, n.Suspended, n.CreatedAt = was.Revision+1, was.Suspended, was.CreatedAt
		case i.SourceRevision == was.SourceRevision && said(*was) == said(n):
			n = *was
		default:
			code = countersign.CodeManifestConflict
		}
		next = append(next, &n)
	}
	return code, next
}

// said is what a manifest says of an agent, as text. The only values in these
// manifests that have two spellings are numbers.
func said(a countersign.Agent) string {
	level := a.ExecutorInputs["note"]["level"].Raw()
	if level == "1.0" || level == "1e0" {
		level = "1"
	}
	return fmt.Sprint(a.Name, a.Role, a.Goal, a.Capabilities, a.ModelID, level, a.ExecutorInputs["look"]["key"].Raw())
}

func (b *referenceModel) wrongManifest(projectID string, m countersign.Manifest) bool {
	for i, a := range m.Agents {
		if slices.ContainsFunc(m.Agents[:i], func(o countersign.ManifestAgent) bool { return o.ExternalAgentID == a.ExternalAgentID }) {
			return true
		}
		for name, fixed := range a.ExecutorInputs {
			if !slices.Contains(a.Capabilities, name) || slices.ContainsFunc(keys(fixed), func(field string) bool { return misfits(name, field, fixed[field]) }) {
				return true
			}
		}
		if slices.ContainsFunc(a.Capabilities, func(name string) bool { return contract[name] == nil }) {
			return true
		}
		if a.ModelID != "" && (b.models[a.ModelID] == nil || b.hasOther(a.ModelID, projectID)) {
			return true
		}
	}
	return false
}

// hasOther reports a model that an agent of another system has.
func (b *referenceModel) hasOther(modelID, projectID string) bool {
	for _, other := range b.agents {
		if other.ModelID == modelID && other.ProjectID != projectID {
			return true
		}
	}
	return false
}

// contract is the types of each capability's inputs; those in upper case are
// required.
var contract = map[string]map[string]string{"look": {"key": "STRING"}, "note": {"text": "STRING", "level": "number"}, "ping": {}}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// move says what becomes of admitting or suspending an agent.
func (b *referenceModel) move(a control.Actor, op access.Operation, id string, d countersign.Admission) countersign.Code {
	if rehearses(a) || lacks(a, countersign.RoleAdmin) {
		return countersign.CodeRoleRequired
	}
	if d.Reason == "" {
		return countersign.CodeInvalidRequest
	}
	if code := b.reachAgent(a, id); code != "" {
		return code
	}
	if d.ExpectedRevision != nil && *d.ExpectedRevision != b.agents[id].Revision {
		return countersign.CodeRevisionConflict
	}
	return ""
}

// liveness is the worst of an agent's instances that were heard within 120 s.
func (b *referenceModel) liveness(id string, now time.Time) (is countersign.Liveness, newest time.Time) {
	order := []countersign.Liveness{countersign.LivenessUnknown, countersign.LivenessStale, countersign.LivenessOnline, countersign.LivenessBusy, countersign.LivenessError}
	worst := 0
	for _, i := range b.beats[id] {
		rank := 1
		if now.Sub(i.at) <= 2*time.Minute {
			rank = map[countersign.InstanceState]int{countersign.InstanceIdle: 2, countersign.InstanceBusy: 3, countersign.InstanceError: 4}[i.State]
		}
		worst = max(worst, rank)
		if i.at.After(newest) {
			newest = i.at
		}
	}
	return order[worst], newest
}

// beat says what becomes of a heartbeat.
func (b *referenceModel) beat(a control.Actor, id string, h countersign.Heartbeat, now time.Time) (code countersign.Code, duplicate bool) {
	if lacks(a, countersign.RoleOperator) {
		return countersign.CodeRoleRequired, false
	}
	if code := b.reachAgent(a, id); code != "" {
		return code, false
	}
	last, known := b.beats[id][h.InstanceID]
	sent, _ := time.Parse(time.RFC3339, h.Timestamp)
	switch {
	case known && last.Heartbeat == h:
		return "", true
	case known && h.Sequence <= last.Sequence:
		return countersign.CodeSequenceConflict, false
	case sent.Sub(now).Abs() > 2*time.Minute:
		return countersign.CodeInvalidRequest, false
	}
	return "", false
}
