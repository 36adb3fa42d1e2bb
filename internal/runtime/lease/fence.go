package lease

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Fence removes the records of processes whose beat has stood still for the
// length of a lease. Whoever runs the process calls it about once a second.
func (k *Keeper) Fence(ctx context.Context) error {
	var list []records.Replica
	err := k.store.View(ctx, func(tx store.Tx) (err error) {
		list, err = records.AllReplicas(tx)
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range k.still(list, time.Now()) {
		if err := k.fence(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// maxBlink is the longest between two looks that are one watch. After an outage of
// the store everybody's beat is old: the time in which nobody could raise it, or
// we could not look, is no evidence.
const maxBlink = 3 * time.Second

// maxSilence is the longest that our own beat may not have been raised: when we
// could not write, nobody else may have been able to either, though reads went on. A
// process that stands still in the middle of a commit keeps everybody from writing
// for five seconds, and must be found out all the same; and nobody who could not
// write for so long, and was about to, has been still for the length of a lease.
const maxSilence = Length - Every - time.Second/2

// still remembers what was seen and gives the processes that stand still.
func (k *Keeper) still(list []records.Replica, now time.Time) (dead []records.Replica) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.looked) > maxBlink || now.Sub(k.raised) > maxSilence {
		clear(k.seen)
	}
	k.looked = now
	seen := map[string]sighting{}
	for _, r := range list {
		if r.ID == k.id {
			continue
		}
		s, known := k.seen[r.ID]
		if !known || s.beat != r.Beat {
			s = sighting{beat: r.Beat, at: now}
		}
		seen[r.ID] = s
		if now.Sub(s.at) >= Length {
			dead = append(dead, r)
		}
	}
	k.seen = seen
	return dead
}

// stale says that we waited so long to write that the look is no evidence any more.
func (k *Keeper) stale(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return now.Sub(k.looked) > maxBlink
}

// fence removes a record unless its process has shown itself again, or somebody
// else was faster.
func (k *Keeper) fence(ctx context.Context, r records.Replica) error {
	return k.store.Update(ctx, func(tx store.Tx) error {
		if err := k.Check(tx); err != nil || k.stale(time.Now()) {
			return err
		}
		now, _, err := records.Replicas.Get(tx, store.Realm, records.ReplicaID(r.ID))
		if errors.Is(err, store.ErrNotFound) || err == nil && now.Beat != r.Beat {
			return nil
		}
		if err != nil {
			return err
		}
		return records.Replicas.Delete(tx, store.Realm, records.ReplicaID(r.ID))
	})
}
