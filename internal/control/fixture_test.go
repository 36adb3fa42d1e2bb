package control_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/precondition"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// fataler is what the fixture needs of *testing.T and *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

var background = context.Background()

// fixture is the use cases over a store that runs every function twice, with two tenants, acme and beta, that have
// two enabled projects and some models each.
type fixture struct {
	cfg        control.Config
	t          fataler
	store      *watched
	repository *runrepo.Repository
	service    *control.Service
	woken      func(runrepo.Ref) // comes when a run is to be driven on; nil: nothing does
	checked    func()            // comes while a project's health is checked
	probed     func()            // comes while a probe is under way
	calls      atomic.Bool       // a side effect is under way
	answers    request.Outcome   // to probes
	ids        atomic.Int64
	clock      atomic.Int64 // how far the service's clock is from the system's, in nanoseconds
}

var tenants = []string{"acme", "beta"}

// open makes a fixture. Nothing drives its runs: they stay READY.
func open(t fataler) *fixture {
	t.Helper()
	return openWith(t, 1<<20)
}

// openWith makes a fixture where this many runs may be READY or RUNNING.
func openWith(t fataler, maxActive int) *fixture {
	t.Helper()
	return openBounded(t, maxActive, quota.Bounds{})
}

// openBounded makes one with other bounds.
func openBounded(t fataler, maxActive int, most quota.Bounds) *fixture {
	t.Helper()
	h := &fixture{t: t, store: &watched{Store: rerun.Always(memory.New())}}
	now := func() time.Time { return time.Now().Add(time.Duration(h.clock.Load())) }
	h.repository = runrepo.New(runrepo.Config{MaxActive: maxActive, ApprovalTTL: time.Hour, NewID: h.newID, OriginAllowed: func(string) bool { return true }, Now: now})
	allowed := project.Allowed{NotifyOrigins: []string{"https://hooks.example"}, Credentials: credential.Plain([]string{"HOOK"}, nil), SecretBytes: func(string) int { return 64 }}
	cfg := control.Config{Allowed: allowed, MaxActive: maxActive, Quotas: most, NewID: h.newID, NewSecret: h.newSecret, Now: now, Metrics: telemetry.NewMetrics("test")}
	h.cfg = cfg
	h.service = h.on(h.store)
	h.must(h.service.EnsureReceiptKey(background))
	for _, tenant := range tenants {
		for _, name := range []string{"one", "two"} {
			h.register(tenant, tenant+"-"+name)
		}
		for _, id := range models {
			h.must(h.putModel(as(tenant), id, 0))
		}
	}
	return h
}

// on gives the use cases on a store.
func (f *fixture) on(s store.Store) *control.Service {
	return control.New(f.cfg, s, f.repository, f, &updates.Hub{}, healthyProber{f}, slog.New(slog.DiscardHandler))
}

// elsewhere has another replica do something: what this one does in turn stays in turn meanwhile.
func (f *fixture) elsewhere(do func()) {
	here := f.service
	defer func() { f.service = here }()
	f.service = f.on(f.store)
	do()
}

// share has the use cases know that others write to the store too.
func (f *fixture) share() { f.service = f.on(struct{ store.Store }{f.store}) }

// models are the ids of each tenant's models. The last one has errors.
var models = []string{"m1", "m2", "m3", "broken"}

func (f *fixture) newID(prefix string) string {
	return prefix + "-" + strconv.FormatInt(1000+f.ids.Add(1), 10)
}

func (f *fixture) newSecret() [32]byte { return sha256.Sum256([]byte(f.newID("secret"))) }

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatalf("%v", err)
	}
}

// as is somebody of a tenant who may do everything that no reviewer must do.
func as(tenant string) control.Actor {
	p := access.Principal{ID: "user:ada@" + tenant, Tenant: tenant, Roles: []countersign.Role{countersign.RoleAdmin, countersign.RoleOperator}}
	return control.Actor{Principal: p, RequestID: "req-1"}
}

// register makes a project whose capabilities take inputs of each type.
func (f *fixture) register(tenant, id string) {
	f.t.Helper()
	w := countersign.ProjectWrite{Name: id, Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
		{Name: "look", Method: "GET", Path: "/orders/{key}", InputSchema: map[string]countersign.InputField{"key": {Type: "string", Required: true}}},
		{Name: "note", Method: "POST", Path: "/notes", InputSchema: map[string]countersign.InputField{
			"text": {Type: "string", Required: true}, "level": {Type: "number"},
		}},
		{Name: "ping", Method: "POST", Path: "/ping", InputSchema: map[string]countersign.InputField{}},
	}}
	_, err := f.service.PutProject(background, as(tenant), id, w)
	f.must(err)
	_, err = f.service.CheckHealth(background, as(tenant), id)
	f.must(err)
	_, err = f.service.EnableProject(background, as(tenant), id, countersign.Toggle{ExpectedRevision: 1})
	f.must(err)
}

func (f *fixture) putModel(a control.Actor, id string, expected int64) error {
	doc := countersign.AgentModel{SchemaVersion: countersign.ModelSchemaVersion, ID: id, States: []countersign.ModelState{{ID: "s", IsStart: true, IsFinal: true}}}
	if id == "broken" {
		doc.States = nil
	}
	_, err := f.service.PutModel(background, a, id, countersign.ModelWrite{Document: doc, ExpectedRevision: expected})
	return err
}

