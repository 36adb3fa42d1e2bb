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

// maxBlink is the longest pause between two looks. After a longer one, what was seen
// before proves nothing: during an outage of the store no process could raise its beat,
// and we could not look.
const maxBlink = 3 * time.Second

// maxSilence: if we couldn't write for this long (7.5 s), judge nobody, since the others
// may not have been able to write either, although reads went on. It is longer than the
// five seconds for which a process that stands still amid a commit blocks all writers,
// so that such a process is still found; and it is so short that a process which could not
// write for as long, and was about to, has not stood still for the length of a lease.
const maxSilence = Length - Every - time.Second/2

// still records the beats that were seen and returns the processes whose beat did not
// change for the length of a lease.
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
