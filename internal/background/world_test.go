package background_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/chat"
	"github.com/countersign/countersign/internal/background/indexing"
	"github.com/countersign/countersign/internal/background/notify"
	"github.com/countersign/countersign/internal/background/remind"
	"github.com/countersign/countersign/internal/background/retention"
	"github.com/countersign/countersign/internal/background/tokenends"
	"github.com/countersign/countersign/internal/background/webhook"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
	"github.com/countersign/countersign/internal/testing/memory"
)

// world is a store with two tenants that have the same: runs that ended, runs that wait for an
// approval, an approver and a webhook; and what works in the background on it.
type world struct {
	t       *testing.T
	store   store.Store
	runs    *runrepo.Repository
	control *control.Service
	aside   *unreadable.Records
	log     bytes.Buffer
	dir     string
	ids     int
	done    []string // by what sends
}

const (
	life    = 8 * time.Hour
	idle    = 2 * time.Minute // in which each pass does what it has to do
	olderBy = 100 * 24 * time.Hour
)

func newWorld(t *testing.T) *world {
	w := &world{t: t, store: memory.New(), dir: filepath.Join(t.TempDir(), "archive")}
	log := slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	w.aside = unreadable.New(log)
	w.runs = runrepo.New(runrepo.Config{
		MaxActive: 8, ApprovalTTL: life, NewID: w.newID, NewSalt: func() string { return "salt" },
		OriginAllowed: func(string) bool { return true }, Now: time.Now,
	})
	w.control = control.New(control.Config{Allowed: project.Allowed{SecretBytes: func(string) int { return 32 }}, Now: time.Now, NewID: w.newID, Unreadable: w.aside}, w.store, w.runs, nil, &updates.Hub{}, nil, log)
	w.update(func(tx store.Tx) error {
		_, err := records.CredentialMarks.Put(tx, store.Realm, records.CredentialsBoundID, &records.CredentialsBound{At: time.Now()}, 0)
		return err
	})
	for _, tenant := range []string{"acme", "beta"} {
		w.tenant(tenant)
	}
	return w
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func (w *world) newID(kind string) string {
	w.ids++
	return fmt.Sprintf("%s-%04d", kind, w.ids)
}

func (w *world) update(fn func(store.Tx) error) {
	w.t.Helper()
	if err := w.store.Update(context.Background(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) view(fn func(store.Tx) error) {
	w.t.Helper()
	if err := w.store.View(context.Background(), fn); err != nil {
		w.t.Fatal(err)
	}
}

// tenant makes a tenant whose runs are ended-1, ended-2, waits-1 and waits-2.
func (w *world) tenant(id string) {
	shop := &countersign.Project{
		ID: "shop", Revision: 1, Name: "Shop", Adapter: countersign.AdapterHTTPJSON, BaseURL: "https://api.example.com", Enabled: true,
		Capabilities: []countersign.Capability{{Name: "refund", Method: "POST", Path: "/refunds", Approval: countersign.ApprovalAlways}},
	}
	w.update(func(tx store.Tx) error {
		_, failed := records.Tenants.Put(tx, store.Realm, id, &countersign.Tenant{ID: id}, 0)
		put := func(_ int64, err error) { failed = errors.Join(failed, err) }
		put(records.ProjectRevisions.Put(tx, id, records.RevisionID(shop.ID, 1), shop, 0))
		put(records.Models.Put(tx, id, "refunds", &records.ModelHead{ID: "refunds", Revision: 1, DocumentRevision: 1}, 0))
		put(records.Projects.Put(tx, id, shop.ID, &records.ProjectHead{ID: shop.ID, Revision: 1, Enabled: true}, 0))
		ann := countersign.User{Email: "ann@" + id + ".example", TenantID: id, Roles: []countersign.Role{countersign.RoleApprover}}
		put(records.Users.Put(tx, id, ann.Email, &records.User{User: ann}, 0))
		old := countersign.User{Email: "Old@" + id + ".example", TenantID: id, Roles: []countersign.Role{countersign.RoleViewer}}
		put(records.Users.Put(tx, id, old.Email, &records.User{User: old}, 0))
		hook := countersign.Webhook{ID: "hook", URL: "https://hooks.example", Events: []string{countersign.EventApprovalRequested, countersign.EventRunEnded}, SecretEnv: "HOOK", Enabled: true}
		put(records.Webhooks.Put(tx, store.Realm, records.WebhookID(id, "hook"), &records.Webhook{Webhook: hook, TenantID: id}, 0))
		put(records.WebhookProgresses.Put(tx, store.Realm, records.WebhookProgressID(id, "hook"), &records.WebhookProgress{}, 0))
		put(records.Agents.Put(tx, id, "agent", &records.AgentHead{}, 0))
		broken := &countersign.BreakGlass{At: time.Now(), Reason: "nobody was there"}
		put(records.Settings.Put(tx, id, records.SettingsID, &countersign.TenantSettings{TenantID: id, BreakGlass: broken}, 0))
		for _, n := range []string{"1", "2"} {
			made := time.Now().Add(-80 * 24 * time.Hour)
			token := countersign.Token{ID: "tok-" + n, Name: "monitor", TenantID: id, CreatedBy: "user:" + ann.Email, CreatedAt: made, ExpiresAt: made.Add(90 * 24 * time.Hour)}
			put(records.Tokens.Put(tx, id, token.ID, &records.Token{Token: token}, 0))
			session := records.Session{TenantID: id, Email: ann.Email, CreatedAt: time.Now(), SeenAt: time.Now(), ExpiresAt: time.Now().Add(life), Way: access.ByCode}
			put(records.Sessions.Put(tx, store.Realm, id+"/session-"+n, &session, 0))
		}
		open := &records.OpenChanges{}
		for _, n := range []string{"1", "2"} {
			c := &records.Change{ProposedChange: countersign.ProposedChange{ID: "chg-" + n, Status: countersign.ChangeProposed, ProposedAt: time.Now().Add(-countersign.ChangeLife), ExpiresAt: time.Now()}}
			put(records.Changes.Put(tx, id, records.ChangeID(c.ID), c, 0))
			open.Items = append(open.Items, records.OpenChange{ID: c.ID, ExpiresAt: c.ExpiresAt})
		}
		for _, n := range []string{"1", "2"} {
			c := &records.Change{ProposedChange: countersign.ProposedChange{ID: "chg-open-" + n, Status: countersign.ChangeProposed, ProposedAt: time.Now(), ExpiresAt: time.Now().Add(countersign.ChangeLife)}}
			put(records.Changes.Put(tx, id, records.ChangeID(c.ID), c, 0))
			open.Items = append(open.Items, records.OpenChange{ID: c.ID, ExpiresAt: c.ExpiresAt})
		}
		put(records.AllOpenChanges.Put(tx, id, records.OpenChangesID, open, 0))
		put(records.Instances.Put(tx, id, "agent/one", &records.Instance{AgentID: "agent", State: countersign.InstanceIdle, ReceivedAt: time.Now().Add(-olderBy)}, 0))
		return failed
	})
	for _, name := range []string{"ended-1", "ended-2"} {
		w.start(id, name, w.plan(id, name, shop, countersign.ModeDryRun), countersign.RunCompleted)
	}
	for _, name := range []string{"waits-1", "waits-2"} {
		w.start(id, name, w.plan(id, name, shop, countersign.ModeLive), countersign.RunWaitingApproval)
	}
}

func (w *world) plan(tenant, name string, shop *countersign.Project, mode string) *countersign.Plan {
	src := plan.Sources{Model: &countersign.Model{ID: "refunds", Revision: 1}, Projects: map[string]plan.Source{shop.ID: {Project: shop, InScope: true}}}
	step := countersign.Step{ID: "a", Name: "a", ProjectID: shop.ID, Capability: "refund", Input: map[string]countersign.Value{"order": countersign.String("order-of-" + name)}}
	p := plan.New(countersign.PlanWrite{Name: name, ModelID: "refunds", ModelRevision: 1, Steps: []countersign.Step{step}, Mode: mode}, src, nil,
		plan.Creation{ID: "plan-" + name, By: "user:ada@example.com", Now: time.Now()})
	w.update(func(tx store.Tx) error {
		_, err := records.Plans.Put(tx, tenant, p.ID, &records.Plan{Plan: p, Synthetic: true}, 0)
		return err
	})
	return &p
}

func (w *world) start(tenant, name string, p *countersign.Plan, becomes countersign.RunStatus) {
	w.t.Helper()
	by := access.Requester{ID: "user:ada@example.com"}
	w.update(func(tx store.Tx) error {
		_, err := w.runs.Start(tx, p, tenant, run.New(p, name, by.ID, "key-"+name, time.Now()), by, runrepo.Request{})
		return err
	})
	w.update(func(tx store.Tx) error {
		moved, err := w.runs.Apply(tx, runrepo.Ref{Tenant: tenant, RunID: name}, nil, run.Resumed{}, runrepo.System)
		if err == nil && moved.Run.Run().Status != becomes {
			err = fmt.Errorf("run %s is %s: %+v", name, moved.Run.Run().Status, moved.Run.Run().Steps)
		}
		return err
	})
}

// recordsOfFirst are the texts of which each record of a tenant's first runs has one in its id.
func (w *world) recordsOfFirst(tenant string) []string {
	out := []string{"ended-1", "waits-1", "tok-1", "session-1", "chg-1", "chg-open-1"}
	w.view(func(tx store.Tx) error {
		list, err := records.Approvals.List(tx, tenant, store.Query{})
		for _, a := range list {
			if strings.HasSuffix(a.RunID, "-1") {
				out = append(out, a.ID)
			}
		}
		return err
	})
	return out
}

// ended gives what was done, each once.
func (w *world) ended(done []string) []string {
	slices.Sort(done)
	return slices.Compact(done)
}

// runOf is the run of an approval, as tenant/run. It reads columns alone.
func (w *world) runOf(tenant, approval string) (run string) {
	w.view(func(tx store.Tx) error {
		row, err := tx.Get(store.Approvals, tenant, approval)
		if err == nil {
			run = fmt.Sprint(tenant, "/", row.Keys[2])
		}
		return err
	})
	return run
}

func (w *world) archives() (done []string) {
	a := retention.New(retention.Config{Keep: time.Hour, Dir: w.dir, Now: func() time.Time { return time.Now().Add(2 * time.Hour) }, Log: slog.New(slog.DiscardHandler), Unreadable: w.aside}, w.store, w.runs)
	if err := a.Pass(context.Background()); err != nil {
		w.t.Logf("the pass says %v", err)
	}
	w.view(func(tx store.Tx) error {
		for _, tenant := range []string{"acme", "beta"} {
			for _, name := range []string{"ended-1", "ended-2"} {
				if _, err := tx.Get(store.Runs, tenant, name); errors.Is(err, store.ErrNotFound) {
					done = append(done, tenant+"/"+name)
				}
			}
		}
		return nil
	})
	return w.ended(done)
}

func (w *world) tellsOfTokens() (done []string) {
	tokenends.New(tokenends.Config{Now: time.Now, Log: slog.New(slog.DiscardHandler), Unreadable: w.aside}, w.store).Look(context.Background())
	w.view(func(tx store.Tx) error {
		for _, tenant := range []string{"acme", "beta"} {
			rows, err := tx.List(store.Audit, tenant, store.Query{Where: []store.Filter{store.Equal("action", tokenends.Ending)}})
			if err != nil {
				return err
			}
			for _, row := range rows {
				done = append(done, tenant+"/"+strings.TrimPrefix(row.Keys[4].(string), "token/"))
			}
		}
		return nil
	})
	return w.ended(done)
}

func (w *world) lapsesChanges() (done []string) {
	w.control.LapseChanges(context.Background())
	w.view(func(tx store.Tx) error {
		for _, change := range []string{"acme/chg-1", "acme/chg-2", "beta/chg-1", "beta/chg-2"} {
			tenant, id, _ := strings.Cut(change, "/")
			if c, _, err := records.Changes.Get(tx, tenant, records.ChangeID(id)); err == nil && c.Status == countersign.ChangeLapsed {
				done = append(done, change)
			}
		}
		return nil
	})
	return done
}

// tellsOfBrokenGlass starts a service whose tenants' weakening was taken away meanwhile.
func (w *world) tellsOfBrokenGlass() (done []string) {
	if err := w.control.TellOfBrokenGlass(context.Background()); err != nil {
		w.t.Errorf("the start fails: %v", err)
	}
	w.view(func(tx store.Tx) error {
		for _, tenant := range []string{"acme", "beta"} {
			if _, _, err := records.BreakGlassTold.Get(tx, tenant, records.BreakGlassToldID); err == nil {
				done = append(done, tenant+"/told")
			}
		}
		return nil
	})
	return done
}

// endsSessions starts a service whose sessions begin by the identity provider alone.
func (w *world) endsSessions() (done []string) {
	c := control.New(control.Config{SignIn: access.SignInByProvider, Now: time.Now, NewID: w.newID, Unreadable: w.aside}, w.store, w.runs, nil, &updates.Hub{}, nil, slog.New(slog.DiscardHandler))
	if err := c.EndOthers(context.Background()); err != nil {
		w.t.Errorf("the start fails: %v", err)
	}
	w.view(func(tx store.Tx) error {
		for _, session := range []string{"acme/session-1", "acme/session-2", "beta/session-1", "beta/session-2"} {
			if _, err := tx.Get(store.Sessions, store.Realm, session); errors.Is(err, store.ErrNotFound) {
				done = append(done, session)
			}
		}
		return nil
	})
	return w.ended(done)
}

func (w *world) indexes() (done []string) {
	i := indexing.New(w.store, w.control, 0, slog.New(slog.DiscardHandler), w.aside)
	i.Start()
	time.Sleep(idle)
	i.Stop()
	w.view(func(tx store.Tx) error {
		for _, tenant := range []string{"acme", "beta"} {
			rows, err := tx.List(store.Terms, tenant, store.Query{})
			if err != nil {
				return err
			}
			for _, row := range rows {
				done = append(done, tenant+"/"+records.RunOfTerm(row.ID))
			}
		}
		return nil
	})
	return w.ended(done)
}

func (w *world) reminds() (done []string) {
	now := time.Now().Add(life - time.Minute)
	r := remind.New(remind.Config{Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), Unreadable: w.aside}, w.store)
	r.Look(context.Background())
	w.view(func(tx store.Tx) error {
		for _, tenant := range []string{"acme", "beta"} {
			rows, err := tx.List(store.Audit, tenant, store.Query{Where: []store.Filter{store.Equal("action", remind.Expiring)}})
			if err != nil {
				return err
			}
			for _, row := range rows {
				done = append(done, w.runOf(tenant, strings.TrimPrefix(row.Keys[4].(string), "approval/")))
			}
		}
		return nil
	})
	return w.ended(done)
}

// Send keeps of which approvals a mail tells.
func (w *world) Send(_ context.Context, to, _, text string) error {
	tenant, _, _ := strings.Cut(strings.TrimPrefix(to, "ann@"), ".")
	for _, name := range strings.Fields(text) {
		if _, id, is := strings.Cut(name, "/console/approvals/"); is {
			w.done = append(w.done, w.runOf(tenant, strings.Trim(id, ".,;")))
		}
	}
	return nil
}

func (w *world) mails() []string {
	w.done = nil
	now := time.Now()
	n := notify.New(notify.Config{BaseURL: "https://countersign.example", Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), Unreadable: w.aside}, w.store, w)
	for range 8 {
		n.Look(context.Background())
		now = now.Add(life / 8)
	}
	return w.ended(w.done)
}

// poster is a chat service.
type poster struct{ *world }

func (poster) Name() string { return "chat" }

func (p poster) Post(_ context.Context, _ string, m chat.Message) (string, error) {
	if m.Change != "" {
		p.done = append(p.done, m.Tenant+"/"+m.Change)
		return m.Change, nil
	}
	p.done = append(p.done, p.runOf(m.Tenant, m.Approval))
	return m.Approval, nil
}

func (poster) Replace(context.Context, string, string, chat.Message) error { return nil }

func (poster) Listen(context.Context, *chat.Desk) {}

func (w *world) chats() []string {
	w.done = nil
	c := chat.New(chat.Config{
		BaseURL: "https://countersign.example", Channels: map[string]string{"acme": "C1", "beta": "C1"}, NewID: w.newID, Now: time.Now,
		Log: slog.New(slog.DiscardHandler), Unreadable: w.aside,
	}, w.store, w.control, poster{w})
	for range 10 {
		c.Look(context.Background())
		time.Sleep(time.Second)
	}
	return w.ended(w.done)
}

// Notify keeps which run a notification is about.
func (w *world) Notify(_ context.Context, n request.Notice) (int, string) {
	var told countersign.Notification
	if err := store.Decode(n.Body, &told); err != nil {
		return 0, err.Error()
	}
	w.done = append(w.done, n.Tenant+"/"+told.Data.RunID)
	return 204, ""
}

func (w *world) notifies() []string {
	w.done = nil
	s := webhook.New(webhook.Config{BaseURL: "https://countersign.example", Backoff: webhook.Backoff, Now: time.Now, Log: slog.New(slog.DiscardHandler), Unreadable: w.aside}, w.store, serial{w, make(chan struct{}, 1)})
	s.Start()
	time.Sleep(idle)
	s.Stop()
	return w.ended(w.done)
}

// serial takes one notification at a time.
type serial struct {
	w    *world
	turn chan struct{}
}

func (s serial) Notify(ctx context.Context, n request.Notice) (int, string) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	return s.w.Notify(ctx, n)
}

