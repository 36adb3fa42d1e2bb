package runrepo

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A READY or RUNNING run holds a slot. Runs that were approved or reconciled queue for one,
// oldest first and before new starts (contract 6). Slots are counted in the transaction
// that changes them, so the limit holds in every consistent read.

// takeSlot finds the queued runs that get a slot as a run changes to is, which gives its
// slot back or asks for one. If the run itself gets one, granted is that event's result;
// else granted.Run is nil. others are the other runs.
func (l *Repository) takeSlot(tx store.Tx, env run.Env, loaded *LoadedRun, is *countersign.Run) (others []records.Unfinished, granted run.Result, err error) {
	before, after := loaded.unfinished(loaded.Run()), loaded.unfinished(is)
	if sameEntry(before, after) || before.State != records.Active && after.State != records.Queued {
		return nil, granted, nil
	}
	next, err := l.next(tx, before, after)
	if err != nil {
		return nil, granted, err
	}
	others = slices.DeleteFunc(next, func(u records.Unfinished) bool { return sameRun(u, after) })
	if len(others) < len(next) {
		granted, err = run.Apply(env, is, run.SlotGranted{})
	}
	return others, granted, err
}

// sameEntry reports that a run's entry in the list of unfinished runs needn't be written.
func sameEntry(a, b records.Unfinished) bool {
	return a.State == b.State && a.Due.Equal(b.Due) && a.Since.Equal(b.Since) && a.AskAt.Equal(b.AskAt)
}

// Idle reports that a slot is free for a queued run.
func (l *Repository) Idle(tx store.Tx) (bool, error) {
	next, err := l.next(tx, records.Unfinished{}, records.Unfinished{})
	return len(next) > 0, err
}

// Grant gives free slots to queued runs: after a start with a higher limit, and where a run
// could not take its slot.
func (l *Repository) Grant(tx store.Tx) error {
	_, err := l.GrantSlots(tx)
	return err
}

// GrantSlots is Grant, and gives the runs that got a slot.
func (l *Repository) GrantSlots(tx store.Tx) ([]*LoadedRun, error) {
	next, err := l.next(tx, records.Unfinished{}, records.Unfinished{})
	if err != nil {
		return nil, err
	}
	return l.grant(tx, next)
}

// next are the runs that get a slot when a run's entry in the list changes. It is called
// before that is written, since a store must flush deferred writes before a query.
func (l *Repository) next(tx store.Tx, before, after records.Unfinished) ([]records.Unfinished, error) {
	if after.State != records.Queued {
		queued, err := countStates(tx, records.Queued)
		if err != nil || queued == 0 {
			return nil, err // as in most cases: no further counts are needed
		}
	}
	active, err := countStates(tx, records.Active)
	if err != nil {
		return nil, err
	}
	if before.State == records.Active {
		held, err := Holds(tx, Ref{before.TenantID, before.RunID})
		if err != nil {
			return nil, err
		}
		if !held { // a stranded run's slot is others' already
			before = records.Unfinished{}
		} else {
			active--
		}
	}
	if active >= l.cfg.MaxActive {
		return nil, nil
	}
	if all, err := stands(tx, countersign.AllTenants); err != nil || all {
		return nil, err
	}
	share, err := l.share(tx)
	if err != nil {
		return nil, err
	}
	q := queue{tx: tx, now: l.cfg.Now(), before: before, after: after, free: l.cfg.MaxActive - active, share: share, room: map[string]int{}}
	return q.take()
}

func sameRun(a, b records.Unfinished) bool { return a.TenantID == b.TenantID && a.RunID == b.RunID }

// earlier is the order of the queue: of arrival, then by id as the store has it.
func earlier(a, b records.Unfinished) int {
	return cmp.Or(cmp.Compare(a.Since.UnixMicro(), b.Since.UnixMicro()), strings.Compare(records.UnfinishedID(a.TenantID, a.RunID), records.UnfinishedID(b.TenantID, b.RunID)))
}

