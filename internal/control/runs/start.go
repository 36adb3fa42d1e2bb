package runs

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/plans"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// StartService starts runs.
type StartService struct {
	*core.Core
	runs     *RunService
	plans    *plans.PlanService
	keyRaces *cache.Cache[string, time.Time] // by tenant: when two starts took one key for free
}

// cachedKeyRaces is of how many tenants it is known that two starts took one key for free.
const cachedKeyRaces = 1024

// NewStarts returns the use cases.
func NewStarts(c *core.Core, runs *RunService, plans *plans.PlanService) *StartService {
	return &StartService{Core: c, runs: runs, plans: plans, keyRaces: cache.New[string, time.Time](cachedKeyRaces)}
}

// Started is the answer of starting a run: the run, and whether an earlier start
// with the same key made it.
type Started struct {
	Run      countersign.Run
	Replayed bool
	archived bool

	// Effects is what became of the run's side effects if it has ended: what is left of an
	// archived run has no steps that would say so.
	Effects countersign.Effects
}

// startRequest is one request to start a run: by which operation, about what, under
// which key, and the fingerprint that a repeat must have.
type startRequest struct {
	op          access.Operation
	subject     string
	key         string
	fingerprint string
	asWritten   string // the fingerprint with inputs that are null
	reason      string
	known       run.Estimate // of the plan's steps
	at          time.Time    // when it was asked: every look for its key judges by this moment
	call        *agentCall   // over MCP; nil: an API's start, whose key holds forever
	mode        string       // of the run
}

// newStartRequest takes the fingerprint over operation, path id and body (contract 6). given is
// the body without inputs that are null: which of them are left out says a schema, which may
// change, and a repeat mustn't be told from its start by that (contract 12.1).
func newStartRequest(now time.Time, op access.Operation, subject, pathID, key string, body, given any) (startRequest, error) {
	o := startRequest{op: op, subject: subject, key: key, at: now}
	var err error
	if o.asWritten, err = countersign.CanonicalDigest([]any{op, pathID, body}); err != nil {
		return o, err
	}
	o.fingerprint = o.asWritten
	if given != nil {
		o.fingerprint, err = countersign.CanonicalDigest([]any{op, pathID, given})
	}
	return o, err
}

// withoutNulls are the inputs that aren't null, and whether any is.
func withoutNulls(inputs map[string]countersign.Value) (map[string]countersign.Value, bool) {
	out := maps.Clone(inputs)
	maps.DeleteFunc(out, func(_ string, v countersign.Value) bool { return v.IsNull() })
	return out, len(out) < len(inputs)
}

// start starts a run, once for each idempotency key (specification 4, rule 2), for an
// actor whose access its caller has checked.
// The key is looked up before anything that may have changed since is checked,
// so that a repeat always finds its run; a refused start doesn't burn it. ready
// checks what must hold now and gives the plan.
func (s *StartService) start(ctx context.Context, a core.Actor, o startRequest, ready func(tx store.Tx) (*countersign.Plan, error)) (out Started, err error) {
	var held *runrepo.LoadedRun
	begun := firstTurn{driver: s.runs.driver}
	defer begun.drop()
	begin := func(tx store.Tx, free bool) (err error) {
		held = nil
		begun.drop() // of an earlier try
		if !free {
			earlier, err := s.claimed(tx, a, o)
			if err != nil || earlier != nil {
				out = Started{Replayed: true}
				if err == nil {
					out.Run, out.archived, out.Effects = earlier.Run, earlier.archived, earlier.Effects
				}
				return err
			}
		}
		besides, err := alike(s.Repo, tx, a, o)
		if err != nil {
			return err
		}
		p, err := ready(tx)
		if err != nil {
			return err
		}
		runID := s.Config.NewID("run")
		if err := claim(tx, a, o, runID, free); err != nil {
			return err
		}
		crashpoint.At("control.claimed", o.op)
		r := run.New(p, runID, a.ID, o.key, s.Config.Now())
		r.Reason, r.OpenAlike, r.Identity, r.OnBehalfOf = o.reason, besides.Open, a.Identity, a.OnBehalfOf
		if o.call != nil && o.call.words != (countersign.AgentWords{}) {
			r.AgentWords = &o.call.words
		}
		held, err = s.Repo.Start(tx, p, a.Tenant, r, a.Requester(), runrepo.Request{ID: a.RequestID, Trace: telemetry.Traceparent(ctx), Taken: o.known.Taken})
		if err != nil {
			return err
		}
		return begun.in(tx, held)
	}
	made := func(free bool) error {
		return begun.orAlone(func() error {
			return s.UpdateAs(ctx, a, func(tx store.Tx) error { return begin(tx, free) })
		})
	}
	free := s.seemsFree(ctx, a, o)
	if free {
		err = made(true)
		crashpoint.At("control.committed", o.op)
		if free = s.wasFree(ctx, a, o, err); free {
			err = s.Refuse(ctx, a, o.op, o.subject, core.Public(err))
		}
	}
	if !free {
		err = made(false)
		crashpoint.At("control.committed", o.op)
		err = s.Refuse(ctx, a, o.op, o.subject, core.Public(err))
	}
	if err != nil {
		return out, err
	}
	if held != nil {
		out = Started{Run: *held.Run()}
		out.Run.RequestedByName = a.Name
		telemetry.Moved(ctx, held.Ref.RunID, held.Trace())
		if !begun.goOn() {
			s.runs.moved(held)
		}
		if p := s.Repo.KnownWholePlan(a.Tenant, out.Run.PlanID, out.Run.PlanDigest); p != nil && !core.Masks(a) {
			out.Run.PlanSnapshot = p
			return out, nil
		}
	}
	return s.withSnapshot(ctx, a, out)
}

