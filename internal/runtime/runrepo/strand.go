package runrepo

import (
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Unreadable reports an error of the records of one run, which stays, and not of the
// store, which may pass.
func Unreadable(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged)
}

// movable reads all that a move of the run will read, before it writes anything.
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

// StopUnreadable takes a run whose records can't be read off the slots and out of the queue,
// so that others' runs go on; its own can't, and what it sent is not known. The audit
// log says so, unless it is what can't be read. Of a run that is not in the list, or
// is stranded already, nothing changes and false is returned.
func (l *Repository) StopUnreadable(tx store.Tx, ref Ref) (bool, error) {
	id := records.UnfinishedID(ref.Tenant, ref.RunID)
	u, version, err := records.UnfinishedRuns.Get(tx, store.Realm, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && u.State == records.Stranded {
		return false, nil
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
