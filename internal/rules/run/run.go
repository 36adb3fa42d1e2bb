// Package run is the state machine of a run: given a run, its environment and an
// event, it returns the next run and the effects to perform. It is pure: it reads
// no clock and performs no I/O. The caller commits the returned run before it
// performs the effects ("saved before sent").
//
// Each status change is made by one function, which sets every field that depends
// on it. testdata/matrix.txt lists the result of each event in each status.
package run

import (
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/repeat"
	"github.com/countersign/countersign/internal/rules/request"
)

// Env is what the state machine knows besides the run, read in the transaction that
// commits the result.
type Env struct {
	Now  time.Time
	Plan *countersign.Plan // with ProjectSnapshots: the revisions it was made from
	// Current are the current revisions of what the plan was made from.
	Current plan.CurrentRevisions
	// Approval is the one that the waiting step refers to, nil for none.
	Approval *countersign.Approval
	// NewApprovalID draws the id of an approval that this event asks for.
	NewApprovalID func() string
	ApprovalTTL   time.Duration
	MaxProbes     int // for the run; 0 is the default
	MaxLooks      int // for the run; 0 is the default
	// AgentLooks is how many looks an agent has made within a minute; nil: none.
	AgentLooks func(agentID string) int
	// Unbacked: of those who approved, some don't count any more, and the others aren't enough.
	Unbacked bool
	// Budgets says what was used of the budgets that concern a step; nil: there are none. It
	// is asked for the step at the gate only, and not for a rehearsed one.
	Budgets func(*countersign.StepRun) []budget.Used
	// Alike says what there is besides a step's call, by what that is found by; nil: nothing.
	Alike func(digests []string) repeat.Alike
	// OriginAllowed checks a base URL against the server's current list.
	OriginAllowed func(baseURL string) bool
	// Taken is what judging each step took when the run was started, by its index; nil in runs
	// of earlier releases.
	Taken []int64
	// Meter counts what is judged within the event; nil: a new one of cost.InTurn.
	Meter *cost.Meter
	// Judged are steps that were judged before, by their index, see UnjudgedError.
	Judged map[int]*Judgement
	// Stopping prevents the start of new steps: the service stops.
	Stopping bool
	// Stopped prevents the start of LIVE steps: somebody stopped them. The runs wait.
	Stopped bool
}

// Result is the effect of an event. Run shares no changed data with the run before.
// Commit Run, its Changed steps, Ask, Close and Notes together; perform Call only
// after that.
type Result struct {
	Run     *countersign.Run
	Changed []int                 // indices of the steps whose record changed
	Ask     *countersign.Approval // a new approval, PENDING
	Close   string                // why the system rejects the run's PENDING approval; "" keeps it
	Call    *Call                 // what to send after the commit
	Notes   []Note                // records for the audit log
	Probe   *Probed               // the added probe; nothing else in its step changed

	Question *Question // to ask after the commit

	Look         *Look                     // to make after the commit
	Superseded   bool                      // the approval in Env lets nothing out any more
	State        *countersign.State        // what the approval in Env shows from now on
	StateChanged []countersign.StateChange // with it

	ProbeAnswer *Probed // the probe that was answered; nothing else in its step changed
}

// Call is the request of one step, to be sent.
type Call struct {
	Step       int
	Attempt    int
	SideEffect bool
	// AnswerBy is when the call must have ended. Until then the side effect of a
	// cancelled run can't be reconciled.
	AnswerBy time.Time
	request.Call
}

// Note is one audit record. Step is an index, -1 for the run itself.
type Note struct {
	Action string
	Step   int
	Before string
	After  string
	Reason string
	Digest string

	StateDigest string

	Actor string // "": whoever caused the event

	DecisionAssertion string // of an approval that is asked for
	Assertion         *countersign.Assertion
	AnswerKeys        []string // of what is sent: those by one of which its answer must be signed
}

// Demand states what a tenant asks of whoever approves: on the approval that the event asks
// for, and on its record, so that no later change of the setting takes it back.
func (r Result) Demand(decisionAssertion string) {
	if decisionAssertion != countersign.DecisionAssertionPasskey || r.Ask == nil {
		return
	}
	r.Ask.DecisionAssertion = decisionAssertion
	for i := range r.Notes {
		if r.Notes[i].Action == "approval.request" {
			r.Notes[i].DecisionAssertion = decisionAssertion
		}
	}
}

// Unchanged reports that there is nothing to store.
func (r Result) Unchanged() bool { return len(r.Changed) == 0 && len(r.Notes) == 0 }

