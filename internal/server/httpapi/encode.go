package httpapi

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
)

// encode writes a response body as JSON. Clients that poll a run get the same steps and
// plan many times, so their encodings are cached by pointer: control returns a shared,
// immutable value, or a separate copy to a caller who must not see all of it.
func (a *API) encode(body any) ([]byte, error) {
	r, ok := body.(countersign.Run)
	if !ok || len(r.Steps) == 0 || r.PlanSnapshot == nil {
		return countersign.Marshal(body)
	}
	head, err := countersign.Marshal(runHead{Run: r})
	if err != nil {
		return nil, err
	}
	steps, err := encodeCached(a.steps, &r.Steps[0], r.Steps)
	if err != nil {
		return nil, err
	}
	snapshot, err := encodeCached(a.snapshots, r.PlanSnapshot, r.PlanSnapshot)
	if err != nil {
		return nil, err
	}
	return runOf(head, steps, snapshot), nil
}

func encodeCached[K comparable](c *cache.Cache[K, []byte], key K, value any) ([]byte, error) {
	if doc, known := c.Get(key); known {
		return doc, nil
	}
	doc, err := countersign.Marshal(value)
	if err == nil && len(doc) <= maxKept {
		c.Put(key, doc)
	}
	return doc, err
}

// written is a body that is encoded already, in pieces that are sent in order. A
// json.RawMessage would be parsed and copied again.
type written [][]byte

func (w written) size() (n int) {
	for _, piece := range w {
		n += len(piece)
	}
	return n
}

// runHead is a run without its cached fields.
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

// Cache sizes in entries, and the largest entry in bytes.
const (
	keptSnapshots = 16
	keptSteps     = 64
	maxKept       = 256 << 10
)
