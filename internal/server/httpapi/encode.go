package httpapi

import (
	"io"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
)

// encode writes a response body as JSON. Clients that poll a run get the same steps and
// plan many times, so their encodings are cached by pointer: control returns a shared,
// immutable value, or a separate copy to a caller who must not see all of it.
func (a *API) encode(body any) (written, error) {
	if pieces, ok := body.(written); ok {
		return pieces, nil
	}
	r, ok := body.(countersign.Run)
	if !ok || len(r.Steps) == 0 || r.PlanSnapshot == nil {
		doc, err := countersign.Marshal(body)
		return written{doc}, err
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
	return written{head[:len(head)-1], []byte(`,"planSnapshot":`), snapshot, []byte(`,"steps":`), steps, []byte{'}'}}, nil
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

// joined are buffers for bodies of several pieces, each of at most maxJoined bytes: sent
// one by one, pieces cost a system call each.
var joined = sync.Pool{New: func() any { return new([]byte) }}

const maxJoined = 64 << 10

func (w written) writeTo(to io.Writer) error {
	if len(w) > 1 && w.size() <= maxJoined {
		buffer := joined.Get().(*[]byte)
		defer joined.Put(buffer)
		*buffer = (*buffer)[:0]
		for _, piece := range w {
			*buffer = append(*buffer, piece...)
		}
		w = written{*buffer}
	}
	for _, piece := range w {
		if _, err := to.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// runHead is a run without its cached fields.
type runHead struct {
	countersign.Run
	Steps        *struct{} `json:"steps,omitempty"`
	PlanSnapshot *struct{} `json:"planSnapshot,omitempty"`
}

// Cache sizes in entries, and the largest entry in bytes.
const (
	keptSnapshots = 16
	keptSteps     = 64
	maxKept       = 256 << 10
)
