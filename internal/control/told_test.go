package control_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestWordOfARunGoesOutBeforeItIsDrivenOn: whoever is woken commits the next revision
// and tells of it at once. Word of an earlier one would come behind.
func TestWordOfARunGoesOutBeforeItIsDrivenOn(t *testing.T) {
	h := open(t)
	ref := runrepo.Ref{Tenant: "acme", RunID: h.startOne(t, as("acme"))}
	h.must(h.store.Update(background, func(tx store.Tx) error {
		_, err := h.repository.Apply(tx, ref, nil, run.Resumed{}, runrepo.System)
		return err
	}))
	watched, err := h.service.Watch(background, as("acme"), ref.RunID)
	h.must(err)
	defer watched.Close()
	woken := 0
	h.woken = func(ref runrepo.Ref) {
		woken++
		if told, stored := lastTold(watched.Changes), h.revision(ref); told != stored {
			t.Errorf("woken at revision %d, which nobody was told of: the last word is of %d", stored, told)
		}
	}
	_, err = h.service.Decide(background, approver("ben@acme.example"), watched.Now.ApprovalID, countersign.Decision{Decision: countersign.ApprovalApproved, Reason: "r"})
	h.must(err)
	if woken == 0 {
		t.Error("nobody drives the run on")
	}
}

// lastTold is the revision that a watcher was told of last, 0 for none.
func lastTold(w *updates.Watcher) (revision int64) {
	for {
		select {
		case r := <-w.C:
			revision = r.Revision
		default:
			return revision
		}
	}
}

func (f *fixture) revision(ref runrepo.Ref) (revision int64) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) error {
		held, err := f.repository.Load(tx, ref)
		if err == nil {
			revision = held.Run().Revision
		}
		return err
	}))
	return revision
}