// keyRaceEnds is how long after two starts with one key a tenant's keys are looked for in the
// turn to write.
const keyRaceEnds = time.Minute

// seemsFree looks for the key outside of the turn to write, on a store that others write to:
// there all of them wait while a batch reads what it doesn't know, and no key is known. That
// it is still free is found out when the claim is written: if it isn't, all functions of that
// batch run again, so a tenant at which that happened isn't believed for a while.
func (s *StartService) seemsFree(ctx context.Context, a core.Actor, o startRequest) bool {
	if s.Alone != nil || o.call != nil {
		return false
	}
	if raced, ok := s.keyRaces.Get(a.Tenant); ok && s.Config.Now().Sub(raced) < keyRaceEnds {
		return false
	}
	return s.isFree(ctx, a, o)
}

func (s *StartService) isFree(ctx context.Context, a core.Actor, o startRequest) bool {
	err := s.Read(ctx, func(tx store.Tx) error {
		_, _, err := records.Claims.Get(tx, a.Tenant, o.key)
		return err
	})
	return errors.Is(err, store.ErrNotFound)
}

// wasFree reports whether err is the answer to a start that took its key for free. If the start
// was refused, somebody may have taken the key before, and then that run is the answer. Any other
// error stands: it may say that nobody knows what was written.
func (s *StartService) wasFree(ctx context.Context, a core.Actor, o startRequest, err error) bool {
	switch {
	case errors.Is(err, store.ErrConflict):
		s.keyRaces.Put(a.Tenant, s.Config.Now())
		return false
	case err == nil, countersign.ErrorCode(err) == countersign.CodeInternal, ctx.Err() != nil:
		return true
	}
	return s.isFree(ctx, a, o)
}

// withSnapshot completes the answer of a start. A replay shows the run's present
// state; a new run is shown as it was stored, READY, and an archived one as far as
// it is still here.
func (s *StartService) withSnapshot(ctx context.Context, a core.Actor, out Started) (Started, error) {
	if out.archived {
		return out, nil
	}
	ctx = context.WithoutCancel(ctx) // the run is started: no answer may say any more that nothing was changed
	var whole countersign.Run
	err := s.Read(ctx, func(tx store.Tx) (err error) { // perhaps more than once
		whole, err = s.runs.WholeRun(tx, a, out.Run.ID)
		return err
	})
	if !out.Replayed && s.IsMade(a, "run/"+out.Run.ID, err) {
		return out, nil // without the snapshot
	}
	if out.Replayed {
		out.Run = whole
	}
	out.Run.PlanSnapshot = whole.PlanSnapshot
	return out, err
}

// claim binds the key to the run; over MCP it replaces runs that a repeat no longer finds, and
// keeps those that it finds where a call is made again. A key that is taken for free isn't looked for: if it is there, the start fails.
func claim(tx store.Tx, a core.Actor, o startRequest, runID string, free bool) error {
	bound := &records.Claim{RunID: runID, Fingerprint: o.fingerprint}
	if free {
		_, err := records.Claims.Add(tx, a.Tenant, o.key, bound)
		return err
	}
	var version int64
	if o.call != nil {
		known, at, err := records.Claims.Get(tx, a.Tenant, o.key)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return err
		case o.again():
			if bound.Earlier, err = o.findable(tx, a, known); err != nil {
				return err
			}
		}
		version = at
	}
	_, err := records.Claims.Put(tx, a.Tenant, o.key, bound, version)
	return err
}

