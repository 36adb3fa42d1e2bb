package control

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/live"
	"github.com/countersign/countersign/internal/store"
)

// Watched is a run that is being followed: its present state, and its changes as
// they are committed. Close Changes when done.
type Watched struct {
	Now     countersign.Run
	Changes *live.Watcher
}

// Watch follows a run. The watch begins before the state is read, so nothing
// falls between the two.
func (s *Service) Watch(ctx context.Context, a Actor, id string) (Watched, error) {
	w := Watched{Changes: s.live.Watch(a.Tenant, id)}
	err := s.view(ctx, a, access.ReadRuns, func(tx store.Tx) (err error) {
		if w.Now, err = s.runWithSteps(tx, a, id); err != nil {
			return err
		}
		return s.maskFor(tx, a, &w.Now)
	})
	if err != nil {
		w.Changes.Close()
		return w, err
	}
	w.Changes.Seen(w.Now.Revision)
	return w, nil
}

// Masked is a changed run as this actor may see it.
func (s *Service) Masked(ctx context.Context, a Actor, r *countersign.Run) (countersign.Run, error) {
	out := *r
	if !masks(a) {
		return out, nil
	}
	err := s.view(ctx, a, access.ReadRuns, func(tx store.Tx) error { return s.maskFor(tx, a, &out) })
	return out, err
}

// Masks reports an actor to whom sensitive fields are masked. All such actors see
// the same of a run, and so do all others.
func Masks(a Actor) bool { return masks(a) }
