package runrepo

import (
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/run"
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

// NotReadable is why a run is stranded whose records can't be read.
const NotReadable = "its records can't be read"

// Strand takes away the slot, or the place in the queue, of a run that can't be moved, so that
// other runs go on. It can't go on itself, and what it has sent is not known. The audit log says
// why, unless the log can't be read either. It returns false, and changes nothing, if the run
// isn't in the list or is stranded.
func (l *Repository) Strand(tx store.Tx, ref Ref, why string) (bool, error) {
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
		Before: u.State, After: records.Stranded, Reason: why + "; nothing moves it until the service starts again",
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

// TakeUp sets a stranded run aside that would go on if it weren't: nobody counts on that any
// more. One that waits for a person is listed again as that. It fails where the run's records
// still can't be read or stored, and does nothing if the run isn't stranded: another replica may
// have taken it up.
func (l *Repository) TakeUp(tx store.Tx, ref Ref) (moved Moved, err error) {
	u, _, err := records.UnfinishedRuns.Get(tx, store.Realm, records.UnfinishedID(ref.Tenant, ref.RunID))
	if errors.Is(err, store.ErrNotFound) || err == nil && u.State != records.Stranded {
		return moved, nil
	}
	if err != nil {
		return moved, err
	}
	loaded, err := l.movable(tx, ref)
	if err != nil {
		return moved, err
	}
	if r := loaded.Run(); r.Status.IsActive() || run.WaitsForSlot(r) {
		return l.Apply(tx, ref, loaded, run.SetAside{}, System)
	}
	return moved, l.saveUnfinished(tx, loaded)
}
