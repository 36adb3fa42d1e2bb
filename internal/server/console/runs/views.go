package runs

import (
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
)

// piece is an element of a live page.
type piece struct{ ID, HTML string }

// renderedRun is the rendered pieces of a run page.
type renderedRun struct {
	revision int64
	ended    bool
	list     []piece
}

// Views caches the newest pieces of each watched run, so that a change is
// rendered once for all viewers with the same key.
type Views struct {
	mu    sync.Mutex
	views map[viewKey]*sharedView
}

// sharedView is what all viewers with one key see. It is removed with the last of them.
type sharedView struct {
	viewers int // guarded by sharedViews.mu

	mu     sync.Mutex
	newest renderedRun
}

func (s *Views) join(k viewKey) *sharedView {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[k]
	if v == nil {
		v = &sharedView{}
		if s.views == nil {
			s.views = map[viewKey]*sharedView{}
		}
		s.views[k] = v
	}
	v.viewers++
	return v
}

func (s *Views) leave(k viewKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[k]
	if v.viewers--; v.viewers == 0 {
		delete(s.views, k)
	}
}

// Watched is how many views somebody has open.
func (s *Views) Watched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.views)
}

// at returns the pieces of this revision or a newer one. The first caller renders them
// while others wait; after an error the next caller tries again.
func (v *sharedView) at(revision int64, write func() (renderedRun, error)) (renderedRun, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.newest.list != nil && v.newest.revision >= revision {
		return v.newest, nil
	}
	w, err := write()
	if err == nil {
		v.newest = w
	}
	return w, err
}

// viewKey identifies what a viewer sees: viewers with the same key get the same bytes.
type viewKey struct {
	tenant, run, step  string
	masked, cancel     bool
	again, audit       bool             // audit: may read the log, which the trail is of
	approve, reconcile countersign.Code // why the viewer may not, "" if it may
}

func keyOf(a control.Actor, r *countersign.Run, b viewerRights, step string) viewKey {
	if text.StepIndex(r, step) < 0 {
		step = ""
	}
	return viewKey{
		tenant: a.Tenant, run: r.ID, step: step, masked: b.Masked, cancel: b.Cancel, again: b.Again, audit: b.Audit,
		approve: countersign.ErrorCode(b.Approve), reconcile: countersign.ErrorCode(b.Reconcile),
	}
}

func (k viewKey) rights(maxActive int) viewerRights {
	b := viewerRights{MaxActive: maxActive, Masked: k.masked, Cancel: k.cancel, Again: k.again, Audit: k.audit}
	if k.approve != "" {
		b.Approve = countersign.Errorf(k.approve, "")
	}
	if k.reconcile != "" {
		b.Reconcile = countersign.Errorf(k.reconcile, "")
	}
	return b
}
