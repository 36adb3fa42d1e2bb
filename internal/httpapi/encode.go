package httpapi

import "github.com/countersign/countersign"

// encode writes an answer as JSON. The snapshot of a run's plan is most of a run's
// answer and the same in each: it is written once and kept. control hands out one
// snapshot for all, unless somebody must not see all of it.
func (a *API) encode(body any) ([]byte, error) {
	r, ok := body.(countersign.Run)
	if !ok || r.PlanSnapshot == nil {
		return countersign.Marshal(body)
	}
	snapshot, known := a.snapshots.Get(r.PlanSnapshot)
	if !known {
		var err error
		if snapshot, err = countersign.Marshal(r.PlanSnapshot); err != nil {
			return nil, err
		}
		a.snapshots.Put(r.PlanSnapshot, snapshot)
	}
	r.PlanSnapshot = nil
	doc, err := countersign.Marshal(r)
	if err != nil {
		return nil, err
	}
	const name = `,"planSnapshot":`
	out := make([]byte, 0, len(doc)+len(name)+len(snapshot))
	out = append(append(out, doc[:len(doc)-1]...), name...)
	return append(append(out, snapshot...), '}'), nil
}

// keptSnapshots bounds the memory: a snapshot has a few kilobytes, at most some
// megabytes.
const keptSnapshots = 16
