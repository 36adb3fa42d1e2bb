package runs

import (
	"context"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/store"
)

// Watched is a run that a client follows: its present state, and its changes as they are
// committed. Close it when done.
type Watched struct {
	Now     countersign.Run
	Changes *updates.Watcher

	leave func()
}

// Close ends the watch.
func (w Watched) Close() {
	w.Changes.Close()
	w.leave()
}

// Watch follows a run. It subscribes before it reads the state, so no change is missed. It
// refuses a principal that has MaxEventStreams open.
func (s *RunService) Watch(ctx context.Context, a core.Actor, id string) (Watched, error) {
	if err := s.streams.acquire(a); err != nil {
		return Watched{}, err
	}
	w := Watched{Changes: s.live.Watch(a.Tenant, id), leave: func() { s.streams.release(a) }}
	err := s.View(ctx, a, access.ReadRuns, func(tx store.Tx) (err error) {
		if w.Now, err = s.runWithSteps(tx, a, id); err != nil {
			return err
		}
		if err := names.In(tx, a.Tenant).Run(&w.Now); err != nil {
			return err
		}
		return s.MaskFor(tx, a, &w.Now)
	})
	if err != nil {
		w.Close()
		return Watched{}, err
	}
	w.Changes.Seen(w.Now.Revision)
	return w, nil
}

// Masked returns a changed run as the actor may see it, and refuses if the actor may no
// longer see the run.
func (s *RunService) Masked(ctx context.Context, a core.Actor, r *countersign.Run) (countersign.Run, error) {
	out := *r
	err := s.View(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		out = *r
		if _, err := reach.Run(tx, a, r.ID); err != nil {
			return err
		}
		if err := names.In(tx, a.Tenant).Reviewers(&out); err != nil {
			return err
		}
		return s.MaskFor(tx, a, &out)
	})
	return out, err
}

// MayWatch returns nil while the actor may see a run that it follows.
func (s *RunService) MayWatch(ctx context.Context, a core.Actor, id string) error {
	return s.View(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		_, err := reach.Run(tx, a, id)
		return err
	})
}

// streamCounts counts open event streams by principal: a token, or a user over all sessions.
// Each stream holds a connection and gets every change. The zero value is ready to use.
type streamCounts struct {
	mu   sync.Mutex
	open map[streamKey]int
}

type streamKey struct{ tenant, principal string }

// acquire counts one more stream, or refuses it if there are too many.
func (s *streamCounts) acquire(a core.Actor) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := streamKey{a.Tenant, a.ID}
	if s.open[k] >= countersign.MaxEventStreams {
		return countersign.Errorf(countersign.CodeCapacity, "%s has %d event streams open already; close one, or read the run", a.ID, countersign.MaxEventStreams)
	}
	if s.open == nil {
		s.open = map[streamKey]int{}
	}
	s.open[k]++
	return nil
}

// release counts one stream less.
func (s *streamCounts) release(a core.Actor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := streamKey{a.Tenant, a.ID}
	if s.open[k]--; s.open[k] == 0 {
		delete(s.open, k)
	}
}
