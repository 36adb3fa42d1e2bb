package runrepo_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// unfinished is the realm's work list.
func (h *fixture) unfinished() map[string]records.Unfinished {
	h.t.Helper()
	out := map[string]records.Unfinished{}
	h.view(func(tx store.Tx) error {
		list, err := records.UnfinishedRuns.List(tx, store.Realm, store.Query{})
		for _, u := range list {
			out[u.RunID] = u
		}
		return err
	})
	return out
}

// TestWorkListFollowsARun from its start to its end.
func TestWorkListFollowsARun(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	want := func(state string, since, due time.Time) {
		t.Helper()
		u, listed := h.unfinished()[ref.RunID]
		if listed != (state != "") || u.State != state || !u.Since.Equal(since) || !u.Due.Equal(due) {
			t.Fatalf("listed %v: %+v, want %s since %s due %s", listed, u, state, since, due)
		}
	}
	never := time.Time{}
	want(records.Active, dawn, never)
	h.now = dawn.Add(time.Minute)
	h.must(ref, run.Resumed{})
	asked := h.now
	want(records.Waiting, asked, asked.Add(ttl))
	busy := []runrepo.Ref{h.mustStart("acme"), h.mustStart("beta")}
	h.now = h.now.Add(time.Minute)
	h.must(ref, decide(countersign.ApprovalApproved))
	want(records.Queued, h.now, asked.Add(ttl)) // the approval expires in the queue too
	h.must(busy[0], run.CancelAsked{Reason: "r", By: bob.ID})
	want(records.Active, dawn, never)
	h.must(ref, run.Resumed{})
	h.now = h.now.Add(time.Minute)
	h.must(ref, h.answer(ref, lost()))
	want(records.Recovery, h.now, never)
	h.must(ref, run.Reconciled{Reconcile: countersign.Reconcile{Resolution: countersign.Abandon, Evidence: "e"}})
	want("", never, never)
}

func TestStartBeyondTheLimitIsCapacity(t *testing.T) {
	h := open(t)
	for range limit {
		h.mustStart("acme")
	}
	for _, tenant := range []string{"acme", "beta"} { // the whole deployment shares the slots
		before := h.everything(tenant)
		if _, err := h.start(tenant); countersign.ErrorCode(err) != countersign.CodeCapacity {
			t.Errorf("%v", err)
		}
		if h.everything(tenant) != before {
			t.Error("a refused start left something")
		}
	}
}

// TestSlotGoesToTheOldestOfAnyTenant, in the very commit that gives it back.
func TestSlotGoesToTheOldestOfAnyTenant(t *testing.T) {
	h := open(t)
	var queue []runrepo.Ref
	for _, tenant := range []string{"beta", "acme", "beta"} {
		ref := h.mustStart(tenant)
		h.must(ref, run.Resumed{})
		queue = append(queue, ref)
	}
	busy := []runrepo.Ref{h.mustStart("acme"), h.mustStart("acme")}
	for _, ref := range queue {
		h.now = h.now.Add(time.Microsecond)
		h.must(ref, decide(countersign.ApprovalApproved))
	}
	var granted []runrepo.Ref
	for len(granted) < 2 {
		moved := h.must(busy[len(granted)], run.CancelAsked{Reason: "r", By: bob.ID})
		if len(moved.Others) != 1 {
			t.Fatalf("%d runs got the slot", len(moved.Others))
		}
		granted = append(granted, moved.Others[0].Ref)
		if _, err := h.start("acme"); countersign.ErrorCode(err) != countersign.CodeCapacity {
			t.Errorf("a new start overtook the queue: %v", err)
		}
	}
	if diff := cmp.Diff(queue[:2], granted); diff != "" {
		t.Error(diff)
	}
}

