package control

import (
	"sync"

	"github.com/countersign/countersign"
)

// viewers counts open event streams by principal: a token, or a user over all sessions.
// Each stream holds a connection and gets every change. The zero value is ready to use.
type viewers struct {
	mu   sync.Mutex
	open map[viewerKey]int
}

type viewerKey struct{ tenant, principal string }

// come counts one more stream, or refuses it if there are too many.
func (v *viewers) come(a Actor) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := viewerKey{a.Tenant, a.ID}
	if v.open[k] >= countersign.MaxEventStreams {
		return countersign.Errorf(countersign.CodeCapacity, "%s has %d event streams open already; close one, or read the run", a.ID, countersign.MaxEventStreams)
	}
	if v.open == nil {
		v.open = map[viewerKey]int{}
	}
	v.open[k]++
	return nil
}

// leave counts one stream less.
func (v *viewers) leave(a Actor) {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := viewerKey{a.Tenant, a.ID}
	if v.open[k]--; v.open[k] == 0 {
		delete(v.open, k)
	}
}