func (w *world) dropsInstances() (done []string) {
	w.control.DropInstances(context.Background())
	w.view(func(tx store.Tx) error {
		for _, tenant := range []string{"acme", "beta"} {
			n, err := tx.Count(store.Instances, tenant, store.Query{})
			if err != nil {
				return err
			}
			if n == 0 {
				done = append(done, tenant+"/instances")
			}
		}
		return nil
	})
	return done
}

// starts is what a start says that ends by an error.
func (w *world) starts(err error) []string {
	if err != nil {
		w.t.Logf("the start says %v", err)
		return nil
	}
	return []string{"beta/start"}
}

func (w *world) countsModels() []string { return w.starts(w.control.CountModels(context.Background())) }

func (w *world) marksRuns() []string { return w.starts(w.control.MarkRuns(context.Background())) }

func (w *world) looksAtCredentials() []string {
	return w.starts(w.control.BindCredentials(context.Background()))
}

func (w *world) noticesUpgrade() []string {
	return w.starts(w.control.NoticeUpgrade(context.Background()))
}

func (w *world) foldsAddresses() []string {
	done := w.starts(w.control.FoldAddresses(context.Background()))
	w.view(func(tx store.Tx) error {
		if _, err := tx.Get(store.Users, "beta", "old@beta.example"); err == nil {
			done = append(done, "beta/old")
		}
		return nil
	})
	return done
}

// caller calls nobody: what waits for an approval is never sent.
type caller struct{ engine.Caller }

func (w *world) expires() (done []string) {
	time.Sleep(life)
	e := engine.New(w.store, w.runs, caller{}, &updates.Hub{}, slog.New(slog.DiscardHandler))
	if err := e.Start(context.Background()); err != nil {
		w.t.Logf("the engine says %v", err)
		return nil
	}
	time.Sleep(idle)
	e.Stop(time.Second)
	w.view(func(tx store.Tx) error {
		for _, tenant := range []string{"acme", "beta"} {
			rows, err := tx.List(store.Runs, tenant, store.Query{Where: []store.Filter{store.Equal("status", string(countersign.RunFailed))}})
			if err != nil {
				return err
			}
			for _, row := range rows {
				done = append(done, tenant+"/"+row.ID)
			}
		}
		return nil
	})
	return w.ended(done)
}