// everything is all rows of these tenants but the audit log's, as text.
func (f *fixture) everything(places ...string) string {
	f.t.Helper()
	var b strings.Builder
	f.must(f.store.View(background, func(tx store.Tx) error {
		for _, table := range store.Tables() {
			if table == store.Audit || table == store.AuditHeads {
				continue
			}
			for _, place := range places {
				rows, err := tx.List(table, place, store.Query{})
				if err != nil {
					return err
				}
				for _, row := range rows {
					fmt.Fprintf(&b, "%s %s %d %s\n", table.Name, row.ID, row.Version, row.Doc)
				}
			}
		}
		return nil
	}))
	return b.String()
}

// log is a tenant's audit log, the oldest record first, from a number on.
func (f *fixture) log(tenant string, from int) (out []countersign.AuditRecord) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) error {
		rows, err := tx.List(store.Audit, tenant, store.Query{Order: []store.Order{{Column: "seq"}}, Offset: from})
		out = nil
		for _, row := range rows {
			out = append(out, decoded[countersign.AuditRecord](f.t, row.Doc))
		}
		return err
	}))
	return out
}

// watched is a store that counts its commits, can be full or slow, and can do what
// an engine may: call a function again, on what another commit left between.
type watched struct {
	store.Store
	updates atomic.Int64
	changes atomic.Int64 // updates that have returned
	full    atomic.Bool
	slow    time.Duration // how long each commit waits for its turn
	sync    time.Duration // and takes after that
	twice   bool

	mu       sync.Mutex
	together int    // commits under way, and
	most     int    // how many there ever were
	before   func() // comes before the next commit
	between  func() // comes between the two calls of the next one's function
}

func (w *watched) Update(ctx context.Context, fn func(store.Tx) error) error {
	before, between := w.begin()
	defer w.end()
	time.Sleep(w.slow)
	before()
	if w.full.Load() {
		return store.ErrUnavailable
	}
	if w.twice || between != nil {
		again := errors.New("again")
		if err := w.Store.Update(ctx, func(tx store.Tx) error { return errors.Join(again, fn(tx)) }); !errors.Is(err, again) {
			return err
		}
	}
	if between != nil {
		between()
	}
	w.updates.Add(1)
	defer w.changes.Add(1)
	defer time.Sleep(w.sync)
	return w.Store.Update(ctx, fn)
}

// Changes implements store.Changing: what is cached is used in these tests too.
func (w *watched) Changes(...*store.Table) int64 { return w.changes.Load() }

// begin takes what is to come before and between, once.
func (w *watched) begin() (before, between func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.together++
	w.most = max(w.most, w.together)
	before, between = w.before, w.between
	w.before, w.between = nil, nil
	if before == nil {
		before = func() {}
	}
	return before, between
}

func (w *watched) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.together--
}

// Drive implements control.Driver.
func (f *fixture) Drive(moved *runrepo.LoadedRun) {
	if f.woken != nil {
		f.woken(moved.Ref)
	}
}

type noDriver struct{}

func (noDriver) Drive(*runrepo.LoadedRun) {}

func (noDriver) Begin(store.Tx, *runrepo.LoadedRun) (runrepo.Begun, error) { return nil, nil }

// Begin implements control.Driver.
func (f *fixture) Begin(store.Tx, *runrepo.LoadedRun) (runrepo.Begun, error) { return nil, nil }

func (f *fixture) Calls(runrepo.Ref) bool { return f.calls.Load() }

func (noDriver) Calls(runrepo.Ref) bool { return false }

type healthyProber struct{ *fixture }

func (p healthyProber) Health(context.Context, string, map[string]string, *countersign.Project) countersign.HealthCheck {
	if p.fixture != nil && p.checked != nil {
		p.checked()
	}
	return countersign.HealthCheck{Healthy: true}
}

func (p healthyProber) Call(context.Context, request.Call) request.Outcome {
	if p.fixture != nil && p.probed != nil {
		p.probed()
	}
	if p.fixture == nil {
		return request.Outcome{}
	}
	return p.answers
}

// inBubble runs f where time is virtual: it moves on when everybody waits. What f
// panics with, as rapid does to fail, comes out again.
func inBubble(t *testing.T, f func()) {
	t.Helper()
	var failure any
	synctest.Test(t, func(*testing.T) {
		defer func() {
			failure = recover()
			later(time.Second) // time stands still when this ends; whoever sleeps ends before
		}()
		f()
	})
	switch {
	case failure == nil:
	case reflect.TypeOf(failure).Name() == "invalidData":
		panic(failure) // rapid asks for other data; it knows that from a failure by the line
	default:
		panic(failure)
	}
}

// later lets virtual time pass.
func later(d time.Duration) { time.Sleep(d) }

func (noDriver) Look(runrepo.Ref, *run.Look) (run.Looked, error) { return run.Looked{}, nil }

func (f *fixture) Look(_ runrepo.Ref, l *run.Look) (run.Looked, error) {
	if f.probed != nil {
		f.probed()
	}
	return run.Looked{Step: l.Step, N: l.N, Found: precondition.Read(cost.New(nil, cost.Most, 0), l.Precondition, l.Read, f.answers)}, nil
}

func (noDriver) Question(runrepo.Ref, *run.Question, bool) (countersign.SettlementRecord, error) {
	return countersign.SettlementRecord{}, nil
}

func (*fixture) Question(runrepo.Ref, *run.Question, bool) (countersign.SettlementRecord, error) {
	return countersign.SettlementRecord{}, nil
}
