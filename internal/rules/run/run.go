// Package run is the state machine of a run: given a run, what is known outside
// and an event, it returns the next run and the effects to perform. It is pure:
// it reads no clock and performs nothing, and whoever performs its effects
// commits the returned run first ("saved before sent").
//
// One function makes each move and sets every field that depends on it; the
// matrix of status and event is written down in testdata/matrix.txt.
package run

import (
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
)

// Env is what is known outside the run when an event is applied, read in the
// same transaction that commits the result.
type Env struct {
	Now  time.Time
	Plan *countersign.Plan // with ProjectSnapshots: the revisions it was made from
	// Standings is how the model and projects are now.
	Standings plan.CurrentRevisions
	// Approval is the one that the waiting step refers to; nil when there is none.
	Approval *countersign.Approval
	// NewApprovalID is the id of the approval that this event may ask for.
	NewApprovalID string
	ApprovalTTL   time.Duration
	MaxProbes     int // of the run, 0: the default
	// OriginAllowed judges a base URL by the server's list of today.
	OriginAllowed func(baseURL string) bool
	// Stopping keeps new steps from beginning.
	Stopping bool
}

// Result is what an event came to. Run shares nothing that was changed with the
// run it was applied to. Commit Run, its Changed steps, Ask, Close and Notes
// together; only then perform Call.
type Result struct {
	Run     *countersign.Run
	Changed []int                 // indices of the steps whose record changed
	Ask     *countersign.Approval // a new approval, PENDING
	Close   string                // why the run's PENDING approval is to be REJECTED by system; "" keeps it
	Call    *Call                 // what to send once all this is durable
	Notes   []Note                // what the audit log says
	Probe   *Probed               // a probe that was added; its step's record didn't change besides
}

// Call is the effect of sending one step.
type Call struct {
	Step       int
	Attempt    int
	SideEffect bool
	// AnswerBy is when the call must have ended: until then, and no longer, a cancelled
	// run keeps its side effect from being resolved.
	AnswerBy time.Time
	request.Call
}

// Note is one audit record: what happened, to which step (index, -1: the run).
type Note struct {
	Action string
	Step   int
	Before string
	After  string
	Reason string
	Digest string
}

// Unchanged reports that the event changed nothing, so nothing is to be stored.
func (r Result) Unchanged() bool { return len(r.Changed) == 0 && len(r.Notes) == 0 }

// New makes the run of a plan, READY, with every step listed.
func New(p *countersign.Plan, id, requestedBy, key string, now time.Time) *countersign.Run {
	r := &countersign.Run{
		ID: id, PlanID: p.ID, Status: countersign.RunReady, Mode: p.Mode, Revision: 1, PlanDigest: p.PlanDigest,
		RequestedBy: requestedBy, IdempotencyKey: key, CreatedAt: now, UpdatedAt: now,
	}
	if p.Team != nil {
		r.TeamID = p.Team.ID
	} else if len(p.Agents) == 1 {
		r.AgentID = p.Agents[0].ID
	}
	projects := projectsOf(p)
	for i := range p.Steps {
		r.Steps = append(r.Steps, newStep(r, &p.Steps[i], projects))
	}
	return r
}

func newStep(r *countersign.Run, s *countersign.Step, projects map[string]*countersign.Project) countersign.StepRun {
	sr := countersign.StepRun{
		ID: s.ID, Name: s.Name, ProjectID: s.ProjectID, Capability: s.Capability, ActionID: s.ActionID, AgentID: s.AgentID,
		DependsOn: slices.Clone(s.DependsOn), Status: countersign.StepPending,
		Input: plan.Unresolved(s), IdempotencyKey: r.ID + "." + s.ID,
	}
	if sr.DependsOn == nil {
		sr.DependsOn = []string{}
	}
	if p := projects[s.ProjectID]; p != nil {
		if c := p.Capability(s.Capability); c != nil {
			sr.SideEffect, sr.ApprovalRequired = c.HasSideEffect(), c.NeedsApproval()
		}
	}
	return sr
}