// grant gives slots to queued runs.
func (l *Repository) grant(tx store.Tx, next []records.Unfinished) ([]*LoadedRun, error) {
	var granted []*LoadedRun
	for _, u := range next {
		ref := Ref{u.TenantID, u.RunID}
		known, err := l.movable(tx, ref)
		if Unreadable(err) { // the engine's next check gives the slot to another run
			if _, err = l.Strand(tx, ref, NotReadable); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		moved, err := l.Apply(tx, ref, known, run.SlotGranted{}, System)
		if err != nil {
			return nil, err
		}
		granted = append(granted, moved.Run)
	}
	return granted, nil
}

func countStates(tx store.Tx, states ...any) (int, error) {
	return tx.Count(store.Unfinished, store.Realm, store.Query{Where: []store.Filter{{Column: "state", Op: store.In, Values: states}}})
}

// Holders are the runs that hold a slot.
func Holders(tx store.Tx) ([]records.Unfinished, error) {
	return records.ListUnfinished(tx, store.Query{Where: []store.Filter{store.Equal("state", records.Active)}})
}

// Stranded are the runs that nothing moves until a start tries again.
func Stranded(tx store.Tx) ([]records.Unfinished, error) {
	return records.ListUnfinished(tx, store.Query{Where: []store.Filter{store.Equal("state", records.Stranded)}})
}

// Holds reports that a run holds a slot.
func Holds(tx store.Tx, ref Ref) (bool, error) {
	u, _, err := records.UnfinishedRuns.Get(tx, store.Realm, records.UnfinishedID(ref.Tenant, ref.RunID))
	if Unreadable(err) { // of a damaged entry, the run knows what becomes of it, and writes it anew
		return errors.Is(err, store.ErrDamaged), nil
	}
	return err == nil && u.State == records.Active, err
}

// Owned are the runs that some process executes, or whose call may still be answered. Of
// the runs that wait for a reconcile there may be many, so the others aren't read.
func Owned(tx store.Tx) ([]records.Unfinished, error) {
	active, err := Holders(tx)
	if err != nil {
		return nil, err
	}
	answerable, err := records.ListUnfinished(tx, store.Query{
		Where: []store.Filter{store.Equal("state", records.Recovery), {Column: "due", Op: store.AtLeast, Values: []any{int64(1)}}},
	})
	return append(active, answerable...), err
}

// isOwned reports a run that Owned lists.
func isOwned(u *records.Unfinished) bool {
	return u.State == records.Active || u.State == records.Recovery && !u.Due.IsZero()
}

// Adopt makes this process the owner of a run whose owner is gone; false when there is
// nothing to take over any more.
func (l *Repository) Adopt(tx store.Tx, ref Ref) (bool, error) {
	id := records.UnfinishedID(ref.Tenant, ref.RunID)
	u, version, err := records.UnfinishedRuns.Get(tx, store.Realm, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !isOwned(u) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, _, err = records.Replicas.Get(tx, store.Realm, records.ReplicaID(u.Owner))
	if !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	u.Owner = l.cfg.Replica
	_, err = records.UnfinishedRuns.Put(tx, store.Realm, id, u, version)
	return err == nil, err
}

// Owns reports a run that no other process executes: an active one of this process, or one
// that isn't active.
func (l *Repository) Owns(tx store.Tx, ref Ref) (bool, error) {
	u, _, err := records.UnfinishedRuns.Get(tx, store.Realm, records.UnfinishedID(ref.Tenant, ref.RunID))
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	return err == nil && (u.State != records.Active || u.Owner == l.cfg.Replica), err
}

// OwnedHere reports a run that nobody has taken over from this process, and that somebody may.
func (l *Repository) OwnedHere(tx store.Tx, ref Ref) (bool, error) {
	u, _, err := records.UnfinishedRuns.Get(tx, store.Realm, records.UnfinishedID(ref.Tenant, ref.RunID))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && isOwned(u) && u.Owner == l.cfg.Replica, err
}

// addUnfinished is saveUnfinished for a new run, of which there can be no entry.
func (l *Repository) addUnfinished(tx store.Tx, h *LoadedRun) error {
	u := h.unfinished(h.Run())
	if u.State == records.Active {
		u.Owner = l.cfg.Replica
	}
	_, err := records.UnfinishedRuns.Add(tx, store.Realm, records.UnfinishedID(h.Ref.Tenant, h.Ref.RunID), &u)
	return err
}

func (l *Repository) saveUnfinished(tx store.Tx, h *LoadedRun) error {
	id := records.UnfinishedID(h.Ref.Tenant, h.Ref.RunID)
	u := h.unfinished(h.Run())
	if u.State == "" {
		return records.UnfinishedRuns.Delete(tx, store.Realm, id)
	}
	was, version, err := records.UnfinishedRuns.Get(tx, store.Realm, id)
	if err != nil && !Unreadable(err) { // an entry that can't be read is written anew
		return err
	}
	switch {
	case u.State == records.Active:
		u.Owner = l.cfg.Replica
	case err == nil && isOwned(&u):
		u.Owner = was.Owner // whoever asked for the cancel, the call is its sender's
	}
	_, err = records.UnfinishedRuns.Put(tx, store.Realm, id, &u, version)
	return err
}

// unfinished is the run's entry in the realm's list as it becomes r; State "" means none.
func (h *LoadedRun) unfinished(r *countersign.Run) records.Unfinished {
	u := records.Unfinished{TenantID: h.Ref.Tenant, RunID: r.ID, Projects: h.record.Projects, WaitingFor: r.WaitingFor, Since: r.CreatedAt}
	if f := r.WaitingFor; f != nil {
		u.Since, u.Due = f.Since, f.ExpiresAt
		if !f.NotBefore.IsZero() {
			u.Due = f.NotBefore
		}
	}
	if r.Status == countersign.RunRecoveryRequired {
		u.AskAt = run.AskAt(r)
	}
	switch {
	case r.Status.IsTerminal():
		return records.Unfinished{}
	case run.WaitsForSlot(r):
		u.State = records.Queued
	case r.Status.IsActive():
		u.State = records.Active
	case r.Status == countersign.RunRecoveryRequired:
		u.State = records.Recovery
	default:
		u.State = records.Waiting
	}
	return u
}
