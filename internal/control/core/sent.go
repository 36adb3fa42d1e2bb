package core

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

const (
	keepTries = 20
	keepPause = 500 * time.Millisecond
)

// KeepSent commits what came of a request that has left.
func (s *Core) KeepSent(ctx context.Context, fn func(tx store.Tx) error) (err error) {
	for range keepTries {
		if err = s.Store.Update(store.Urgent(ctx), fn); err == nil || runrepo.Unreadable(err) {
			return err
		}
		select {
		case <-s.Store.Failed():
			return err
		case <-s.Config.Life.Done():
			return err
		case <-time.After(keepPause):
		}
	}
	return err
}
