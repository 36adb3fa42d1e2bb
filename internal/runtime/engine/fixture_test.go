package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

const (
	tenant = "acme"
	limit  = 4
	ttl    = 10 * time.Minute
	grace  = 65 * time.Second
)

// fixture is a store with what a service keeps in it, and the engine that drives
// its runs: all of one process.
type fixture struct {
	t        *testing.T
	store    *mortal
	runs     *runrepo.Repository
	engine   *engine.Engine
	receiver *receiver
	log      logged

	mu       sync.Mutex
	seen     map[string][]countersign.Run
	overfull int // how often more runs than the limit were active
}

var ids atomic.Int64

func newID(prefix string) string { return fmt.Sprintf("%s-%03d", prefix, ids.Add(1)) }

// startSpan starts a process on a new store.
func open(t *testing.T, a answering) *fixture {
	t.Helper()
	return reopen(t, rerun.Always(memory.New()), a)
}

// reopen starts a process on a store that an earlier one left.
func reopen(t *testing.T, s store.Store, a answering) *fixture {
	t.Helper()
	h := prepare(t, s, a)
	if err := h.engine.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return h
}

func prepare(t *testing.T, s store.Store, a answering) *fixture {
	h := &fixture{t: t, store: &mortal{Store: s, dead: make(chan struct{})}, receiver: newReceiver(a), seen: map[string][]countersign.Run{}}
	h.runs = runrepo.New(runrepo.Config{
		MaxActive: limit, ApprovalTTL: ttl, NewID: newID, OriginAllowed: func(string) bool { return true }, Now: time.Now,
	})
	h.engine = engine.New(h.store, h.runs, h.receiver, h, slog.New(slog.NewTextHandler(&h.log, nil)))
	return h
}