// TestSlotsHoldInAnyHistory: whatever happens to many runs, in every committed
// state no more than the limit are READY or RUNNING, nobody queues while a slot
// is free, and the work list says what the runs are.
func TestSlotsHoldInAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := open(t)
		var refs []runrepo.Ref
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			h.now = h.now.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "hours")) * time.Hour)
			if len(refs) == 0 || rapid.IntRange(0, 4).Draw(t, "start") == 0 {
				if ref, err := h.start(rapid.SampledFrom([]string{"acme", "beta"}).Draw(t, "tenant")); err == nil {
					refs = append(refs, ref)
				}
			} else {
				ref := rapid.SampledFrom(refs).Draw(t, "run")
				if moved, err := h.apply(ref, h.drawEvent(t, ref)); err == nil {
					h.checkMoved(moved)
				}
			}
			h.checkSlots(refs)
		}
	})
}

// TestARunThatGetsItsSlotAtOnceHasMovedOnce: nobody can see it queue, so nobody is
// told that it did.
func TestARunThatGetsItsSlotAtOnceHasMovedOnce(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	h.must(ref, run.Resumed{})
	moved := h.must(ref, decide(countersign.ApprovalApproved))
	if moved.Run.Run().Status != countersign.RunRunning || len(moved.Others) > 0 {
		t.Errorf("%s, and %d others moved", moved.Run.Run().Status, len(moved.Others))
	}
	h.checkMoved(moved)
}

// checkMoved: what an event moved is named once each, as it is stored.
func (h *fixture) checkMoved(m runrepo.Moved) {
	h.t.Helper()
	named := map[runrepo.Ref]bool{}
	for _, held := range append([]*runrepo.LoadedRun{m.Run}, m.Others...) {
		if stored := h.load(held.Ref).Run().Revision; named[held.Ref] || held.Run().Revision != stored {
			h.t.Fatalf("run %s moved to revision %d, stored is %d; named before: %v", held.Ref.RunID, held.Run().Revision, stored, named[held.Ref])
		}
		named[held.Ref] = true
	}
}

func (h *fixture) drawEvent(t *rapid.T, ref runrepo.Ref) run.Event {
	switch rapid.IntRange(0, 9).Draw(t, "event") {
	case 0:
		return run.CancelAsked{Reason: "r", By: bob.ID}
	case 1:
		return run.Expired{}
	case 2:
		return run.Reconciled{Reconcile: countersign.Reconcile{Evidence: "e", Resolution: rapid.SampledFrom([]string{
			countersign.ConfirmedCompleted, countersign.ConfirmedNotExecuted, countersign.Abandon,
		}).Draw(t, "resolution")}}
	case 3, 4:
		return decide(countersign.ApprovalApproved)
	case 5:
		return h.answer(ref, lost())
	case 6, 7:
		return h.answer(ref, fine())
	default:
		return run.Resumed{}
	}
}

func (h *fixture) checkSlots(refs []runrepo.Ref) {
	list := h.unfinished()
	active, queued := 0, 0
	for _, ref := range refs {
		r := h.load(ref).Run()
		u, listed := list[ref.RunID]
		delete(list, ref.RunID)
		state := map[countersign.RunStatus]string{
			countersign.RunReady: records.Active, countersign.RunRunning: records.Active,
			countersign.RunWaitingApproval: records.Waiting, countersign.RunRecoveryRequired: records.Recovery,
		}[r.Status]
		if run.WaitsForSlot(r) {
			state = records.Queued
			queued++
		}
		if r.Status.IsActive() {
			active++
		}
		due := time.Time{}
		if f := r.WaitingFor; f != nil && f.NotBefore.IsZero() {
			due = f.ExpiresAt
		} else if f != nil {
			due = f.NotBefore
		}
		if listed != (state != "") || u.State != state || !u.Due.Equal(due) || listed && !slices.Equal(u.Projects, []string{"shop"}) {
			h.t.Fatalf("run %s is %s and listed as %+v", ref.RunID, r.Status, u)
		}
	}
	if active > limit || queued > 0 && active < limit || len(list) > 0 {
		h.t.Fatalf("%d active, %d queued, listed besides: %v", active, queued, list)
	}
}
