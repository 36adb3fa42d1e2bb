package httpapi

import "github.com/countersign/countersign"

// encode writes an answer as JSON. Whoever follows a run asks for the same steps and
// the same plan again and again: these are written once and kept, by where they are
// in memory. control hands out one value for all that must not be changed, or one of
// his own to somebody who must not see all of it.
func (a *API) encode(body any) ([]byte, error) {
	r, ok := body.(countersign.Run)
	if !ok || len(r.Steps) == 0 || r.PlanSnapshot == nil {
		return countersign.Marshal(body)
	}
	head, err := countersign.Marshal(runHead{Run: r})
	if err != nil {
		return nil, err
	}
	steps, known := a.steps.Get(&r.Steps[0])
	if !known {
		if steps, err = countersign.Marshal(r.Steps); err != nil {
			return nil, err
		}
		if len(steps) <= maxKept {
			a.steps.Put(&r.Steps[0], steps)
		}
	}
	snapshot, known := a.snapshots.Get(r.PlanSnapshot)
	if !known {
		if snapshot, err = countersign.Marshal(r.PlanSnapshot); err != nil {
			return nil, err
		}
		if len(snapshot) <= maxKept {
			a.snapshots.Put(r.PlanSnapshot, snapshot)
		}
	}
	return runOf(head, steps, snapshot), nil
}

// written is an answer that is JSON already, in pieces that are sent one after the
// other: as a json.RawMessage it would be read once more, and copied.
type written [][]byte

func (w written) size() (n int) {
	for _, piece := range w {
		n += len(piece)
	}
	return n
}

// runHead is a run without what is kept.
type runHead struct {
	countersign.Run
	Steps        *struct{} `json:"steps,omitempty"`
	PlanSnapshot *struct{} `json:"planSnapshot,omitempty"`
}

func runOf(head, steps, snapshot []byte) []byte {
	const first, second = `,"planSnapshot":`, `,"steps":`
	out := make([]byte, 0, len(head)+len(first)+len(snapshot)+len(second)+len(steps))
	out = append(append(out, head[:len(head)-1]...), first...)
	out = append(append(out, snapshot...), second...)
	return append(append(out, steps...), '}')
}

// How many are kept, which have some kilobytes each; and of how many bytes at most.
const (
	keptSnapshots = 16
	keptSteps     = 64
	maxKept       = 256 << 10
)
