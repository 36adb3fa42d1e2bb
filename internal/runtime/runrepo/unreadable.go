package runrepo

import (
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// Unreadable reports a permanent error of one run's records, not a passing one of the
// store.
func Unreadable(err error) bool {
	return unreadable.Is(err)
}

// movable reads all that an event will read, before anything is written.
func (l *Repository) movable(tx store.Tx, ref Ref) (*LoadedRun, error) {
	loaded, err := l.Load(tx, ref)
	if err != nil {
		return nil, err
	}
	if _, _, err := l.env(tx, loaded); err != nil {
		return nil, err
	}
	_, _, err = audit.Head(tx, ref.Tenant)
	return loaded, err
}

// StopUnreadable takes away the slot, or the place in the queue, of a run whose records
// can't be read, so that other runs go on. It can't go on itself, and what it has sent is
// not known. The audit log says so, unless the log can't be read either. It returns false,
// and changes nothing, if the run isn't in the list or was stopped so before.
func (l *Repository) StopUnreadable(tx store.Tx, ref Ref) (bool, error) {
	id := records.UnfinishedID(ref.Tenant, ref.RunID)
	u, version, err := records.UnfinishedRuns.Get(tx, store.Realm, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && u.State == records.Stranded {
		return false, nil
	}
	if errors.Is(err, store.ErrDamaged) { // the entry itself
		u, err = &records.Unfinished{TenantID: ref.Tenant, RunID: ref.RunID, Since: l.cfg.Now()}, nil
	}
	if err != nil {
		return false, err
	}
	rec := countersign.AuditRecord{
		At: l.cfg.Now(), Actor: System.ID, Action: "run.strand", Subject: "run/" + ref.RunID, Outcome: countersign.AuditDone,
		Before: u.State, After: records.Stranded, Reason: "its records can't be read; nothing moves it any more",
	}
	u.State, u.Owner, u.Due = records.Stranded, "", time.Time{}
	if _, err := records.UnfinishedRuns.Put(tx, store.Realm, id, u, version); err != nil {
		return false, err
	}
	if _, _, err := audit.Head(tx, ref.Tenant); err != nil {
		if Unreadable(err) {
			return true, nil
		}
		return false, err
	}
	return true, audit.Append(tx, ref.Tenant, []countersign.AuditRecord{rec})
}
