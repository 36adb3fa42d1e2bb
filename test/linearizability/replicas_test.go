package linearizability

import (
	"testing"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// replica is one service on a store that others may share.
type replica struct {
	store      store.Store
	repository *runrepo.Repository
	engine     *engine.Engine
	control    *control.Service
}

func (r *replica) stop(t *testing.T) {
	t.Helper()
	r.engine.Stop(patience)
	r.control.Close()
	if err := r.store.Close(); err != nil {
		t.Error(err)
	}
}

// openReplicas starts two services on one database, each with its own connections.
func openReplicas(t *testing.T, limit int) *fixture {
	t.Helper()
	url := pgtest.Database(t)
	open := func() store.Store {
		s, err := postgres.Open(background(), url)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	h := &fixture{t: t, limit: limit, store: newNoticed(open()), hub: &updates.Hub{}, receiver: newReceiver()}
	h.ends.hub = h.hub
	first, second := h.serve(h.store, h.join(h.store)), h.store.beside(open())
	h.repository, h.engine, h.control = first.repository, first.engine, first.control
	h.others = []*replica{h.serve(second, h.join(second))}
	h.furnish()
	return h
}

func (f *fixture) join(s store.Store) *lease.Keeper {
	f.t.Helper()
	l, err := lease.Join(background(), s, newID("replica"), "test")
	f.must(err)
	f.leases = append(f.leases, l)
	return l
}

// any returns the services in turn.
func (f *fixture) any() *control.Service {
	if n := f.asked.Add(1) % int64(1+len(f.others)); n > 0 {
		return f.others[n-1].control
	}
	return f.control
}
