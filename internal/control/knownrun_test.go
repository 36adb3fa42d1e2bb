package control_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestARunThatIsReadAgainAsksNoStore, and says what the store would: also after the run
// has moved, and after its requester has got another name.
func TestARunThatIsReadAgainAsksNoStore(t *testing.T) {
	h := open(t)
	a := as("acme")
	a.ID = "token:one"
	rename := func(name string) {
		h.must(h.store.Update(background, func(tx store.Tx) error {
			_, version, _ := records.Tokens.Get(tx, "acme", "one")
			_, err := records.Tokens.Put(tx, "acme", "one", &records.Token{Token: countersign.Token{ID: "one", TenantID: "acme", Name: name, Roles: a.Roles, ExpiresAt: time.Now().Add(time.Hour)}}, version)
			return err
		}))
	}
	rename("first")
	started, err := h.service.StartProjectRun(background, a, "acme-one", countersign.ProjectRunStart{Capability: "ping", Mode: countersign.ModeLive}, "k1")
	h.must(err)
	id := started.Run.ID
	read := func(name string) (r countersign.Run) {
		t.Helper()
		for range 2 {
			r, err = h.service.Run(background, a, id)
			h.must(err)
		}
		if again := h.reading(func() { r, err = h.service.Run(background, a, id) }); again.rows > 0 || err != nil || r.RequestedByName != name {
			t.Errorf("%d rows read of a run of %q: %v", again.rows, r.RequestedByName, err)
		}
		viewer := a
		viewer.Roles = []countersign.Role{countersign.RoleViewer} // masked, so read from the store
		stored, err := h.service.Run(background, viewer, id)
		h.must(err)
		if diff := cmp.Diff(stored, r); diff != "" {
			t.Errorf("from the store and from memory: %s", diff)
		}
		return r
	}
	if r := read("first"); r.Status != countersign.RunReady {
		t.Errorf("%s", r.Status)
	}
	rename("second")
	read("second")
	_, err = h.service.CancelRun(background, a, id, "enough")
	h.must(err)
	if r := read("second"); r.Status != countersign.RunCancelled {
		t.Errorf("%s", r.Status)
	}
}