// New creates the run of a plan, READY, with all its steps.
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
	r.Steps = slices.Grow(r.Steps, len(p.Steps))
	for i := range p.Steps {
		r.Steps = append(r.Steps, newStep(r, &p.Steps[i], p.Gate, projects))
	}
	return r
}

// IsOf reports that a run has the steps of a plan, which has an id and one step at least.
func IsOf(r *countersign.Run, p *countersign.Plan) bool {
	return p.ID != "" && (p.Mode == countersign.ModeLive || p.Mode == countersign.ModeDryRun) && r.PlanID == p.ID && r.PlanDigest == p.PlanDigest && r.Mode == p.Mode && len(r.Steps) > 0 &&
		slices.EqualFunc(r.Steps, p.Steps, func(s countersign.StepRun, planned countersign.Step) bool { return s.ID == planned.ID })
}

func newStep(r *countersign.Run, s *countersign.Step, gate int64, projects map[string]*countersign.Project) countersign.StepRun {
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
			sr.SideEffect, sr.ApprovalRequired = c.HasSideEffect(), c.NeedsApprovalBy(gate)
		}
	}
	return sr
}

// transition applies one event.
type transition struct {
	env    Env
	before *countersign.Run
	run    *countersign.Run
	res    Result

	at     int    // the step that caused the status change; -1: none
	reason string // reason for the audit record if the run has no error

	judgement *Judgement // of the step that is prepared
	seen      *seen      // what the look found that this event reports
	askedNote int        // the note of an approval that is asked for

	verdict gate.Verdict // of the gate, about the step that is prepared
	title   string       // of that step's request
	alike   repeat.Alike // what there is besides its call

	meter    *cost.Meter    // of what is judged within the transition
	unjudged *UnjudgedError // what can't be: the transition comes to nothing
}

func begin(env Env, r *countersign.Run) *transition {
	next := *r
	next.Steps = slices.Clone(r.Steps)
	t := &transition{env: env, before: r, run: &next, at: -1}
	t.res.Run = &next
	return t
}

// end finishes the transition: a changed run gets a new revision and time.
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

// planned is the plan's step for a step record: both lists have the same order.
func (t *transition) planned(i int) *countersign.Step { return &t.env.Plan.Steps[i] }

// target finds the project revision and capability that a step calls.
func (t *transition) target(i int) (*countersign.Project, *countersign.Capability) {
	s := t.planned(i)
	return targetOf(t.env.Plan, s.ProjectID, s.Capability)
}

// targetOf is a capability and its project in the plan's snapshots, nil if missing.
func targetOf(plan *countersign.Plan, projectID, capability string) (*countersign.Project, *countersign.Capability) {
	for i := range plan.ProjectSnapshots {
		if p := &plan.ProjectSnapshots[i]; p.ID == projectID {
			return p, p.Capability(capability)
		}
	}
	return nil, nil
}

func projectsOf(p *countersign.Plan) map[string]*countersign.Project {
	m := make(map[string]*countersign.Project, len(p.ProjectSnapshots))
	for i := range p.ProjectSnapshots {
		m[p.ProjectSnapshots[i].ID] = &p.ProjectSnapshots[i]
	}
	return m
}

// nextStep is the step to start: the first in plan order that has not started and
// whose dependencies are all done; -1 for none.
func (t *transition) nextStep() int {
	for i := range t.run.Steps {
		s := &t.run.Steps[i]
		open := s.Status == countersign.StepPending || s.Status == countersign.StepWaitingApproval
		if open && !slices.ContainsFunc(s.DependsOn, t.undone) {
			return i
		}
	}
	return -1
}

// undone reports a step whose dependents may not start. It looks through the list: of the
// steps that have not started, mostly the first may start.
func (t *transition) undone(id string) bool {
	for i := range t.run.Steps {
		if s := &t.run.Steps[i]; s.ID == id {
			return s.Status != countersign.StepCompleted && s.Status != countersign.StepSimulated
		}
	}
	return true
}

// inFlight is the step whose request is being sent; -1 for none.
func (t *transition) inFlight() int { return indexByStatus(t.run, countersign.StepRunning) }

// uncertain is the step that waits to be reconciled; -1 for none.
func (t *transition) uncertain() int { return indexByStatus(t.run, countersign.StepRecoveryRequired) }

func indexByStatus(r *countersign.Run, s countersign.StepStatus) int {
	for i := range r.Steps {
		if r.Steps[i].Status == s {
			return i
		}
	}
	return -1
}

// verifiedOutputs are the outputs of completed steps; bindings use no others.
func (t *transition) verifiedOutputs() map[string]plan.Output {
	out := map[string]plan.Output{}
	for i := range t.run.Steps {
		if s := &t.run.Steps[i]; s.Status == countersign.StepCompleted {
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
