package runrepo_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestARunIsTakenOverOnceAndFromTheDeadAlone.
func TestARunIsTakenOverOnceAndFromTheDeadAlone(t *testing.T) {
	h := open(t)
	replica := func(id string) *runrepo.Repository {
		h.update(func(tx store.Tx) error {
			_, err := records.Replicas.Put(tx, store.Realm, records.ReplicaID(id), &records.Replica{ID: id}, 0)
			return err
		})
		return runrepo.New(runrepo.Config{MaxActive: limit, ApprovalTTL: ttl, NewID: h.newID, OriginAllowed: func(string) bool { return true }, Now: func() time.Time { return h.now }, Replica: id})
	}
	first, second, third := replica("first"), replica("second"), replica("third")
	h.repository = first
	ref := h.mustStart("acme")
	adopts := func(l *runrepo.Repository, want bool, owner string) {
		t.Helper()
		h.update(func(tx store.Tx) error {
			if got, err := l.Adopt(tx, ref); got != want || err != nil {
				t.Errorf("taken over: %v, %v", got, err)
			}
			return nil
		})
		if got := h.unfinished()[ref.RunID].Owner; got != owner {
			t.Errorf("owner is %q, want %q", got, owner)
		}
	}
	adopts(second, false, "first") // it lives
	h.update(func(tx store.Tx) error { return records.Replicas.Delete(tx, store.Realm, records.ReplicaID("first")) })
	adopts(second, true, "second")
	adopts(third, false, "second") // somebody was faster
	h.repository = second
	h.must(ref, run.Resumed{}) // waits for its approval: nobody drives it
	h.update(func(tx store.Tx) error { return records.Replicas.Delete(tx, store.Realm, records.ReplicaID("second")) })
	adopts(third, false, "")
}
