package linearizability

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/internal/testing/rerun"
)

const (
	narrow   = 4    // limit of active runs in tests about the limit
	wide     = 1000 // limit in other tests
	ttl      = time.Hour
	patience = 5 * time.Minute // bounds every wait; after it a test fails
)

// kindOfStore is a kind of store on which histories and races are played.
type kindOfStore struct {
	name   string
	open   func(t *testing.T) (store.Store, error)
	shared bool // a database, on which fewer are played
	turn   uint64
}

// stores are those of a single service. The in-memory store runs each function twice, as an engine may.
var stores = []kindOfStore{
	{name: "memory", turn: 0, open: func(*testing.T) (store.Store, error) { return rerun.Always(memory.New()), nil }},
	{name: "sqlite", turn: 1, open: func(t *testing.T) (store.Store, error) { return sqlite.Open(background(), t.TempDir()) }},
	{name: "postgres", turn: 0, shared: true, open: func(t *testing.T) (store.Store, error) { return postgres.Open(background(), pgtest.Database(t)) }},
}

// replicas are two services on one database; see openReplicas.
var replicas = kindOfStore{name: "replicas", turn: 1, shared: true}

// plays reports whether a seed's history is played on the store: each on one of two, and some also on a database.
func (s kindOfStore) plays(seed uint64) bool {
	if s.shared {
		every := uint64(sparing.N())
		return seed%every == 0 && seed/every%2 == s.turn
	}
	return seed%2 == s.turn
}

// times is how often a race is repeated on the store.
func (s kindOfStore) times() int {
	if s.shared {
		return max(1, repeats.N()/sparing.N())
	}
	return repeats.N()
}

// fixture is the service in this process, without HTTP, and with a receiver and a clock of the test.
type fixture struct {
	t          *testing.T
	limit      int
	store      *noticed
	repository *runrepo.Repository
	engine     *engine.Engine
	control    *control.Service
	hub        *updates.Hub
	receiver   *receiver
	ends       ends
	clock      atomic.Int64      // offset of the service's clock
	plans      map[string]string // plans of one step: LIVE ones by capability, and the rehearsal
	others     []*replica        // other services on the same database
	leases     []*lease.Keeper   // of the services, if they are several
	asked      atomic.Int64
}

var ids atomic.Int64

func newID(kind string) string { return fmt.Sprintf("%s-%06d", kind, ids.Add(1)) }

func (f *fixture) now() time.Time {
	return time.Now().Add(time.Duration(f.clock.Load())).UTC().Truncate(time.Microsecond)
}

// newFixture starts a service on a store and registers the shop.
func newFixture(t *testing.T, s store.Store, limit int) *fixture {
	t.Helper()
	h := startOn(t, s, limit)
	h.furnish()
	return h
}

// startOn starts a service on a store, empty or as left by an earlier service.
func startOn(t *testing.T, s store.Store, limit int) *fixture {
	t.Helper()
	h := &fixture{t: t, limit: limit, store: newNoticed(s), hub: &updates.Hub{}, receiver: newReceiver()}
	h.ends.hub = h.hub
	r := h.serve(h.store, nil)
	h.repository, h.engine, h.control = r.repository, r.engine, r.control
	return h
}

// serve starts a service on a store; with a lease it is one of several.
func (f *fixture) serve(s store.Store, l *lease.Keeper) *replica {
	f.t.Helper()
	allowed := project.Allowed{
		Origins: []string{origin}, Credentials: credential.Plain(nil, []string{secret}),
		SecretBytes: func(string) int { return 64 },
	}
	log := slog.New(slog.DiscardHandler)
	r := &replica{store: s}
	of := runrepo.Config{MaxActive: f.limit, ApprovalTTL: ttl, NewID: newID, OriginAllowed: allowed.Origin, Now: f.now}
	if l != nil {
		of.Replica = l.ID()
	}
	r.repository = runrepo.New(of)
	r.engine = engine.New(s, r.repository, f.receiver, &f.ends, log)
	if l != nil {
		r.engine.Share(l, lease.Every)
	}
	r.control = control.New(control.Config{
		Allowed: allowed, MaxActive: f.limit, Version: "linearizability", NewID: newID,
		NewSecret: func() [32]byte { return [32]byte{} }, Now: f.now,
	}, s, r.repository, r.engine, f.hub, f.receiver, log)
	f.must(r.engine.Start(background()))
	return r
}

// stop stops the service gracefully after answering every call.
func (f *fixture) stop() {
	f.receiver.open()
	f.engine.Stop(patience)
	f.control.Close()
	for _, r := range f.others {
		r.stop(f.t)
	}
}

// close stops the service, checks the rules of a final state, and closes the store.
func (f *fixture) close() {
	f.t.Helper()
	f.tellLosses()
	f.stop()
	f.checkRules()
	if err := f.store.Close(); err != nil {
		f.t.Error(err)
	}
}

// tellLosses logs why the store was unavailable, and which services were taken for dead: a machine that stands still for ten seconds explains what no model has.
func (f *fixture) tellLosses() {
	if why := f.store.outage.Load(); why != nil {
		f.t.Logf("the store was unavailable: %s", *why)
	}
	for _, l := range f.leases {
		select {
		case <-l.Lost():
			f.t.Logf("%s was taken for dead", l.ID())
		default:
		}
	}
}

// must ends the test on an error.
func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}
