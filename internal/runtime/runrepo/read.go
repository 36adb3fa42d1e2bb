package runrepo

import (
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// How many are remembered, more than are usually watched or started at a time; and
// none of them that is larger than MaxRemembered, in bytes of its documents. Plans with
// their snapshots are, so that a step needn't read a mebibyte, but for some bytes only.
const (
	rememberedBytes = 16 << 20
	rememberedRuns  = 128
	rememberedPlans = 64
	MaxRemembered   = 256 << 10
)

// Read gives a run with its steps, for a View: what an Update reads might not be
// committed. It must not be changed.
func (l *Repository) Read(tx store.Tx, ref Ref) (*records.Run, error) {
	row, err := tx.Get(store.Runs, ref.Tenant, ref.RunID)
	if err != nil {
		return nil, err
	}
	at := cache.StampOf(ref.Tenant, ref.RunID, row.Version, row.Doc)
	if r, ok := l.runs.Get(at); ok {
		return r, nil
	}
	r := new(records.Run)
	if err := records.Decode(row, r); err != nil {
		return nil, err
	}
	steps, err := loadSteps(tx, ref, r.Probes)
	if err != nil {
		return nil, err
	}
	r.Steps = steps.records
	if sum(steps.sizes)+steps.probed <= MaxRemembered {
		l.runs.Put(at, r)
	}
	return r, nil
}

// Committed remembers a run as it was committed just now: whoever follows it reads
// it next.
func (l *Repository) Committed(h *LoadedRun) {
	if h.Size() <= MaxRemembered {
		l.runs.Put(h.stamp, &h.record)
	}
}

func sum(sizes []int) (n int) {
	for _, size := range sizes {
		n += size
	}
	return n
}

// ReadPlan gives a plan without its snapshots, and the size of its document, for a
// View. It must not be changed.
func (l *Repository) ReadPlan(tx store.Tx, tenant, id string) (*records.Plan, int, error) {
	row, err := tx.Get(store.Plans, tenant, id)
	if err != nil {
		return nil, 0, err
	}
	at := cache.StampOf(tenant, id, row.Version, row.Doc)
	if p, ok := l.stored.Get(at); ok {
		return p, len(row.Doc), nil
	}
	p := new(records.Plan)
	if err := records.Decode(row, p); err != nil {
		return nil, 0, err
	}
	if len(row.Doc) <= MaxRemembered {
		l.stored.Put(at, p)
	}
	return p, len(row.Doc), nil
}
