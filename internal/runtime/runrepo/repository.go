// Package runrepo applies events to stored runs: it loads a run with all that run.Apply
// needs, and writes the result, its approvals, slots and audit records in the same
// transaction. The engine and the use cases both change runs through it, and in no other
// way. It must send nothing, and asks for no access rights.
package runrepo

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Config configures a Repository.
type Config struct {
	MaxActive     int
	MaxPerTenant  int    // of these, 0: see Share
	Replica       string // this process, owner of the runs it makes active; "" where no other uses the store
	MaxProbes     int    // of a run, 0: the default
	ApprovalTTL   time.Duration
	NewID         func(prefix string) string
	NewSalt       func() string // of an audit record that has a digest or a reason; nil: none
	OriginAllowed func(baseURL string) bool
	Eyes          access.Eyes // by whose rules it is asked who still counts for what is undecided
	Now           func() time.Time
	// Observe is told what a committed event says of capabilities; nil: nobody is.
	Observe func(tenant string, facts []telemetry.Fact)
}

// Repository applies events to stored runs. It is safe for concurrent use; what it caches
// is immutable.
type Repository struct {
	cfg     Config
	plans   *cache.Cache[planKey, knownPlan]
	runs    *cache.Cache[cache.Stamp, *records.Run]
	heads   *cache.Cache[headStamp, plan.CurrentRevision]
	latest  latestRuns
	moves   moves
	judging *semaphore.Semaphore // of what takes a processor

	judgingLittle *semaphore.Semaphore // of what takes one for some 100 ms at most
	judged        judgedSteps
	compiled      *cache.Cache[string, any] // patterns by their text
	stopping      atomic.Bool

	spendings *cache.Cache[spendingPlace, *knownSpending]
	budgets   *cache.Cache[cache.Stamp, []countersign.Budget] // of agents, by their heads
}

// New makes a run repository.
func New(cfg Config) *Repository {
	return &Repository{
		cfg:    cfg,
		plans:  cache.Weighed[planKey, knownPlan](rememberedPlans, rememberedPlanBytes),
		runs:   cache.New[cache.Stamp, *records.Run](rememberedRuns),
		heads:  cache.New[headStamp, plan.CurrentRevision](maxCachedHeads),
		latest: latestRuns{runs: cache.New[Ref, latestRun](rememberedRuns + 2*cfg.MaxActive)},
		moves:  moves{runs: map[Ref]*move{}},

		judging: semaphore.New(judgedAtOnce), judgingLittle: semaphore.New(judgedAtOnce),
		judged: judgedSteps{runs: map[Ref]*keptSteps{}},

		compiled: cache.Weighed[string, any](compiledPatterns, compiledInstructions),

		spendings: cache.New[spendingPlace, *knownSpending](rememberedSpendings),
		budgets:   cache.New[cache.Stamp, []countersign.Budget](maxCachedHeads),
	}
}

// Now is the run repository's clock.
func (l *Repository) Now() time.Time { return l.cfg.Now() }

// StopSteps keeps every later transaction from beginning a step; outcomes are still stored.
func (l *Repository) StopSteps() { l.stopping.Store(true) }

// Ref names a run.
type Ref struct{ Tenant, RunID string }

// Actor is who causes an event, as the audit log names it.
type Actor struct {
	ID        string
	RequestID string
	// Via is the chat service in which a person acts, "" for the API and the console.
	Via string
	// Door is how the request came; a decision keeps it.
	Door string
	// Whole is the actor as a requester is stored; approvals name its makers.
	Whole access.Requester
	// Person is the user who is known to act, "" for nobody.
	Person string
	// OnBehalfOf are users in whose place an approval is decided.
	OnBehalfOf []string
}

// Request is the request that started a run.
type Request struct {
	ID    string
	Trace string  // its traceparent, "" without one
	Taken []int64 // what judging each of the run's steps took
}

// System is the service itself.
var System = Actor{ID: countersign.SystemPrincipal}

// Moved is the result of an event. It may not be used, and its call not made, before the
// transaction is committed.
type Moved struct {
	// Run is the run as the transaction leaves it.
	Run  *LoadedRun
	Call *run.Call
	// Others are runs that got a slot in the same transaction.
	Others []*LoadedRun

	// Question is what a receiver is to be asked.
	Question *run.Question

	// Look is a read for a precondition, to be made.
	Look *run.Look

	facts []telemetry.Fact
}

// Begun is a run that the start which makes it has begun in its own transaction. It is used up by one
// of the two.
type Begun interface {
	// Go tells of the run and carries it on; the transaction is committed.
	Go()
	// Drop forgets a run that isn't committed.
	Drop()
}