// transition is one event being applied.
type transition struct {
	env    Env
	before *countersign.Run
	run    *countersign.Run
	res    Result

	at     int    // the step that a move of the run is about; -1: none
	reason string // why, where the run's error doesn't say it
}

func begin(env Env, r *countersign.Run) *transition {
	next := *r
	next.Steps = slices.Clone(r.Steps)
	t := &transition{env: env, before: r, run: &next, at: -1}
	t.res.Run = &next
	return t
}

// end closes the transition: a run that changed has a new revision and time.
func (t *transition) end() Result {
	if !t.res.Unchanged() {
		t.run.Revision++
		t.run.UpdatedAt = t.env.Now
	}
	return t.res
}

func (t *transition) step(i int) *countersign.StepRun {
	if !slices.Contains(t.res.Changed, i) {
		t.res.Changed = append(t.res.Changed, i)
	}
	return &t.run.Steps[i]
}

func (t *transition) note(n Note) { t.res.Notes = append(t.res.Notes, n) }

// planned is the plan's step of a step record: both lists are in plan order.
func (t *transition) planned(i int) *countersign.Step { return &t.env.Plan.Steps[i] }

// target finds the project revision and capability that a step calls.
func (t *transition) target(i int) (*countersign.Project, *countersign.Capability) {
	s := t.planned(i)
	return targetOf(t.env.Plan, s.ProjectID, s.Capability)
}

// targetOf is a capability with its project as the plan saw them, nil for what it
// didn't see.
func targetOf(plan *countersign.Plan, projectID, capability string) (*countersign.Project, *countersign.Capability) {
	p := projectsOf(plan)[projectID]
	if p == nil {
		return nil, nil
	}
	return p, p.Capability(capability)
}

func projectsOf(p *countersign.Plan) map[string]*countersign.Project {
	m := make(map[string]*countersign.Project, len(p.ProjectSnapshots))
	for i := range p.ProjectSnapshots {
		m[p.ProjectSnapshots[i].ID] = &p.ProjectSnapshots[i]
	}
	return m
}

// nextStep is the step to begin: the first in plan order that has not begun and
// whose dependencies are all done. -1: none is left.
func (t *transition) nextStep() int {
	done := make(map[string]bool, len(t.run.Steps))
	for _, s := range t.run.Steps {
		done[s.ID] = s.Status == countersign.StepCompleted || s.Status == countersign.StepSimulated
	}
	return slices.IndexFunc(t.run.Steps, func(s countersign.StepRun) bool {
		open := s.Status == countersign.StepPending || s.Status == countersign.StepWaitingApproval
		return open && !slices.ContainsFunc(s.DependsOn, func(d string) bool { return !done[d] })
	})
}

// inFlight is the step that is being sent or whose outcome is open; -1: none.
func (t *transition) inFlight() int { return indexByStatus(t.run, countersign.StepRunning) }

// uncertain is the step that waits for a reconcile; -1: none.
func (t *transition) uncertain() int { return indexByStatus(t.run, countersign.StepRecoveryRequired) }

func indexByStatus(r *countersign.Run, s countersign.StepStatus) int {
	return slices.IndexFunc(r.Steps, func(sr countersign.StepRun) bool { return sr.Status == s })
}

// verifiedOutputs are the outputs that a binding may take from: those of
// completed steps.
func (t *transition) verifiedOutputs() map[string]plan.Output {
	out := map[string]plan.Output{}
	for i, s := range t.run.Steps {
		if s.Status == countersign.StepCompleted {
			out[s.ID] = plan.Output{Value: s.Output, OutputField: t.outputField(i)}
		}
	}
	return out
}

func (t *transition) outputField(i int) string {
	if _, c := t.target(i); c != nil {
		return c.OutputField
	}
	return ""
}
