package run_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/run"
)

// fataler is what the checks need of *testing.T and *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// dawn is when every test run begins.
var dawn = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

const ttl = 24 * time.Hour

// world is a run with what stands around it: its plan, the clock, the approvals,
// and how the model and project are now. It keeps what an event comes to as
// whoever commits it would, and checks what must hold after every event.
type world struct {
	t          fataler
	plan       *countersign.Plan
	run        *countersign.Run
	now        time.Time
	model      plan.CurrentRevision
	project    plan.CurrentRevision
	approvals  map[string]*countersign.Approval
	stopping   bool
	stopped    bool // LIVE steps are
	agentLooks int  // that an agent has made within a minute
	exhausted  bool // a budget of the read for a precondition is used up
	listed     bool // whether the project's origin is on the server's list

	sent  []sending
	calls []*run.Call

	onItsWay bool      // the latest call has not ended
	answerBy time.Time // when it must have
}

func newWorld(t fataler, p *countersign.Plan) *world {
	return &world{
		t: t, plan: p, run: run.New(p, "run-1", "user:ada@example.com", "order-1", dawn), now: dawn,
		model: plan.CurrentRevision{Revision: p.ModelRevision}, project: plan.CurrentRevision{Revision: shop().Revision},
		approvals: map[string]*countersign.Approval{}, listed: true,
	}
}

// env is what the run repository would read. The approval is the one that the waiting
// step refers to; a decision stands in it before the run is asked.
func (w *world) env(e run.Event) (run.Env, *countersign.Approval) {
	env := run.Env{
		Now: w.now, Plan: w.plan, NewApprovalID: func() string { return fmt.Sprintf("apr-%d", len(w.approvals)+1) }, ApprovalTTL: ttl,
		Current: plan.CurrentRevisions{
			{Kind: plan.KindModel, ID: w.plan.ModelID}: w.model,
			{Kind: plan.KindProject, ID: "acme-shop"}:  w.project,
		},
		OriginAllowed: func(string) bool { return w.listed }, Stopping: w.stopping, Stopped: w.stopped,
	}
	env.AgentLooks = func(string) int { return w.agentLooks }
	if w.exhausted {
		env.Budgets = func(s *countersign.StepRun) []budget.Used {
			if s.Capability != "look" {
				return nil
			}
			return []budget.Used{{Budget: countersign.Budget{Count: 1, Then: countersign.RuleDeny, Reason: "enough"}, Count: 1}}
		}
	}
	a := w.waitingApproval()
	if a == nil {
		return env, nil
	}
	held := *a
	if d, ok := e.(run.Decided); ok && held.Status == countersign.ApprovalPending {
		held.Status, held.DecisionReason, held.DecidedBy, held.DecidedAt = d.Decision, d.Reason, d.By, w.now
	}
	env.Approval = &held
	return env, &held
}

func (w *world) waitingApproval() *countersign.Approval {
	for _, s := range w.run.Steps {
		if s.Status == countersign.StepWaitingApproval {
			return w.approvals[s.ApprovalID]
		}
	}
	return nil
}

// apply applies an event and keeps what it came to.
func (w *world) apply(e run.Event) (run.Result, error) {
	w.t.Helper()
	env, held := w.env(e)
	before := encoded(w.t, w.run)
	res, err := run.Apply(env, w.run, e)
	if after := encoded(w.t, w.run); after != before {
		w.t.Fatalf("%T changed the run that it was given:\n%s\n%s", e, before, after)
	}
	w.checkEvent(e, env, res, err)
	w.follow(e, res)
	if err != nil || res.Unchanged() {
		return res, err
	}
	w.keep(res, held)
	return res, nil
}

// follow keeps whether the latest call may still be answered.
func (w *world) follow(e run.Event, res run.Result) {
	switch e := e.(type) {
	case run.Returned:
		if len(w.calls) > 0 && e.Step == w.latest().Step && e.Attempt == w.latest().Attempt {
			w.onItsWay = false
		}
	case run.Restarted:
		w.onItsWay = w.onItsWay && e.Adopted
	}
	if c := res.Call; c != nil {
		w.onItsWay, w.answerBy = true, w.now.Add(c.Timeout+5*time.Second)
		if !c.AnswerBy.Equal(w.answerBy) {
			w.t.Fatalf("the call must have ended by %s, want %s", c.AnswerBy, w.answerBy)
		}
	}
}

func (w *world) keep(res run.Result, held *countersign.Approval) {
	if res.Close != "" {
		held.Status, held.DecisionReason, held.DecidedBy, held.DecidedAt = countersign.ApprovalRejected, res.Close, countersign.SystemPrincipal, w.now
	}
	if held != nil {
		w.approvals[held.ID] = held
	}
	if res.Ask != nil {
		w.approvals[res.Ask.ID] = res.Ask
	}
	if res.Call != nil {
		w.calls = append(w.calls, res.Call)
	}
	w.run = res.Run
}

// must applies an event that is not refused.
func (w *world) must(e run.Event) run.Result {
	w.t.Helper()
	res, err := w.apply(e)
	if err != nil {
		w.t.Fatalf("%T: %v", e, err)
	}
	return res
}

// play applies events, none of which is refused.
func (w *world) play(events ...run.Event) *world {
	w.t.Helper()
	for _, e := range events {
		w.must(e)
	}
	return w
}

func (w *world) step(id string) *countersign.StepRun { return &w.run.Steps[w.index(id)] }

func (w *world) index(id string) int {
	w.t.Helper()
	for i := range w.run.Steps {
		if w.run.Steps[i].ID == id {
			return i
		}
	}
	w.t.Fatalf("the run has no step %s", id)
	return -1
}

// answer is the outcome of the latest attempt of a step.
func (w *world) answer(id string, o outcome) run.Returned {
	i := w.index(id)
	return run.Returned{Step: i, Attempt: w.run.Steps[i].Attempt, Outcome: o}
}

func encoded(t fataler, v any) string {
	t.Helper()
	b, err := countersign.Marshal(v)
	if err != nil {
		t.Fatalf("Marshal: %v", err)
	}
	return string(b)
}

// dumped is any value as text, with what its pointers point to.
func dumped(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v) // it has a function
	}
	return fmt.Sprintf("%T %s", v, b)
}

// decide, cancel and reconcile are what a person does.

func decide(d countersign.ApprovalStatus) run.Decided {
	return run.Decided{Decision: d, Reason: "seen and checked", By: "user:bob@example.com"}
}

func cancel() run.CancelAsked {
	return run.CancelAsked{Reason: "not wanted any more", By: "user:ada@example.com"}
}

func reconcile(resolution string, output ...map[string]countersign.Value) run.Reconciled {
	r := countersign.Reconcile{Resolution: resolution, Evidence: "ticket 7"}
	if len(output) > 0 {
		r.Output = output[0]
	}
	return run.Reconciled{Reconcile: r, By: "user:bob@example.com"}
}

var _ fataler = (*testing.T)(nil)
