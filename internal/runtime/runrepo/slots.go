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

// A slot is loaded by a READY or RUNNING run. Runs whose approval or reconcile
// came through queue for one, oldest first and before new starts (contract 6).
// All of it is counted in the transaction that changes it, so the limit holds in
// every consistent read.

// takeSlot finds the queued runs that get a slot when a run becomes what it is now: when
// it gives its own back, or asks for one. Where the run itself is among them, it is moved
// on at once and left out of the others; granted.Run is nil where it isn't.
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

// sameEntry reports two entries in the list of unfinished runs that need not be told
// apart.
func sameEntry(a, b records.Unfinished) bool {
	return a.State == b.State && a.Due.Equal(b.Due) && a.Since.Equal(b.Since)
}

// Idle reports queued runs that a free slot is there for.
func (l *Repository) Idle(tx store.Tx) (bool, error) {
	next, err := l.next(tx, records.Unfinished{}, records.Unfinished{})
	return len(next) > 0, err
}

// Grant gives free slots to queued runs: for a start under a higher limit, and where a
// slot came free of a run that could not take it.
func (l *Repository) Grant(tx store.Tx) error {
	next, err := l.next(tx, records.Unfinished{}, records.Unfinished{})
	if err == nil {
		_, err = l.grant(tx, next)
	}
	return err
}

// next are the runs that get a slot when a run goes from one entry in the list to
// another. It is asked before that is written: an engine has written nothing of a
// function yet, and would have to for a list.
func (l *Repository) next(tx store.Tx, before, after records.Unfinished) ([]records.Unfinished, error) {
	if after.State != records.Queued {
		queued, err := countStates(tx, records.Queued)
		if err != nil || queued == 0 {
			return nil, err // mostly; nothing more need be counted
		}
	}
	active, err := countStates(tx, records.Active)
	if err != nil {
		return nil, err
	}
	if before.State == records.Active {
		active--
	}
	if active >= l.cfg.MaxActive {
		return nil, nil
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
		if Unreadable(err) { // the slot goes to the next one at the engine's next look
			if _, err = l.StopUnreadable(tx, ref); err == nil {
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
	return records.UnfinishedRuns.List(tx, store.Realm, store.Query{Where: []store.Filter{store.Equal("state", records.Active)}})
}

// Owned asks for the runs that some process drives, or waits for the answer to a call
// of. Not for all that wait for a reconcile: those may be many, and are looked at often.
func Owned(tx store.Tx) ([]records.Unfinished, error) {
	active, err := Holders(tx)
	if err != nil {
		return nil, err
	}
	answerable, err := records.UnfinishedRuns.List(tx, store.Realm, store.Query{
		Where: []store.Filter{store.Equal("state", records.Recovery), {Column: "due", Op: store.AtLeast, Values: []any{int64(1)}}},
	})
	return append(active, answerable...), err
}

// isOwned reports such a run.
func isOwned(u *records.Unfinished) bool {
	return u.State == records.Active || u.State == records.Recovery && !u.Due.IsZero()
}

// Adopt makes this process the owner of such a run whose owner is gone; false when
// there is nothing to take over any more.
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

// Owns reports a run that no other process drives: an active one of this process,
// or one that nobody drives now.
func (l *Repository) Owns(tx store.Tx, ref Ref) (bool, error) {
	u, _, err := records.UnfinishedRuns.Get(tx, store.Realm, records.UnfinishedID(ref.Tenant, ref.RunID))
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	return err == nil && (u.State != records.Active || u.Owner == l.cfg.Replica), err
}

func (l *Repository) saveUnfinished(tx store.Tx, h *LoadedRun) error {
	id := records.UnfinishedID(h.Ref.Tenant, h.Ref.RunID)
	u := h.unfinished(h.Run())
	if u.State == "" {
		return records.UnfinishedRuns.Delete(tx, store.Realm, id)
	}
	was, version, err := records.UnfinishedRuns.Get(tx, store.Realm, id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
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
	switch {
	case r.Status.IsTerminal():
		return records.Unfinished{}
	case r.Status.IsActive():
		u.State = records.Active
	case run.WaitsForSlot(r):
		u.State = records.Queued
	case r.Status == countersign.RunRecoveryRequired:
		u.State = records.Recovery
	default:
		u.State = records.Waiting
	}
	return u
}