// suggested are the inputs that would be approved instead, without those that are null and
// optional.
func suggested(env *run.Env, r *countersign.Run, input map[string]countersign.Value) map[string]countersign.Value {
	for i := range r.Steps {
		step := &r.Steps[i]
		if c := capabilityOf(env.Plan, step); env.Approval != nil && step.ID == env.Approval.StepID && c != nil {
			return request.Given(c, input)
		}
	}
	return input
}

// Apply applies an event to a run. loaded is the run as the caller last saw it, nil to load
// it; it is loaded again if its stored version is another one.
func (l *Repository) Apply(tx store.Tx, ref Ref, loaded *LoadedRun, e run.Event, by Actor) (Moved, error) {
	loaded, err := l.refresh(tx, ref, loaded)
	if err != nil {
		return Moved{}, err
	}
	env, approval, err := l.env(tx, loaded)
	if err != nil {
		return Moved{}, err
	}
	spent := &spendings{repository: l, tx: tx, loaded: loaded, now: env.Now}
	env.Budgets = spent.used
	looked := &alikeLook{repository: l, tx: tx, loaded: loaded}
	env.Alike = looked.of
	if err := l.lookEnv(tx, loaded, &env, approval, e); err != nil {
		return Moved{}, err
	}
	if d, ok := e.(run.Decided); ok {
		d.Suggested = suggested(&env, loaded.Run(), d.Suggested)
		e = d
		// env.Approval is this record; it isn't stored if the run refuses
		if err := approval.decide(tx, ref.Tenant, d, records.Decider{Requester: by.Whole, Person: by.Person, OnBehalfOf: by.OnBehalfOf, Door: by.Door}, records.Moment{Now: env.Now, Eyes: l.cfg.Eyes}); err != nil {
			return Moved{}, err
		}
	}
	res, err := run.Apply(env, loaded.Run(), e)
	if spent.err != nil { // what was judged without its budgets is no result
		return Moved{}, spent.err
	}
	if looked.err != nil {
		return Moved{}, looked.err
	}
	if err != nil {
		return Moved{Run: loaded, Call: res.Call}, err
	}
	if res.Call != nil {
		if res.Call.BoundTo, err = credowner.OfProject(tx, res.Call.Project); err != nil {
			return Moved{Run: loaded}, err
		}
	}
	if res.Question != nil {
		if res.Question.BoundTo, err = credowner.OfProject(tx, res.Question.Project); err != nil {
			return Moved{Run: loaded}, err
		}
	}
	if err := l.look(tx, loaded, &env, res); err != nil {
		return Moved{Run: loaded}, err
	}
	if d, ok := e.(run.Decided); ok {
		if err := l.markRejected(tx, loaded, env.Approval, d); err != nil {
			return Moved{}, err
		}
	}
	known := facts(loaded.Run(), res, e, approval)
	if res.Unchanged() {
		return Moved{Run: loaded, Call: res.Call, facts: known}, nil
	}
	if step := neverLeft(e, res); step != nil && res.Run.Mode == countersign.ModeLive {
		if err := spent.giveBack(step); err != nil {
			return Moved{Run: loaded}, err
		}
	}
	if err := spent.lookAnswered(loaded, e); err != nil {
		return Moved{Run: loaded}, err
	}
	sent, err := spent.count(res)
	if err != nil {
		return Moved{Run: loaded}, err
	}
	moved, err := l.commit(tx, env, loaded, approval, res, sent, by)
	moved.facts, moved.Question, moved.Look = known, res.Question, res.Look
	crashpoint.At("runrepo.applied", e)
	return moved, err
}

// commit writes the result of an event. A run that asks for a slot and gets it at once is
// written once, with both changes. sent is what the step that is called is found by.
func (l *Repository) commit(tx store.Tx, env run.Env, loaded *LoadedRun, a *loadedApproval, res run.Result, sent string, by Actor) (Moved, error) {
	if res.Close != "" {
		closed := run.Decided{Decision: countersign.ApprovalRejected, Reason: res.Close, By: countersign.SystemPrincipal}
		if err := a.decide(tx, loaded.Ref.Tenant, closed, records.Decider{}, records.Moment{Now: env.Now, Eyes: l.cfg.Eyes}); err != nil {
			return Moved{}, err
		}
	}
	a.seen(res)
	if err := a.save(tx, loaded.Ref.Tenant); err != nil {
		return Moved{}, err
	}
	if res.Ask != nil {
		settings, err := records.SettingsOf(tx, loaded.Ref.Tenant)
		if err != nil {
			return Moved{}, err
		}
		res.Demand(settings.DecisionAssertion)
		rec := &records.Approval{Approval: *res.Ask, Requester: loaded.record.Requester}
		rec.Identity, rec.OnBehalfOf = rec.Requester.Identity, rec.Requester.OnBehalfOf
		if err := nameMakers(tx, loaded.Ref.Tenant, rec); err != nil {
			return Moved{}, err
		}
		if _, err := records.Approvals.Add(tx, loaded.Ref.Tenant, res.Ask.ID, rec); err != nil {
			return Moved{}, err
		}
	}
	log := l.auditRecords(res, by, env.Now)
	queue, granted, err := l.takeSlot(tx, env, loaded, res.Run)
	if err != nil {
		return Moved{}, err
	}
	if granted.Run != nil {
		res.Run, log = granted.Run, append(log, l.auditRecords(granted, System, env.Now)...)
	}
	l.latest.writing(loaded.Ref, loaded.version+1)
	next, err := loaded.save(tx, res, sent)
	if err != nil {
		return Moved{}, err
	}
	if err := remark(tx, loaded, next); err != nil {
		return Moved{}, err
	}
	crashpoint.At("runrepo.saved", next.Run().Status)
	if err := audit.Append(tx, loaded.Ref.Tenant, log); err != nil {
		return Moved{}, err
	}
	if err := rehearsed(tx, loaded, next); err != nil {
		return Moved{}, err
	}
	if !sameEntry(loaded.unfinished(loaded.Run()), next.unfinished(next.Run())) {
		if err := l.saveUnfinished(tx, next); err != nil {
			return Moved{}, err
		}
	}
	others, err := l.grant(tx, queue)
	return Moved{Run: next, Call: res.Call, Others: others}, err
}

