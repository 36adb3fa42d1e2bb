package simulation

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/chat"
	"github.com/countersign/countersign/internal/background/indexing"
	"github.com/countersign/countersign/internal/background/notify"
	"github.com/countersign/countersign/internal/background/remind"
	"github.com/countersign/countersign/internal/background/retention"
	"github.com/countersign/countersign/internal/background/slack"
	"github.com/countersign/countersign/internal/background/webhook"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/server/httpapi"
	"github.com/countersign/countersign/internal/storage/measured"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
	"github.com/countersign/countersign/internal/testing/slacktest"
)

const (
	publicURL = "https://countersign.example"
	hookURL   = "https://hooks.example.com"
	lifetime  = 30 * time.Minute // of an approval
	atOnce    = 12               // active runs
)

// replica is a process of a day with its store.
type replica struct {
	*process
	parts
	rows store.Store
}

// parts are the parts of a process.
type parts struct {
	store   store.Store
	lease   *lease.Keeper // nil: no other process uses the store
	runs    *runrepo.Repository
	engine  *engine.Engine
	hub     *updates.Hub
	control *control.Service
	api     http.Handler
	aside   *unreadable.Records
}

// start opens the store and starts a process on it, with all that works beside the engine. It is wired as cmd/countersign does it, but
// for sockets.
func (d *day) start() {
	rows, err := d.openStore()
	if err != nil {
		d.fail("the store can't be opened: %v", err)
		d.t.FailNow()
	}
	if !d.shared {
		d.disk.rows = rows
	}
	p := &process{session: d.disk.through(rows)}
	metrics := telemetry.NewMetrics("simulated")
	within := measured.New(p.session, metrics, nil, quietly)
	var held *lease.Keeper
	if d.shared {
		if held, err = lease.Join(background(), within, d.newID("replica"), "simulated"); err != nil {
			d.fail("a replica can't join: %v", err)
			d.t.FailNow()
		}
	}
	r := &replica{p, d.assemble(within, held, metrics), rows}
	p.engine, p.control = r.parts.engine, r.parts.control
	d.replicas, d.processes = append(d.replicas, r), d.processes+1
	d.switchProcess()
	for what, err := range map[string]error{
		"the receipt key": p.control.EnsureReceiptKey(background()), "credentials": p.control.BindCredentials(background()),
		"models": p.control.CountModels(background()), "addresses": p.control.FoldAddresses(background()),
	} {
		if err != nil && !p.session.isDead() {
			d.fail("at the start, %s: %v", what, err)
		}
	}
	for _, b := range r.atWork(d) {
		b.Start()
		p.beside = append(p.beside, b)
	}
	if err := p.engine.Start(background()); err != nil && !p.session.isDead() {
		d.fail("the engine can't start: %v", err)
	}
	p.beside = append(p.beside, periodic.Start(control.DropEvery, p.control.DropInstances))
}

var quietly = slog.New(slog.DiscardHandler)

// assemble makes the parts on a store; nothing works yet.
func (d *day) assemble(rows store.Store, held *lease.Keeper, metrics *telemetry.Metrics) parts {
	allowed := project.Allowed{Origins: []string{origin, second}, NotifyOrigins: []string{hookURL}, Credentials: listed(), SecretBytes: func(string) int { return 64 }}
	id := ""
	if held != nil {
		id = held.ID()
	}
	l := runrepo.New(runrepo.Config{Replica: id, MaxActive: atOnce, ApprovalTTL: lifetime, NewID: d.newID, NewSalt: d.newSalt, OriginAllowed: allowed.Origin, Now: d.now, Observe: metrics.Observe})
	hub := &updates.Hub{}
	e, aside := engine.New(rows, l, d.receiver, hub, quietly), unreadable.New(quietly)
	if held != nil {
		e.Share(held, lease.Every)
	}
	c := control.New(control.Config{
		Allowed: allowed, MaxActive: atOnce, Version: "simulated", NewID: d.newID, NewSecret: d.newSecret, Now: d.now, Post: d.mails, Shared: held != nil, Metrics: metrics, Unreadable: aside,
	}, rows, l, e, hub, d.receiver, quietly)
	api, err := httpapi.New(httpapi.Config{BaseURL: publicURL, Log: quietly, NewID: d.newID, Now: d.now}, c)
	if err != nil {
		d.t.Fatal(err)
	}
	return parts{rows, held, l, e, hub, c, api, aside}
}

// worker works in the background.
type worker interface {
	Start()
	Stop()
}

