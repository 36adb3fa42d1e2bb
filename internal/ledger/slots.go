package ledger

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/run"
	"github.com/countersign/countersign/internal/store"
)

// A slot is held by a READY or RUNNING run. Runs whose approval or reconcile
// came through queue for one, oldest first and before new starts (contract 6).
// All of it is counted in the transaction that changes it, so the limit holds in
// every consistent read.

// Free is nil when a new run may start now, else capacity.
func (l *Ledger) Free(tx store.Tx) error {
	active, err := countState(tx, records.Active)
	if err != nil {
		return err
	}
	queued, err := countState(tx, records.Queued)
	if err != nil {
		return err
	}
	if active+queued >= l.cfg.MaxActive {
		return countersign.Errorf(countersign.CodeCapacity, "all %d slots are in use; try again when a run has ended or waits", l.cfg.MaxActive)
	}
	return nil
}

// settle keeps the realm's list of unfinished runs in step with a run that
// moved, and hands a slot that came free to the runs that queue for one.
func (l *Ledger) settle(tx store.Tx, was, is *Held) ([]*Held, error) {
	before, after := unfinishedOf(was), unfinishedOf(is)
	if before.State == after.State && before.Due.Equal(after.Due) && before.Since.Equal(after.Since) {
		return nil, nil
	}
	if err := l.saveUnfinished(tx, is); err != nil {
		return nil, err
	}
	if before.State == records.Active || after.State == records.Queued {
		return l.grant(tx)
	}
	return nil, nil
}

// Grant gives free slots to queued runs, for a start under a higher limit.
func (l *Ledger) Grant(tx store.Tx) error {
	_, err := l.grant(tx)
	return err
}

// grant gives free slots to queued runs.
func (l *Ledger) grant(tx store.Tx) ([]*Held, error) {
	active, err := countState(tx, records.Active)
	if err != nil || active >= l.cfg.MaxActive {
		return nil, err
	}
	queued, err := records.UnfinishedRuns.List(tx, store.Realm, store.Query{
		Where: []store.Filter{store.Equal("state", records.Queued)}, Order: []store.Order{{Column: "since"}}, Limit: l.cfg.MaxActive - active,
	})
	if err != nil {
		return nil, err
	}
	var granted []*Held
	for _, u := range queued {
		moved, err := l.Apply(tx, Ref{u.TenantID, u.RunID}, nil, run.SlotGranted{}, System)
		if err != nil {
			return nil, err
		}
		granted = append(granted, moved.Run)
	}
	return granted, nil
}

func countState(tx store.Tx, state string) (int, error) {
	return tx.Count(store.Unfinished, store.Realm, store.Query{Where: []store.Filter{store.Equal("state", state)}})
}

// Adopt makes this process the owner of an active run whose owner is gone; false
// when there is nothing to take over any more.
func (l *Ledger) Adopt(tx store.Tx, ref Ref) (bool, error) {
	id := records.UnfinishedID(ref.Tenant, ref.RunID)
	u, version, err := records.UnfinishedRuns.Get(tx, store.Realm, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && u.State != records.Active {
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
func (l *Ledger) Owns(tx store.Tx, ref Ref) (bool, error) {
	u, _, err := records.UnfinishedRuns.Get(tx, store.Realm, records.UnfinishedID(ref.Tenant, ref.RunID))
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	return err == nil && (u.State != records.Active || u.Owner == l.cfg.Replica), err
}

func (l *Ledger) saveUnfinished(tx store.Tx, h *Held) error {
	id := records.UnfinishedID(h.Ref.Tenant, h.Ref.RunID)
	u := unfinishedOf(h)
	if u.State == "" {
		return records.UnfinishedRuns.Delete(tx, store.Realm, id)
	}
	if u.State == records.Active {
		u.Owner = l.cfg.Replica
	}
	_, version, err := records.UnfinishedRuns.Get(tx, store.Realm, id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	_, err = records.UnfinishedRuns.Put(tx, store.Realm, id, &u, version)
	return err
}

// unfinishedOf is a run's entry in the realm's list; State "" means none.
func unfinishedOf(h *Held) records.Unfinished {
	r := h.Run()
	u := records.Unfinished{TenantID: h.Ref.Tenant, RunID: r.ID, Projects: h.record.Projects, WaitingFor: r.WaitingFor, Since: r.CreatedAt}
	if r.WaitingFor != nil {
		u.Since, u.Due = r.WaitingFor.Since, r.WaitingFor.ExpiresAt
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