// claimed finds the run that the key started before; nil when the key is free. What
// belongs to the run is read later.
func (s *StartService) claimed(tx store.Tx, a core.Actor, o startRequest) (*Started, error) {
	claim, _, err := records.Claims.Get(tx, a.Tenant, o.key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i, id := range claim.Runs() {
		earlier, err := o.startedUnder(tx, a, claim, id)
		if err != nil || i == 0 && o.again() {
			return nil, err
		}
		if repeats, err := o.repeats(tx, a, earlier); err != nil || repeats {
			return earlier, err
		}
	}
	return nil, nil
}

// startedUnder is a run of the key's claim, if the request may have started it.
func (s startRequest) startedUnder(tx store.Tx, a core.Actor, claim *records.Claim, id string) (*Started, error) {
	earlier, err := startedAs(tx, a, id)
	switch code := countersign.ErrorCode(err); {
	case code == countersign.CodeProjectScope, code == countersign.CodeRoleRequired:
		return nil, countersign.Errorf(countersign.CodeIdempotencyConflict, "Idempotency-Key: it is in use; take another one, which names your own piece of work")
	case err != nil:
		return nil, err
	case claim.Fingerprint != s.fingerprint && claim.Fingerprint != s.asWritten:
		return nil, countersign.Errorf(countersign.CodeIdempotencyConflict, "Idempotency-Key: it started run %s with other content; look at that run, and send what started it, expectedRevision included, to get it; take another key only for something else", id)
	}
	return earlier, nil
}

// unknownSubject is why what is to be started isn't found. A key that is in use says so first
// (contract 12.1): it was sent with other content.
func (s *StartService) unknownSubject(tx store.Tx, a core.Actor, o startRequest, notFound error) error {
	if _, err := s.claimed(tx, a, o); err != nil {
		return err
	}
	return notFound
}

// startedAs finds a run that was started, archived or not.
func startedAs(tx store.Tx, a core.Actor, id string) (*Started, error) {
	rec, _, err := records.Runs.Get(tx, a.Tenant, id)
	if err == nil {
		return &Started{Run: rec.Run, Replayed: true}, access.InRun(a.Principal, rec.AgentID, rec.Projects...)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	left, err := reach.Archived(tx, a, id)
	if err != nil {
		return nil, core.Found(err, "run", id)
	}
	return &Started{Run: left.Run, Replayed: true, archived: true, Effects: left.EffectsLeft()}, nil
}

// StartRun starts a plan's run.
func (s *StartService) StartRun(ctx context.Context, a core.Actor, start countersign.RunStart, key string) (out Started, err error) {
	if err := core.WellFormed(a, start); err != nil {
		return out, err
	}
	if err := core.WellKeyed(key); err != nil {
		return out, err
	}
	planID := start.PlanID
	o, err := newStartRequest(s.Config.Now(), access.StartRun, "plan/"+planID, "", key, start, nil)
	if err != nil {
		return out, err
	}
	o.reason = start.Reason
	rec, err := s.planToRun(ctx, a, o, planID)
	if err != nil {
		return out, err
	}
	if unstartable(rec) == nil {
		if o.known, err = s.plans.TakenBy(ctx, a, &rec.Plan); err != nil {
			return out, err
		}
	}
	o.mode = rec.Mode
	return s.start(ctx, a, o, func(tx store.Tx) (*countersign.Plan, error) {
		if err := s.plans.MayStart(tx, a.Tenant, &rec.Plan, unstartable(rec)); err != nil {
			return nil, err
		}
		if err := s.checkLimitsOfStart(tx, a.Tenant, o); err != nil {
			return nil, err
		}
		if err := unredacted(tx, a.Tenant, planID); err != nil {
			return nil, err
		}
		p, err := s.Repo.Plan(tx, a.Tenant, planID, rec.PlanDigest)
		if err != nil {
			return nil, err
		}
		return p, s.Repo.MayLook(tx, a.Tenant, p)
	})
}

// unredacted is nil for a plan that holds what its runs are to send. Plans are mostly known
// without the store; one that was written again was redacted.
func unredacted(tx store.Tx, tenant, id string) error {
	row, err := store.Look(tx, store.Plans, tenant, id)
	if err != nil || row.Version == 1 {
		return core.Found(err, "plan", id)
	}
	var rec records.Plan
	if err := records.Decode(row, &rec); err != nil {
		return err
	}
	return unstartable(&rec)
}

func (s *StartService) planToRun(ctx context.Context, a core.Actor, o startRequest, planID string) (rec *records.Plan, err error) {
	if err = access.Allow(a.Principal, access.StartRun); err == nil {
		rec, err = s.plans.KnownPlan(ctx, a, planID)
	}
	if countersign.ErrorCode(err) == countersign.CodeNotFound {
		err = s.Read(ctx, func(tx store.Tx) error { return s.unknownSubject(tx, a, o, err) })
	}
	if err == nil {
		err = access.Mode(a.Principal, rec.Mode)
	}
	return rec, s.Refuse(ctx, a, access.StartRun, "plan/"+planID, err)
}

// unstartable is why no run of the plan can ever start, nil where one can.
func unstartable(rec *records.Plan) error {
	switch p := &rec.Plan; {
	case !p.RedactedAt.IsZero():
		return countersign.Errorf(countersign.CodeStateConflict, "plan %s was redacted with its last run on %s; make the plan anew", p.ID, p.RedactedAt.UTC().Format("2006-01-02"))
	case rec.Synthetic:
		return countersign.Errorf(countersign.CodeStateConflict, "plan %s belongs to a run of an agent, a team or a single call; start that again instead", p.ID)
	case p.Status != countersign.PlanReady:
		return countersign.Errorf(countersign.CodePlanInvalid, "plan %s is INVALID: %s", p.ID, p.ValidationErrors[0])
	}
	return nil
}