// Start stores a new run with its audit record. The caller has checked that it may start
// and that a slot is free. A run of nothing would be COMPLETED without a step, so none is
// stored.
func (l *Repository) Start(tx store.Tx, p *countersign.Plan, tenant string, r *countersign.Run, by access.Requester, from Request) (*LoadedRun, error) {
	if !run.IsOf(r, p) {
		return nil, fmt.Errorf("runrepo: run %q is of no plan with steps: plan %q has %d, the run %d", r.ID, p.ID, len(p.Steps), len(r.Steps))
	}
	h := &LoadedRun{Ref: Ref{tenant, r.ID}, plan: p, record: records.Run{Run: *r, Requester: by, Projects: records.ProjectsOf(p), Trace: from.Trace, Taken: from.Taken}}
	h.stored = make(storedSteps, len(r.Steps))
	l.latest.writing(h.Ref, h.version+1)
	if err := h.saveAll(tx); err != nil {
		return nil, err
	}
	if err := l.addUnfinished(tx, h); err != nil {
		return nil, err
	}
	if err := remark(tx, &LoadedRun{}, h); err != nil {
		return nil, err
	}
	crashpoint.At("runrepo.started", r.Mode)
	return h, audit.Append(tx, tenant, []countersign.AuditRecord{{
		At: l.cfg.Now(), Actor: by.ID, Action: "runs.start", Subject: "run/" + r.ID, Outcome: countersign.AuditDone,
		After: string(r.Status), Reason: startOf(r), Digest: r.PlanDigest, RequestID: from.ID, Salt: l.Salt(), ActorMakers: by.LinkMakers(),
		Identity: by.Identity, OnBehalfOf: by.OnBehalfOf,
	}})
}

// startOf is the reason in the audit record of a start.
func startOf(r *countersign.Run) string {
	of := r.Mode + " of plan " + r.PlanID
	switch {
	case r.TeamID != "":
		of += " by team " + r.TeamID
	case r.AgentID != "":
		of += " by agent " + r.AgentID
	}
	if r.Reason != "" {
		of += ": " + r.Reason
	}
	return of
}

// Salt draws the salt of an audit record. Readers who may not see a record's digest or
// reason get its hash with the records beside it, and could try values against that.
func (l *Repository) Salt() string {
	if l.cfg.NewSalt == nil {
		return ""
	}
	return l.cfg.NewSalt()
}

func (l *Repository) auditRecords(res run.Result, by Actor, now time.Time) []countersign.AuditRecord {
	out := make([]countersign.AuditRecord, len(res.Notes))
	for i, n := range res.Notes {
		out[i] = countersign.AuditRecord{
			At: now, Actor: cmp.Or(n.Actor, by.ID), Action: n.Action, Subject: "run/" + res.Run.ID, Outcome: countersign.AuditDone,
			Before: n.Before, After: n.After, Reason: n.Reason, Digest: n.Digest, StateDigest: n.StateDigest, RequestID: by.RequestID, Via: by.Via, ActorMakers: by.Whole.LinkMakers(),
			DecisionAssertion: n.DecisionAssertion, Assertion: n.Assertion, AnswerKeys: n.AnswerKeys,
			Identity: by.Whole.Identity, OnBehalfOf: by.Whole.OnBehalfOf,
		}
		if n.Step >= 0 {
			out[i].Step = res.Run.Steps[n.Step].ID
		}
		if n.Digest != "" || n.Reason != "" || n.StateDigest != "" {
			out[i].Salt = l.Salt()
		}
	}
	return out
}
