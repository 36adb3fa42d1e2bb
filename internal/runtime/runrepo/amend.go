package runrepo

import (
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Amend changes what a run's own record says besides what its events do, such as that it is held.
// Whoever moves the run meanwhile, or archives it, finds another version and reads it anew.
func (l *Repository) Amend(tx store.Tx, ref Ref, change func(*records.Run)) (*LoadedRun, error) {
	loaded, err := l.Load(tx, ref)
	if err != nil {
		return nil, err
	}
	next := *loaded
	next.change(change, l)
	l.latest.writing(ref, loaded.version+1)
	return &next, next.saveHeader(tx)
}

func (h *LoadedRun) change(change func(*records.Run), l *Repository) {
	change(&h.record)
	h.record.Revision++
	h.record.UpdatedAt = l.cfg.Now()
}
