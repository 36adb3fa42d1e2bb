package control_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// writing is a store whose Updates last until they are let go, and which counts those under way.
type writing struct {
	store.Store
	gate chan bool
	mu   sync.Mutex
	now  int
	most int
	all  int
}

func (w *writing) Update(ctx context.Context, fn func(store.Tx) error) error {
	w.mu.Lock()
	w.now++
	w.all++
	w.most = max(w.most, w.now)
	w.mu.Unlock()
	<-w.gate
	defer func() { w.mu.Lock(); w.now--; w.mu.Unlock() }()
	return w.Store.Update(ctx, fn)
}

// TestChangesThatTakeTheWriterForLongWaitForItOneAtATime, the tenants in turn, whatever is made:
// a tenant that asks for many of them leaves the writer to what costs little in between.
func TestChangesThatTakeTheWriterForLongWaitForItOneAtATime(t *testing.T) {
	for what, work := range map[string]func(h *fixture) error{
		"a manifest": func(h *fixture) error {
			_, err := h.service.SyncAgents(background, as("beta"), "beta-one", countersign.Manifest{SchemaVersion: "1.0", Agents: []countersign.ManifestAgent{{ExternalAgentID: "new", SourceRevision: 1, Name: "n", Role: "r", Goal: "g"}}})
			return err
		},
		"a group": func(h *fixture) error {
			_, err := h.service.PutGroup(background, as("beta"), "new", countersign.GroupWrite{Name: "n", Members: []string{}})
			return err
		},
		"a token": func(h *fixture) error {
			_, err := h.service.CreateToken(background, as("beta"), countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleViewer}})
			return err
		},
		"a model": func(h *fixture) error { return h.putModel(as("beta"), "new", 0) },
	} {
		inBubble(t, func() {
			h := open(t)
			w := &writing{Store: h.store.Store, gate: make(chan bool)}
			h.store.Store = w
			var all sync.WaitGroup
			for i := range 6 {
				all.Go(func() { _ = h.putModel(as("acme"), "more"+strconv.Itoa(i), 0) })
			}
			synctest.Wait()
			var failed error
			ended := false
			all.Go(func() { failed, ended = work(h), true })
			synctest.Wait()
			for range 2 { // what is under way, and then at most one more of acme's
				w.gate <- true
				synctest.Wait()
			}
			if !ended && w.all > 3 || failed != nil {
				t.Errorf("%s waits for all of another tenant's: %v", what, failed)
			}
			close(w.gate)
			all.Wait()
			if w.most != 1 || failed != nil {
				t.Errorf("%s: %d wait for the writer at once, then %v", what, w.most, failed)
			}
			h.service.Close()
		})
	}
}