// logged is what the engine logs.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Publish implements engine.Publisher: it remembers what was committed, and
// looks whether the limit held.
func (f *fixture) Publish(_ string, r *countersign.Run) {
	active := 0
	f.view(func(tx store.Tx) error {
		active = 0
		for _, status := range []countersign.RunStatus{countersign.RunReady, countersign.RunRunning} {
			n, err := tx.Count(store.Runs, tenant, store.Query{Where: []store.Filter{store.Equal("status", string(status))}})
			if err != nil {
				return err
			}
			active += n
		}
		return nil
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[r.ID] = append(f.seen[r.ID], *r)
	if active > limit {
		f.overfull++
	}
}

// stop ends the process gracefully.
func (f *fixture) stop() { f.engine.Stop(grace) }

// crash ends the process as kill -9 does: nothing more is written, and what is
// in flight is lost.
func (f *fixture) crash() store.Store {
	close(f.store.dead)
	f.engine.Stop(0)
	return f.store.Store
}

// mortal is a store that a dead process can't write to any more.
type mortal struct {
	store.Store
	dead   chan struct{}
	full   atomic.Bool            // the disk is full for the time being
	tight  atomic.Bool            // it is full but for the reserve
	behind func()                 // runs behind every commit
	listed atomic.Pointer[func()] // runs behind every read that lists the runs with a slot; nil: nothing
	poison atomic.Pointer[poison] // what makes the turns of a run fail; nil: nothing
	odd    atomic.Int32           // so many commits to come end with an error that no engine knows
}

var errOdd = errors.New("something that nobody thought of")

func (m *mortal) Update(ctx context.Context, fn func(store.Tx) error) error {
	select {
	case <-m.dead:
		return store.ErrUnavailable
	default:
	}
	if m.full.Load() || m.tight.Load() && !store.IsUrgent(ctx) {
		return store.ErrUnavailable
	}
	if m.odd.Load() > 0 && m.odd.Add(-1) >= 0 {
		return errOdd
	}
	if p := m.poison.Load(); p != nil {
		turn := fn
		fn = func(tx store.Tx) error { return turn(poisoned{tx, p}) }
	}
	err := m.Store.Update(ctx, fn)
	if m.behind != nil {
		m.behind()
	}
	return err
}

func (m *mortal) View(ctx context.Context, fn func(store.Tx) error) error {
	listed := false
	err := m.Store.View(ctx, func(tx store.Tx) error { return fn(listing{tx, &listed}) })
	if act := m.listed.Load(); listed && act != nil {
		(*act)()
	}
	return err
}

// poison makes each turn fail that would begin a step of a run, or complete it, or (all) change
// anything of it.
type poison struct {
	runID   string
	fail    func(step string) error
	outcome bool
	all     bool
}

type poisoned struct {
	store.Tx
	*poison
}

func (p *poison) stored() string {
	if p.outcome {
		return string(countersign.StepCompleted)
	}
	return string(countersign.StepRunning)
}

func (p poisoned) Put(t *store.Table, tenant string, r store.Row, expected int64) error {
	turns := t == store.Steps && bytes.Contains(r.Doc, []byte(`"status":"`+p.stored()+`"`))
	if (turns || p.all && (t == store.Steps || t == store.Runs)) && strings.HasPrefix(r.ID, p.runID) {
		if err := p.fail(r.ID); err != nil {
			return err
		}
	}
	return p.Tx.Put(t, tenant, r, expected)
}

// listing is a transaction that tells whether it listed the runs with a slot.
type listing struct {
	store.Tx
	listed *bool
}

func (l listing) List(table *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	if table == store.Unfinished && reflect.DeepEqual(q.Where, []store.Filter{store.Equal("state", records.Active)}) {
		*l.listed = true
	}
	return l.Tx.List(table, tenant, q)
}

func (m *mortal) Failed() <-chan struct{} { return m.dead }

func (m *mortal) Full() bool { return m.tight.Load() }

func (f *fixture) update(fn func(tx store.Tx) error) {
	f.t.Helper()
	if err := f.store.Store.Update(context.Background(), fn); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) view(fn func(tx store.Tx) error) {
	f.t.Helper()
	if err := f.store.View(context.Background(), fn); err != nil {
		f.t.Fatal(err)
	}
}

// register stores the model, the shop and a plan of these steps.
func (f *fixture) register(steps ...countersign.Step) *countersign.Plan {
	f.t.Helper()
	return f.registerAs(func(*countersign.Project) {}, steps...)
}

// registerAs is register with a shop that differs.
func (f *fixture) registerAs(differ func(*countersign.Project), steps ...countersign.Step) *countersign.Plan {
	f.t.Helper()
	shop := project()
	differ(shop)
	src := plan.Sources{Model: &countersign.Model{ID: "refunds", Revision: 1}, Projects: map[string]plan.Source{shop.ID: {Project: shop, InScope: true}}}
	w := countersign.PlanWrite{Name: "Plan", ModelID: "refunds", ModelRevision: 1, Steps: steps, Mode: countersign.ModeLive}
	p := plan.New(w, src, nil, plan.Creation{ID: newID("plan"), By: "user:ada@example.com", Now: time.Now()})
	if p.Status != countersign.PlanReady {
		f.t.Fatalf("the plan is %s: %v", p.Status, p.ValidationErrors)
	}
	f.update(func(tx store.Tx) error {
		if _, _, err := records.Projects.Get(tx, tenant, shop.ID); err != nil {
			if err := install(tx, shop); err != nil {
				return err
			}
		}
		_, err := records.Plans.Put(tx, tenant, p.ID, &records.Plan{Plan: p}, 0)
		return err
	})
	return &p
}

func install(tx store.Tx, shop *countersign.Project) error {
	if _, err := records.Models.Put(tx, tenant, "refunds", &records.ModelHead{ID: "refunds", Revision: 1, DocumentRevision: 1}, 0); err != nil {
		return err
	}
	if _, err := records.Projects.Put(tx, tenant, shop.ID, &records.ProjectHead{ID: shop.ID, Revision: 1, Enabled: true}, 0); err != nil {
		return err
	}
	_, err := records.ProjectRevisions.Put(tx, tenant, records.RevisionID(shop.ID, 1), shop, 0)
	return err
}

func project() *countersign.Project {
	return &countersign.Project{
		ID: "acme-shop", Revision: 1, Name: "Shop", Adapter: countersign.AdapterHTTPJSON, BaseURL: "https://api.example.com", Enabled: true,
		Capabilities: []countersign.Capability{
			{Name: "look", Method: "GET", Path: "/orders"},
			{Name: "inspect", Method: "GET", Path: "/ledger", Approval: countersign.ApprovalAlways},
			{Name: "pay", Method: "POST", Path: "/payments", Approval: countersign.ApprovalNone},
			{Name: "refund", Method: "POST", Path: "/refunds"},
		},
	}
}

// step calls a capability of the same name; it depends on these others.
func step(id, capability string, dependsOn ...string) countersign.Step {
	return countersign.Step{
		ID: id, Name: id, ProjectID: "acme-shop", Capability: capability, DependsOn: dependsOn,
		Expectation: &countersign.Expectation{Field: "state", Equals: countersign.String("done")},
	}
}

// start begins a run as the use case does: if a slot is free.
func (f *fixture) start(p *countersign.Plan) (runrepo.Ref, error) {
	f.t.Helper()
	ref, started, err := f.begun(p)
	if err == nil {
		f.engine.Drive(started)
	}
	return ref, err
}

// stored is a run that was started, and that nobody drives yet.
func (f *fixture) stored(p *countersign.Plan) runrepo.Ref {
	f.t.Helper()
	ref, _, err := f.begun(p)
	if err != nil {
		f.t.Fatal(err)
	}
	return ref
}

func (f *fixture) begun(p *countersign.Plan) (ref runrepo.Ref, started *runrepo.LoadedRun, err error) {
	f.t.Helper()
	ref = runrepo.Ref{Tenant: tenant, RunID: newID("run")}
	err = f.store.Update(context.Background(), func(tx store.Tx) (err error) {
		started, err = f.make(tx, p, ref)
		return err
	})
	if err == nil {
		f.Publish(tenant, started.Run())
	}
	return ref, started, err
}

// make is the transaction of a start.
func (f *fixture) make(tx store.Tx, p *countersign.Plan, ref runrepo.Ref) (*runrepo.LoadedRun, error) {
	if err := f.runs.Free(tx, ref.Tenant, p.Mode); err != nil {
		return nil, err
	}
	p, err := f.runs.Plan(tx, tenant, p.ID, p.PlanDigest)
	if err != nil {
		return nil, err
	}
	r := run.New(p, ref.RunID, "user:ada@example.com", ref.RunID, time.Now())
	return f.runs.Start(tx, p, tenant, r, access.Requester{ID: "user:ada@example.com"}, runrepo.Request{ID: "req-1"})
}

func (f *fixture) mustStart(p *countersign.Plan) runrepo.Ref {
	f.t.Helper()
	ref, err := f.start(p)
	if err != nil {
		f.t.Fatal(err)
	}
	return ref
}

// apply does what a person asks for, as the use cases do.
func (f *fixture) apply(ref runrepo.Ref, e run.Event) error {
	f.t.Helper()
	var moved runrepo.Moved
	err := f.store.Update(context.Background(), func(tx store.Tx) (err error) {
		moved, err = f.runs.Apply(tx, ref, nil, e, runrepo.Actor{ID: "user:bob@example.com", RequestID: "req-2"})
		return err
	})
	if err != nil {
		return err
	}
	for _, other := range append([]*runrepo.LoadedRun{moved.Run}, moved.Others...) {
		f.Publish(tenant, other.Run())
		f.engine.Drive(other)
	}
	return nil
}

func (f *fixture) must(ref runrepo.Ref, e run.Event) {
	f.t.Helper()
	if err := f.apply(ref, e); err != nil {
		f.t.Fatal(err)
	}
}

func approve() run.Decided {
	return run.Decided{Decision: countersign.ApprovalApproved, Reason: "seen", By: "user:bob@example.com"}
}

func cancel() run.CancelAsked {
	return run.CancelAsked{Reason: "not wanted", By: "user:ada@example.com"}
}

func reconcile(resolution string) run.Reconciled {
	return run.Reconciled{Reconcile: countersign.Reconcile{Resolution: resolution, Evidence: "ticket 7"}, By: "user:bob@example.com"}
}

// run reads a run with its steps.
func (f *fixture) run(ref runrepo.Ref) *countersign.Run {
	f.t.Helper()
	var held *runrepo.LoadedRun
	f.view(func(tx store.Tx) (err error) {
		held, err = f.runs.Load(tx, ref)
		return err
	})
	return held.Run()
}

// approvals reads a run's approvals, the oldest first.
func (f *fixture) approvals(ref runrepo.Ref) (list []records.Approval) {
	f.t.Helper()
	f.view(func(tx store.Tx) (err error) {
		list, err = records.Approvals.List(tx, tenant, store.Query{Where: []store.Filter{store.Equal("run", ref.RunID)}, Order: []store.Order{{Column: "created"}}})
		return err
	})
	return list
}

// wantRun checks what has become of a run.
func (f *fixture) wantRun(ref runrepo.Ref, status countersign.RunStatus, steps ...countersign.StepStatus) *countersign.Run {
	f.t.Helper()
	r := f.run(ref)
	var got []countersign.StepStatus
	for _, s := range r.Steps {
		got = append(got, s.Status)
	}
	if r.Status != status || fmt.Sprint(got) != fmt.Sprint(steps) {
		f.t.Fatalf("run %s is %s %v (%s), want %s %v", ref.RunID, r.Status, got, r.Error, status, steps)
	}
	return r
}

// wantRules checks what holds at the end of every history: the limit held, each
// change of a run raised its revision by one, and the audit log is intact.
func (f *fixture) wantRules() {
	f.t.Helper()
	f.mu.Lock()
	overfull := f.overfull
	f.mu.Unlock()
	if overfull > 0 {
		f.t.Errorf("more than %d runs were active, %d times", limit, overfull)
	}
	f.view(func(tx store.Tx) error {
		v, err := audit.Verify(tx, tenant)
		if err == nil && !v.Intact {
			f.t.Errorf("the audit log does not verify: %+v", v)
		}
		return err
	})
}
