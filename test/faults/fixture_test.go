package faults

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/outbound"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
	"github.com/countersign/countersign/internal/testing/memory"
)

const (
	tenant = "acme"
	secret = "SHOP_SECRET"

	// stall is how many milliseconds a call waits for an answer that doesn't come. It is long enough for the request to reach
	// the receiver also on a slow machine: see turns.
	stall = 3000
)

// fixture has what a run needs, with the real client on a real socket.
type fixture struct {
	receiver   *faultreceiver.Receiver
	client     *outbound.Client
	store      store.Store
	repository *runrepo.Repository
	engine     *engine.Engine
	project    *countersign.Project
	changed    chan *countersign.Run
	over       chan struct{} // closed when the test ends
}

var ids atomic.Int64

func newID(kind string) string { return kind + "-" + strconv.FormatInt(ids.Add(1), 10) }

func open(t *testing.T, k kind, stalls bool) *fixture {
	t.Helper()
	r, err := faultreceiver.Start()
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{receiver: r, store: memory.New(), changed: make(chan *countersign.Run, 64), over: make(chan struct{})}
	h.client = outbound.New(outbound.Config{
		Origins: []string{r.URL()}, MayUse: func(credential.Use, string) error { return nil },
		Getenv: func(string) string { return "a secret that nobody guesses" },
	})
	work := countersign.Capability{Name: "work", Method: k.method, Path: "/orders", Idempotent: k.idempotent, Approval: countersign.ApprovalNone}
	if stalls {
		work.TimeoutMs = stall
	}
	h.project = &countersign.Project{
		ID: "acme-shop", Revision: 1, Name: "Shop", Adapter: countersign.AdapterHTTPJSON, BaseURL: r.URL(), Enabled: true,
		Auth:         countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: secret}),
		Capabilities: []countersign.Capability{work, {Name: "warm", Method: "GET", Path: "/warm"}},
	}
	h.start(t)
	t.Cleanup(func() {
		close(h.over)
		h.engine.Stop(0)
		h.client.Close()
		r.Close()
	})
	h.install(t)
	return h
}

func (f *fixture) start(t *testing.T) {
	t.Helper()
	f.repository = runrepo.New(runrepo.Config{MaxActive: 4, ApprovalTTL: time.Hour, NewID: newID, OriginAllowed: func(string) bool { return true }, Now: time.Now})
	f.engine = engine.New(f.store, f.repository, f.client, f, slog.New(slog.DiscardHandler))
	if err := f.engine.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// engineAgain stops the engine and starts another one on the same store.
func (f *fixture) engineAgain(t *testing.T) {
	t.Helper()
	f.engine.Stop(0)
	f.start(t)
}

// Publish implements engine.Publisher.
func (f *fixture) Publish(_ string, r *countersign.Run) { f.changed <- r }

func (f *fixture) install(t *testing.T) {
	t.Helper()
	f.update(t, func(tx store.Tx) error {
		if _, err := records.Models.Put(tx, tenant, "m", &records.ModelHead{ID: "m", Revision: 1, DocumentRevision: 1}, 0); err != nil {
			return err
		}
		if _, err := records.Projects.Put(tx, tenant, f.project.ID, &records.ProjectHead{ID: f.project.ID, Revision: 1, Enabled: true}, 0); err != nil {
			return err
		}
		_, err := records.ProjectRevisions.Put(tx, tenant, records.RevisionID(f.project.ID, 1), f.project, 0)
		return err
	})
}

func (f *fixture) update(t *testing.T, fn func(tx store.Tx) error) {
	t.Helper()
	if err := f.store.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// run starts a run of one step and follows it until it ends or waits.
func (f *fixture) run(t *testing.T, capability string) *countersign.Run {
	t.Helper()
	w := countersign.PlanWrite{
		Name: "plan", ModelID: "m", ModelRevision: 1, Mode: countersign.ModeLive,
		Steps: []countersign.Step{{ID: "s", Name: "s", ProjectID: f.project.ID, Capability: capability}},
	}
	src := plan.Sources{Model: &countersign.Model{ID: "m", Revision: 1}, Projects: map[string]plan.Source{f.project.ID: {Project: f.project, InScope: true}}}
	p := plan.New(w, src, nil, plan.Creation{ID: newID("plan"), By: "user:ann@example.com", Now: time.Now()})
	if p.Status != countersign.PlanReady {
		t.Fatalf("the plan is %s: %s", p.Status, strings.Join(p.ValidationErrors, "; "))
	}
	ref := runrepo.Ref{Tenant: tenant, RunID: newID("run")}
	f.update(t, func(tx store.Tx) error {
		if _, err := records.Plans.Put(tx, tenant, p.ID, &records.Plan{Plan: p}, 0); err != nil {
			return err
		}
		whole, err := f.repository.Plan(tx, tenant, p.ID, p.PlanDigest)
		if err != nil {
			return err
		}
		r := run.New(whole, ref.RunID, p.CreatedBy, ref.RunID, time.Now())
		_, err = f.repository.Start(tx, whole, tenant, r, access.Requester{ID: p.CreatedBy}, runrepo.Request{ID: "req-1"})
		return err
	})
	f.engine.Wake(ref)
	for r := range f.changed {
		if r.ID == ref.RunID && !r.Status.IsActive() {
			return r
		}
	}
	return nil
}

// read reads a stored run.
func (f *fixture) read(t *testing.T, id string) *countersign.Run {
	t.Helper()
	var held *runrepo.LoadedRun
	err := f.store.View(context.Background(), func(tx store.Tx) (err error) {
		held, err = f.repository.Load(tx, runrepo.Ref{Tenant: tenant, RunID: id})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return held.Run()
}

// delivered counts the requests that reached the receiver, by its own log.
func (f *fixture) delivered(t *testing.T) int {
	t.Helper()
	f.client.Close()
	if err := f.receiver.Settle(); err != nil {
		t.Fatal(err)
	}
	return len(f.receiver.Requests())
}