// atWork is what works beside the engine.
func (p parts) atWork(d *day) []worker {
	adapter := slack.New(slack.Config{URL: d.slack.URL(), AppToken: slacktest.AppToken, BotToken: slacktest.BotToken, HTTP: d.slack.Transport(), Log: quietly})
	all := []worker{
		remind.New(remind.Config{Now: d.now, Log: quietly, Unreadable: p.aside}, p.store),
		notify.New(notify.Config{BaseURL: publicURL, Now: d.now, Log: quietly, Unreadable: p.aside}, p.store, d.mails),
		chat.New(chat.Config{BaseURL: publicURL, Channels: map[string]string{tenants[0]: channel}, Shared: d.shared, NewID: d.newID, Now: d.now, Count: func(string) {}, Log: quietly, Unreadable: p.aside}, p.store, p.control, adapter),
		webhook.New(webhook.Config{BaseURL: publicURL, Backoff: webhook.Backoff, Now: d.now, Log: quietly, Unreadable: p.aside}, p.store, d.hooks),
		indexing.New(p.store, p.control, 10*time.Second, quietly, p.aside),
		retention.New(retention.Config{Keep: d.kept, Dir: d.archive, Now: d.now, Log: quietly, Unreadable: p.aside}, p.store, p.runs),
	}
	if d.shared {
		all = append(all, &polling{parts: p})
	}
	return all
}

// polling looks for commits of other replicas, for who watches runs.
type polling struct {
	parts
	end   context.CancelFunc
	ended sync.WaitGroup
}

func (p *polling) Start() {
	var life context.Context
	life, p.end = context.WithCancel(background())
	p.ended.Go(func() {
		p.hub.Poll(life, time.Second, func(ctx context.Context, tenant, runID string, newer int64) (found *countersign.Run, err error) {
			err = p.store.View(ctx, func(tx store.Tx) error {
				held, err := p.runs.Newer(tx, runrepo.Ref{Tenant: tenant, RunID: runID}, newer)
				if found = nil; err == nil && held != nil {
					found = held.Run()
				}
				return err
			})
			return found, err
		})
	})
}

func (p *polling) Stop() {
	p.end()
	p.ended.Wait()
}

// switchProcess has one of the processes serve what is asked from now on.
func (d *day) switchProcess() {
	r := d.replicas[d.rng.IntN(len(d.replicas))]
	d.process, d.api = r.process, r.api
}

// leave ends a process, in order or by a kill, and gives up its store.
func (d *day) leave(r *replica, grace time.Duration) {
	r.end(grace)
	if closing, is := r.rows.(interface{ Close() error }); is && d.closes {
		if err := closing.Close(); err != nil {
			d.fail("the store can't be closed: %v", err)
		}
	}
	d.replicas = slices.DeleteFunc(d.replicas, func(x *replica) bool { return x == r })
	if len(d.replicas) > 0 {
		d.switchProcess()
	}
}

// restart ends the process in order and starts another one on the same directory.
func (d *day) restart() {
	d.say("stopped and started again")
	d.leave(d.replicas[0], grace)
	d.start()
	synctest.Wait()
}

// kill ends the process where it is, with calls on their way and commits whose rows are not in their tables yet, and starts another
// one on what is left on the disk: a copy, since closing the store of this process would write what a dead one can't.
func (d *day) kill() {
	d.say("killed and started again")
	synctest.Wait() // the store rests between two operations on the disk; whatever else was under way still is
	d.process.session.die()
	left := d.generation()
	d.copyStore(left)
	d.leave(d.replicas[0], 0)
	if err := os.RemoveAll(d.dir); err != nil {
		d.t.Fatal(err)
	}
	d.dir = left
	d.disk.mend()
	d.start()
	synctest.Wait()
}

// openDirectory opens the embedded store.
func (d *day) openDirectory() (store.Store, error) { return sqlite.Open(background(), d.dir) }

// generation is a new directory for a store.
func (d *day) generation() string {
	d.life++
	dir := filepath.Join(d.root, "store-"+strconv.Itoa(d.life))
	if err := os.Mkdir(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	return dir
}

// copyStore copies what a process leaves that dies: all but the lock, and the reserve, which holds nothing.
func (d *day) copyStore(to string) {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "countersign.lock" || e.Name() == "countersign.reserve" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(d.dir, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), content, 0o600)
		}
		if err != nil {
			d.t.Fatal(err)
		}
	}
}

// rest ends the last processes.
func (d *day) rest() {
	for len(d.replicas) > 0 {
		d.leave(d.replicas[0], grace)
	}
}

// mails counts the mails.
type mails struct {
	mu sync.Mutex
	n  int
}

// Send implements notify.Postbox and control.Postbox.
func (m *mails) Send(context.Context, string, string, string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	return nil
}
