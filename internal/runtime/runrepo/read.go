package runrepo

import (
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Bounds of the runs in memory: more than are usually watched at a time, and none of
// them with more bytes of documents than MaxRemembered.
const (
	rememberedRuns = 128
	MaxRemembered  = 256 << 10
)

// Read gives a run with its steps, mostly from memory; it must not be changed. It is for
// views only: an update may read what is never committed.
func (l *Repository) Read(tx store.Tx, ref Ref) (*records.Run, error) {
	r, _, err := l.ReadSized(tx, ref)
	return r, err
}

// ReadSized is Read, and says how many bytes were read for it.
func (l *Repository) ReadSized(tx store.Tx, ref Ref) (*records.Run, int, error) {
	row, err := store.Look(tx, store.Runs, ref.Tenant, ref.RunID)
	if err != nil {
		return nil, 0, err
	}
	at := cache.StampOf(ref.Tenant, ref.RunID, row.Version, row.Doc)
	if r, ok := l.runs.Get(at); ok {
		return r, len(row.Doc), nil
	}
	r := new(records.Run)
	if err := records.Decode(row, r); err != nil {
		return nil, 0, err
	}
	steps, err := loadSteps(tx, ref, r.Probes)
	if err != nil {
		return nil, 0, err
	}
	r.Steps = steps.records
	size := steps.stored.size() + steps.probed
	if size <= MaxRemembered {
		l.runs.Put(at, r)
	}
	return r, len(row.Doc) + size, nil
}

// Remembered gives the run of a row with its steps if that is in memory, else nil; it must not
// be changed.
func (l *Repository) Remembered(tenant string, row store.Row) *records.Run {
	r, _ := l.runs.Get(cache.StampOf(tenant, row.ID, row.Version, row.Doc))
	return r
}

// Committed caches a run that was just committed: its watchers read it next.
func (l *Repository) Committed(h *LoadedRun) {
	if h.Size() <= MaxRemembered {
		l.runs.Put(h.stamp, &h.record)
		l.latest.committed(h)
	}
}
