package console

import "sync"

// piece is a part of a live page: an element with an id.
type piece struct{ ID, HTML string }

// written is a run's page in pieces.
type written struct {
	revision int64
	ended    bool
	list     []piece
}

// sharedViews keep the newest pieces of the runs that are being watched, so that
// a change is written once for all who see the same, however many they are.
type sharedViews struct {
	mu    sync.Mutex
	views map[viewKey]*sharedView
}

// sharedView is what all viewers with one key see. It goes with the last of them.
type sharedView struct {
	viewers int // guarded by sharedViews.mu

	mu     sync.Mutex
	newest written
}

func (s *sharedViews) join(k viewKey) *sharedView {
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

func (s *sharedViews) leave(k viewKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[k]
	if v.viewers--; v.viewers == 0 {
		delete(s.views, k)
	}
}

// at gives the pieces of a revision or a newer one. Who comes first writes them;
// the others wait for it. What one couldn't write the next tries again.
func (v *sharedView) at(revision int64, write func() (written, error)) (written, error) {
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
